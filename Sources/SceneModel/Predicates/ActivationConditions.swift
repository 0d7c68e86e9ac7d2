import TextPatterns

/// The keys that a session's window accepts, and the keys that it prefers. `nil` if nobody has set a condition.
package struct ActivationConditions: Hashable, Sendable {
  /// Whether the window can show a key; a key for which this is false goes elsewhere.
  package var can: Predicate?
  /// Whether the window should get a key before others.
  package var prefers: Predicate?

  package init(can: Predicate? = nil, prefers: Predicate? = nil) {
    self.can = can
    self.prefers = prefers
  }
}

/// A condition that is valid, and probably not meant.
package struct PredicateWarning: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case placeholder
    case backspace
    case neverTrue
    case prefersWithoutCan
  }

  /// The condition that the warning is about.
  package enum Place: String, Hashable, Sendable { case can, prefers }

  package let kind: Kind
  package let place: Place
  /// As in `PredicateError`; `nil` if the warning is about the whole condition.
  package let column: Int?
  /// A sentence without its full stop.
  package let message: String
}

extension PredicateWarning: CustomStringConvertible {
  package var description: String { "\(place)\(column.map { ", column \($0)" } ?? ""): \(message)" }
}

extension ActivationConditions {
  /// The warnings for the author: those about *can* first, then in the order of the text.
  package var warnings: [PredicateWarning] {
    var warnings = can.map { ActivationConditions.warnings(about: $0, .can) } ?? []
    if let prefers {
      warnings += ActivationConditions.warnings(about: prefers, .prefers)
      if can == nil {
        let message = "without can, this window is offered only what it prefers or shows already; to take the rest when"
        warnings.append(
          PredicateWarning(
            kind: .prefersWithoutCan, place: .prefers, column: nil,
            message: "\(message) no other window prefers it, set can to TRUEPREDICATE"))
      }
    }
    return warnings
  }

  private static func warnings(
    about predicate: Predicate, _ place: PredicateWarning.Place
  ) -> [PredicateWarning] {
    var warnings: [PredicateWarning] = []
    if let (placeholder, column) = PredicateLexer.quotedPlaceholder(in: predicate.source) {
      let message = "\(placeholder) stands in quotes, so it is compared as it is; the text itself belongs in its place"
      warnings.append(PredicateWarning(kind: .placeholder, place: place, column: column, message: message))
    }
    if predicate.condition.compares(where: \.looksForBackspace) {
      let message = "\\b in a text is a backspace; the edge of a word is written \\\\b"
      warnings.append(PredicateWarning(kind: .backspace, place: place, column: nil, message: message))
    }
    // A condition without a comparison is meant: FALSEPREDICATE closes a window to everything.
    if predicate.condition.compares(where: { _ in true }), predicate.condition.isNeverTrue {
      let message = "no key makes this true; if that is meant, write FALSEPREDICATE"
      warnings.append(PredicateWarning(kind: .neverTrue, place: place, column: nil, message: message))
    }
    return warnings
  }
}

extension PredicateLexer {
  /// The first text that contains `%@` or `%K`, and its column: programs that build predicates replace these only outside quotes.
  fileprivate static func quotedPlaceholder(in source: Text) -> (String, column: Int)? {
    guard var lexer = try? PredicateLexer(source) else { return nil }
    lexer.readsExpression = true
    while let token = try? lexer.next(), token.kind != .end {
      guard case .constant(let constant) = token.kind else { continue }
      for placeholder in ["%@", "%K"] where TextPattern(containing: Text(placeholder)).matches(constant) {
        return (placeholder, lexer.column(at: token.range.lowerBound))
      }
    }
    return nil
  }
}

extension Condition {
  fileprivate func compares(where isMeant: (Comparison) -> Bool) -> Bool {
    switch self {
    case .always, .never: false
    case .comparison(let comparison): isMeant(comparison)
    case .and(let parts), .or(let parts): parts.contains { $0.compares(where: isMeant) }
    case .not(let part): part.compares(where: isMeant)
    }
  }
}

extension Comparison {
  fileprivate var looksForBackspace: Bool {
    if case .matches(let expression) = relation { expression.source.utf8.contains(8) } else { false }
  }
}
