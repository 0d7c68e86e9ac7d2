/// A condition on a key, in its original spelling.
///
///     let pictures = try Predicate("SELF BEGINSWITH 'file:///' AND SELF ENDSWITH[c] '.png'")
///     pictures.evaluate("file:///home/nn/Cat.PNG")  // true
///
/// `docs/predicates.md` is the page for authors of predicates.
package struct Predicate: Hashable, Sendable {
  package let source: Text
  package let condition: Condition

  /// Reads a predicate, or throws its first fault.
  package init(_ source: Text) throws(PredicateError) {
    self.source = source
    condition = try PredicateParser.condition(of: source)
  }

  /// A condition of our own, written out. It parses again if it is within the limits of `init(_:)` for depth and length, and has no NUL in its
  /// constants.
  package init(_ condition: Condition) {
    source = Text(condition.description)
    self.condition = condition
  }

  package func evaluate(_ subject: Text) -> Bool { condition.evaluate(subject) }
}

extension Predicate: CustomStringConvertible {
  package var description: String { source.string }
}

/// The place where a text stops being a predicate, the text there, and a remedy.
package struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In Unicode scalars from 1. At the end of the text, one more than its length.
  package let column: Int
  /// A sentence without its full stop.
  package let reason: String

  package init(column: Int, reason: String) {
    self.column = column
    self.reason = reason
  }

  package var description: String { "column \(column): \(reason)" }
}
