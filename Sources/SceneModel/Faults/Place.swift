/// A place in a document: `items[1].activities[0].userInfo.when`.
package struct Place: Hashable, Sendable {
  private enum Step: Hashable { case key(Text), index(Int) }
  private var steps: [Step] = []

  /// The document itself.
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
