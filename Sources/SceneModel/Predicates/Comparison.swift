package import TextPatterns

/// One comparison of SELF with constants of the predicate.
///
/// The constants are kept folded by the comparison's options: they are folded once and not at each evaluation, and an index can use a constant as it
/// is to look up a folded key. `Predicate.source` has the original spelling.
package struct Comparison: Hashable, Sendable {
  package let relation: Relation
  package let options: Options

  package enum Relation: Hashable, Sendable {
    case text(Text, Operator)
    case oneOf([Text])
    /// The whole of SELF. The expression itself ignores case where the options say so.
    case matches(RegularExpression)
  }

  /// A relation between SELF and one constant, by their bytes, in its spelling.
  package enum Operator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    /// `*` stands for any text, `?` for one scalar, and every other character for itself.
    case like = "LIKE"

    /// `"b" < SELF` is `SELF > "b"`; `nil` for an operator that takes SELF on its left only.
    var mirrored: Operator? {
      switch self {
      case .equal, .notEqual: self
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      case .beginsWith, .endsWith, .contains, .like: nil
      }
    }
  }

  package init(_ relation: Relation, options: Options = []) {
    self.relation =
      switch relation {
      case .text(let constant, let relation): .text(constant.folded(options), relation)
      case .oneOf(let constants): .oneOf(constants.map { $0.folded(options) })
      case .matches: relation
      }
    self.options = options
  }

  /// How a key is folded before it is compared. An expression sees the key as it is: folding would turn `\D` into `\d`.
  var folding: Options { if case .matches = relation { [] } else { options } }

  /// Whether the comparison is true for a text that was folded by `folding`. Without meaning if it leaves fewer than no steps.
  func holds(forFolded subject: Text, steps: inout Int) -> Bool {
    steps -= self.steps(along: subject)
    if steps < 0 { return false }
    switch relation {
    case .text(let constant, let relation): return relation.holds(for: subject, constant)
    case .oneOf(let constants): return constants.contains(subject)
    case .matches(let expression):
      if case .yes = subject.withBytes({ expression.match(.whole, in: $0, steps: &steps) }) { return true }
      return false
    }
  }

  /// Roughly the work: the steps of a pattern along the text, or some steps for each text that is compared as a whole. An expression counts its own
  /// steps.
  private func steps(along subject: Text) -> Int {
    switch relation {
    case .text(let pattern, .contains), .text(let pattern, .like): TextPattern.steps(pattern, along: subject)
    case .text(let text, _): 16 + min(text.count, subject.count) / 4
    case .oneOf(let constants): 16 * (constants.count + 1)
    case .matches: 16
    }
  }
}

extension Comparison.Operator {
  fileprivate func holds(for subject: Text, _ constant: Text) -> Bool {
    switch self {
    case .equal: subject == constant
    case .notEqual: subject != constant
    case .less: subject < constant
    case .lessOrEqual: subject <= constant
    case .greater: subject > constant
    case .greaterOrEqual: subject >= constant
    case .beginsWith: subject.hasPrefix(constant)
    case .endsWith: subject.hasSuffix(constant)
    case .contains: TextPattern(containing: constant).matches(subject)
    case .like: TextPattern(like: constant).matches(subject)
    }
  }
}
