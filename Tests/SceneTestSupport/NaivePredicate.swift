package import SceneModel
import TextPatterns

/// The meaning of a condition, written as plainly as possible, and as slowly.
package enum NaivePredicate {
  package static func holds(_ condition: Condition, for subject: Text) -> Bool {
    switch condition {
    case .always: true
    case .never: false
    case .and(let parts): !parts.map { holds($0, for: subject) }.contains(false)
    case .or(let parts): parts.map { holds($0, for: subject) }.contains(true)
    case .not(let part): !holds(part, for: subject)
    case .comparison(let comparison):
      switch comparison.relation {
      case .matches(let expression): isWhole(subject, expression)
      default: holds(comparison.relation, for: Array(subject.folded(comparison.options).string.unicodeScalars))
      }
    }
  }

  /// Compares in the order of scalars, which is that of their UTF-8.
  private static func holds(_ relation: Comparison.Relation, for subject: [Unicode.Scalar]) -> Bool {
    func scalars(_ text: Text) -> [Unicode.Scalar] { Array(text.string.unicodeScalars) }
    return switch relation {
    case .text(let text, .equal): subject == scalars(text)
    case .text(let text, .notEqual): subject != scalars(text)
    case .text(let text, .less): subject.lexicographicallyPrecedes(scalars(text))
    case .text(let text, .lessOrEqual): !scalars(text).lexicographicallyPrecedes(subject)
    case .text(let text, .greater): scalars(text).lexicographicallyPrecedes(subject)
    case .text(let text, .greaterOrEqual): !subject.lexicographicallyPrecedes(scalars(text))
    case .text(let text, .beginsWith): subject.starts(with: scalars(text))
    case .text(let text, .endsWith): subject.reversed().starts(with: scalars(text).reversed())
    case .text(let text, .contains):
      (0...subject.count).contains { subject[$0...].starts(with: scalars(text)) }
    case .text(let pattern, .like): isLike(subject[...], scalars(pattern)[...])
    case .oneOf(let texts): texts.map(scalars).contains(subject)
    case .matches: false
    }
  }

  /// Python judges the engine, in its own tests. Here matters that the key is not folded, and that all of it has to match.
  private static func isWhole(_ subject: Text, _ expression: RegularExpression) -> Bool {
    var steps = Int.max
    let outcome = try? RegularExpression("^(?:\(expression.source))$", ignoringCase: expression.ignoresCase)
      .match(.part, in: subject.string, steps: &steps)
    return if case .yes = outcome { true } else { false }
  }

  private static func isLike(_ subject: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    switch pattern.first {
    case nil: subject.isEmpty
    case "*": isLike(subject, pattern.dropFirst()) || !subject.isEmpty && isLike(subject.dropFirst(), pattern)
    case "?": !subject.isEmpty && isLike(subject.dropFirst(), pattern.dropFirst())
    case let literal: subject.first == literal && isLike(subject.dropFirst(), pattern.dropFirst())
    }
  }
}
