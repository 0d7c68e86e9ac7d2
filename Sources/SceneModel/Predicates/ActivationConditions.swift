/// What a session's window accepts and what it would like to have. `nil` where nobody set anything.
package struct ActivationConditions: Hashable, Sendable {
  /// Whether it can show a key at all; what it says no to goes elsewhere.
  package var can: Predicate?
  /// Whether it should be the one that does.
  package var prefers: Predicate?

  package init(can: Predicate? = nil, prefers: Predicate? = nil) {
    self.can = can
    self.prefers = prefers
  }
}

/// Something that is allowed, and most likely not meant.
package struct PredicateWarning: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case placeholder
    case neverTrue
    case prefersWithoutCan
  }

  /// Which of the two it is about.
  package enum Place: String, Hashable, Sendable { case can, prefers }

  package let kind: Kind
  package let place: Place
  /// As in `PredicateError`; `nil` where it is about all of it.
  package let column: Int?
  /// A sentence without its full stop.
  package let message: String
}

extension PredicateWarning: CustomStringConvertible {
  package var description: String { "\(place)\(column.map { ", column \($0)" } ?? ""): \(message)" }
}

extension ActivationConditions {
  /// What their author should hear about: those about *can* first, then in the order of the text.
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
    // Without any comparison it was meant: FALSEPREDICATE is how a window closes itself to everything.
    if predicate.condition.hasComparison, predicate.condition.isNeverTrue {
      let message = "no key makes this true; if that is meant, write FALSEPREDICATE"
      warnings.append(PredicateWarning(kind: .neverTrue, place: place, column: nil, message: message))
    }
    return warnings
  }
}

extension PredicateLexer {
  /// The first text that has `%@` or `%K` in it, and its column: programs that build predicates replace those only where
  /// they stand without quotes.
  fileprivate static func quotedPlaceholder(in source: Text) -> (String, column: Int)? {
    guard var lexer = try? PredicateLexer(source) else { return nil }
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
  fileprivate var hasComparison: Bool {
    switch self {
    case .always, .never: false
    case .comparison: true
    case .and(let parts), .or(let parts): parts.contains(where: \.hasComparison)
    case .not(let part): part.hasComparison
    }
  }
}
