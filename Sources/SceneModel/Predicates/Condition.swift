import TextPatterns

/// The meaning of a predicate.
///
/// Indirect, so that it takes one pointer: a thousand sessions may each have one, and almost all of them compare SELF with a single text.
package indirect enum Condition: Hashable, Sendable {
  /// `TRUEPREDICATE`
  case always
  /// `FALSEPREDICATE`
  case never
  case comparison(Comparison)
  /// All of at least two conditions.
  case and([Condition])
  /// One of at least two conditions.
  case or([Condition])
  case not(Condition)

  package static func comparison(
    _ relation: Comparison.Operator, _ constant: Text, _ options: Comparison.Options = []
  ) -> Condition {
    .comparison(Comparison(.text(constant, relation), options: options))
  }
}

// MARK: - Evaluating

extension Condition {
  package func evaluate(_ key: Text) -> Bool {
    var key = AskedKey(key)
    return evaluate(&key)
  }

  /// This function calls itself for each level. A parsed predicate has at most two levels for each parenthesis.
  package func evaluate(_ key: inout AskedKey) -> Bool {
    key.spend(8)
    return switch self {
    case .always: true
    case .never: false
    case .comparison(let comparison): key.fulfils(comparison)
    case .and(let parts): parts.allSatisfy { $0.evaluate(&key) }
    case .or(let parts): parts.contains { $0.evaluate(&key) }
    case .not(let part): !part.evaluate(&key)
    }
  }
}

// MARK: - Printing

extension Condition: CustomStringConvertible {
  /// A text that parses to an equal condition, with as few parentheses as possible.
  package var description: String {
    switch self {
    case .always: "TRUEPREDICATE"
    case .never: "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .and(let parts): parts.map { $0.isJoined ? "(\($0))" : $0.description }.joined(separator: " AND ")
    case .or(let parts): parts.map { $0.isDisjunction ? "(\($0))" : $0.description }.joined(separator: " OR ")
    case .not(let part): part.isJoined ? "NOT (\(part))" : "NOT \(part)"
    }
  }

  private var isDisjunction: Bool { if case .or = self { true } else { false } }
  private var isJoined: Bool {
    switch self {
    case .and, .or: true
    default: false
    }
  }
}

extension Comparison: CustomStringConvertible {
  package var description: String {
    switch relation {
    case .text(let constant, let relation): "SELF \(relation.rawValue)\(options) \(constant.asConstant)"
    case .oneOf(let constants): "SELF IN\(options) {\(constants.map(\.asConstant).joined(separator: ", "))}"
    case .matches(let expression): "SELF MATCHES\(options) \(Text(expression.source).asConstant)"
    }
  }
}

extension Comparison.Options: CustomStringConvertible {
  /// The spelling after an operator; "" for no options.
  package var description: String {
    isEmpty ? "" : "[" + (contains(.ignoringCase) ? "c" : "") + (contains(.ignoringMarks) ? "d" : "") + "]"
  }
}

extension Text {
  /// In double quotes, with the escapes of predicates.
  package var asConstant: String {
    var written = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": written += "\\\""
      case "\\": written += "\\\\"
      case "\n": written += "\\n"
      case "\r": written += "\\r"
      case "\t": written += "\\t"
      case "\u{8}": written += "\\b"
      case "\u{C}": written += "\\f"
      case "\u{0}"..."\u{1F}", "\u{7F}": written += "\\u00" + hexadecimal(UInt8(ascii: scalar))
      default: written.unicodeScalars.append(scalar)
      }
    }
    return written + "\""
  }
}

/// A key that conditions are asked about, with a limit on their work. Its form without case, or without accents, is made once, when a condition first
/// needs it.
package struct AskedKey {
  package let text: Text
  /// The steps that conditions may still take. Below 0 there were too many, and later results have no meaning.
  package private(set) var stepsLeft: Int
  private var withoutCase: Text?
  private var withoutMarks: Text?
  private var withoutEither: Text?

  package init(_ text: Text, steps: Int = .max) {
    self.text = text
    stepsLeft = steps
  }

  package mutating func spend(_ steps: Int) { stepsLeft -= steps }

  mutating func fulfils(_ comparison: Comparison) -> Bool {
    if stepsLeft < 0 { return false }
    return comparison.holds(forFolded: folded(comparison.folding), steps: &stepsLeft)
  }

  private mutating func folded(_ options: Comparison.Options) -> Text {
    switch options {
    case []: text
    case .ignoringCase: kept(\.withoutCase, options)
    case .ignoringMarks: kept(\.withoutMarks, options)
    default: kept(\.withoutEither, options)
    }
  }

  private mutating func kept(_ place: WritableKeyPath<Self, Text?>, _ options: Comparison.Options) -> Text {
    if let known = self[keyPath: place] { return known }
    stepsLeft -= 16 * text.count
    let folded = text.folded(options)
    self[keyPath: place] = folded
    return folded
  }
}
