/// What is wrong with a document: the place, what was expected there, and what stands there.
package struct Fault: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// It says something that it may not say.
    case invalid
    /// It has a condition that does not parse.
    case predicate
    /// It is larger than anyone should have to read.
    case limit
  }

  package let kind: Kind
  /// A path such as `items[1].type`, or `line 3, column 7` where the document could not be taken apart; "" for all of it.
  package let place: String
  /// What was expected, and what was there instead: a sentence without its full stop.
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
}

extension Fault {
  /// The same fault, of a document that stands at `outer`.
  package func below(_ outer: Place) -> Fault {
    if place.isEmpty { return Fault(kind, at: outer, reason) }
    // A key with a space in it stands in brackets, so this is no key.
    let isLine = place.hasPrefix("line ")
    return Fault(kind, at: "\(outer)" + (isLine ? ", " : place.hasPrefix("[") ? "" : ".") + place, reason)
  }
}

extension Fault: CustomStringConvertible {
  package var description: String { place.isEmpty ? reason : "\(place): \(reason)" }
}

/// Everything that is wrong with a document, in the order in which it stands there. There is at least one.
package struct Faults: Error, Hashable, Sendable, CustomStringConvertible {
  package let all: [Fault]

  package init(_ first: Fault, _ others: [Fault] = []) { all = [first] + others }

  /// `nil` where there is none.
  package init?(_ all: [Fault]) {
    if all.isEmpty { return nil }
    self.all = all
  }

  package var description: String { all.map(\.description).joined(separator: "\n") }
}
