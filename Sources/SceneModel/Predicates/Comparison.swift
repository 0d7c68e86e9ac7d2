package import TextPatterns

/// One comparison of SELF with constants of the predicate.
///
/// The constants are kept folded by the comparison's options: they are folded once and not at each evaluation, and an index can use a constant as it
/// is to look up a folded key. `Predicate.source` has the original spelling.
package struct Comparison: Hashable, Sendable {
  package let relation: Relation
  package let options: Options

  /// The relation between SELF and the constants, by their bytes.
  package enum Relation: Hashable, Sendable {
    case equal(Text)
    case notEqual(Text)
    case less(Text)
    case lessOrEqual(Text)
    case greater(Text)
    case greaterOrEqual(Text)
    case beginsWith(Text)
    case endsWith(Text)
    case contains(Text)
    /// `*` stands for any text, `?` for one scalar, and every other character for itself.
    case like(Text)
    case oneOf([Text])
    /// The whole of SELF. The expression itself ignores case where the options say so.
    case matches(RegularExpression)
  }

  package init(_ relation: Relation, options: Options = []) {
    self.relation = relation.mapped { $0.folded(options) }
    self.options = options
  }

  /// How a key is folded before it is compared. An expression sees the key as it is: folding would turn `\D` into `\d`.
  var folding: Options { if case .matches = relation { [] } else { options } }

  /// Whether the comparison is true for a text that was folded by `folding`. Without meaning if it leaves fewer than no steps.
  func holds(forFolded subject: Text, steps: inout Int) -> Bool {
    steps -= self.steps(along: subject)
    if steps < 0 { return false }
    return switch relation {
    case .equal(let constant): subject == constant
    case .notEqual(let constant): subject != constant
    case .less(let constant): subject < constant
    case .lessOrEqual(let constant): subject <= constant
    case .greater(let constant): subject > constant
    case .greaterOrEqual(let constant): subject >= constant
    case .beginsWith(let constant): subject.hasPrefix(constant)
    case .endsWith(let constant): subject.hasSuffix(constant)
    case .contains(let constant): TextPattern(containing: constant).matches(subject)
    case .like(let pattern): TextPattern(like: pattern).matches(subject)
    case .oneOf(let constants): constants.contains(subject)
    case .matches(let expression):
      if case .yes = subject.withBytes({ expression.match(.whole, in: $0, steps: &steps) }) { true } else { false }
    }
  }
}

extension Comparison {
  /// Roughly the work: the steps of a pattern along the text, or some steps for each text that is compared as a whole. An expression counts its own
  /// steps.
  fileprivate func steps(along subject: Text) -> Int {
    switch relation {
    case .contains(let pattern), .like(let pattern): TextPattern.steps(pattern, along: subject)
    case .oneOf(let constants): 16 * (constants.count + 1)
    case .matches: 16
    case .equal(let text), .notEqual(let text), .less(let text), .lessOrEqual(let text), .greater(let text),
      .greaterOrEqual(let text), .beginsWith(let text), .endsWith(let text):
      16 + min(text.count, subject.count) / 4
    }
  }
}

extension Comparison.Relation {
  fileprivate func mapped(_ change: (Text) -> Text) -> Self {
    switch self {
    case .equal(let constant): .equal(change(constant))
    case .notEqual(let constant): .notEqual(change(constant))
    case .less(let constant): .less(change(constant))
    case .lessOrEqual(let constant): .lessOrEqual(change(constant))
    case .greater(let constant): .greater(change(constant))
    case .greaterOrEqual(let constant): .greaterOrEqual(change(constant))
    case .beginsWith(let constant): .beginsWith(change(constant))
    case .endsWith(let constant): .endsWith(change(constant))
    case .contains(let constant): .contains(change(constant))
    case .like(let pattern): .like(change(pattern))
    case .oneOf(let constants): .oneOf(constants.map(change))
    case .matches: self
    }
  }
}
