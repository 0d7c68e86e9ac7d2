/// A fault of a document: its place, the expected text, and the text found.
package struct Fault: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The document has an invalid value.
    case invalid
    /// The document has a condition that does not parse.
    case predicate
    /// The document is larger than the service reads.
    case limit
  }

  package let kind: Kind
  /// A path such as `items[1].type`, or `line 3, column 7` if the document could not be parsed; "" for the whole document.
  package let place: String
  /// The expected text and the text found: a sentence without its full stop.
  package let reason: String

  package init(_ kind: Kind = .invalid, at place: String, _ reason: String) {
    self.kind = kind
    self.place = place
    self.reason = reason
  }

  package init(_ kind: Kind = .invalid, at place: Place, _ reason: String) {
    self.init(kind, at: place.description, reason)
  }

  package static func expected(_ expected: String, got: String? = nil, at place: Place) -> Fault {
    Fault(at: place, "expected \(expected)" + (got.map { ", got \($0)" } ?? ""))
  }

  package static func tooLong(_ count: Int, limit: Int, at place: some CustomStringConvertible) -> Fault {
    Fault(.limit, at: place.description, "expected at most \(limit) bytes, got \(count)")
  }
}

extension Fault {
  /// The same fault in a document that stands at `outer`.
  package func below(_ outer: Place) -> Fault {
    if place.isEmpty { return Fault(kind, at: outer, reason) }
    // A key with a space stands in brackets, so this is not a key.
    let isLine = place.hasPrefix("line ")
    return Fault(kind, at: "\(outer)" + (isLine ? ", " : place.hasPrefix("[") ? "" : ".") + place, reason)
  }
}

extension Fault: CustomStringConvertible {
  package var description: String { place.isEmpty ? reason : "\(place): \(reason)" }
}

/// All faults of a document, in their order there. There is at least one.
package struct Faults: Error, Hashable, Sendable, CustomStringConvertible {
  package let all: [Fault]

  package init(_ first: Fault, _ others: [Fault] = []) { all = [first] + others }

  /// `nil` if there are none.
  package init?(_ all: [Fault]) {
    if all.isEmpty { return nil }
    self.all = all
  }

  package var description: String { all.map(\.description).joined(separator: "\n") }
}

/// A place in a document: `items[1].activities[0].userInfo.when`.
package struct Place: Hashable, Sendable {
  private enum Step: Hashable { case key(Text), index(Int) }
  private var steps: [Step] = []

  package static let document = Place()

  package func key(_ key: Text) -> Place { adding(.key(key)) }
  package func index(_ index: Int) -> Place { adding(.index(index)) }

  private func adding(_ step: Step) -> Place {
    var place = self
    place.steps.append(step)
    return place
  }
}

extension Place: CustomStringConvertible {
  package var description: String {
    var text = ""
    for step in steps {
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let key) where Place.isPlain(key): text += text.isEmpty ? key.string : ".\(key)"
      case .key(let key): text += "[\(quoted(key.string))]"
      }
    }
    return text
  }

  /// Whether the key can stand in a path unquoted: letters, digits, `_`, `-` and `$`.
  private static func isPlain(_ key: Text) -> Bool {
    !key.isEmpty && key.count <= maximumShown
      && key.withBytes { bytes in bytes.allSatisfy { MIMESyntax.isLetterOrDigit($0) || "_-$".utf8.contains($0) } }
  }
}

/// The characters of a foreign text that a message repeats: enough to tell a session's path from another, and no more than a line.
let maximumShown = 72

/// `text` in the spelling of a message: in quotes, on one line, and cut if it is long.
package func quoted(_ text: String) -> String {
  var shown = "\""
  var count = 0
  for scalar in text.unicodeScalars {
    if count == maximumShown { return shown + "…\"" }
    count += 1
    switch scalar {
    case "\"": shown += "\\\""
    case "\\": shown += "\\\\"
    case "\n": shown += "\\n"
    case "\t": shown += "\\t"
    case "\r": shown += "\\r"
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      default: shown.unicodeScalars.append(scalar)
      }
    }
  }
  return shown + "\""
}
