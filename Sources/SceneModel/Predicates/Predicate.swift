/// A condition on a key, as somebody wrote it.
///
///     let pictures = try Predicate("SELF BEGINSWITH 'file:///' AND SELF ENDSWITH[c] '.png'")
///     pictures.evaluate("file:///home/nn/Cat.PNG")  // true
///
/// `docs/predicates.md` is the page for those who write them.
package struct Predicate: Hashable, Sendable {
  /// As it was written.
  package let source: Text
  /// What it means.
  package let condition: Condition

  /// Reads a predicate, or says where it stops being one.
  package init(_ source: Text) throws(PredicateError) {
    self.source = source
    condition = try PredicateParser.condition(of: source)
  }

  /// A condition of our own making, written out. It parses again if it nests no deeper and gets no longer than what `init(_:)`
  /// would take, and has no NUL in its constants.
  package init(_ condition: Condition) {
    source = Text(condition.description)
    self.condition = condition
  }

  package func evaluate(_ subject: Text) -> Bool { condition.evaluate(subject) }
}

extension Predicate: CustomStringConvertible {
  package var description: String { source.string }
}

/// Where a text stops being a predicate, what stands there, and what would mend it.
package struct PredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Counted in Unicode scalars from 1. One more than there are where something is missing at the end.
  package let column: Int
  /// A sentence without its full stop.
  package let reason: String

  package init(column: Int, reason: String) {
    self.column = column
    self.reason = reason
  }

  package var description: String { "column \(column): \(reason)" }
}
