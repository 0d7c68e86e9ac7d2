/// A regular expression: what Perl has, less what cannot be matched in time linear in the text.
///
///     let issue = try RegularExpression(#"#(?<number>\d{1,6})"#)
///     issue.match(.whole, in: "#1234", steps: &steps)  // .yes, with "1234" for `number`
///
/// It is compiled once, unless it is too long to be kept. Two expressions are equal if they are written alike.
package struct RegularExpression: Sendable {
  // One pointer, so that a predicate does not grow.
  let program: Program

  /// With `ignoringCase`, as if `(?i)` stood before the expression.
  ///
  /// - Parameter limit: The greatest ``size`` of a program that is kept. A longer one is compiled again for each text.
  package init(_ source: String, ignoringCase: Bool = false, keepingAtMost limit: Int = .max) throws(ExpressionError) {
    let whole = try ExpressionCompiler.program(of: source, ignoringCase: ignoringCase)
    program = whole.size > limit ? Program(withoutInstructions: whole) : whole
  }

  package var source: String { program.source }
  package var ignoresCase: Bool { program.ignoresCase }
  /// The length of the program, and so the most work for each character of a text.
  package var steps: Int { program.steps }
  /// The memory that the program takes, in its instructions and the ranges of its sets.
  package var size: Int { program.size }

  /// The named groups, in the order in which they open.
  package var names: [String] { program.names }

  /// The text that has to match.
  package enum Extent: Hashable, Sendable {
    case whole
    /// Some part, the leftmost.
    case part
  }

  package enum Outcome: Hashable, Sendable {
    case no
    /// The bytes of each named group, in the order of `names`; `nil` for one that took no part.
    case yes([Range<Int>?])
    /// The steps did not suffice to know it.
    case exhausted
  }

  /// Whether a text matches. `steps` are those that it may still take, and loses those that it took.
  package func match(_ extent: Extent, in text: String, steps: inout Int) -> Outcome {
    text.utf8Span.span.withUnsafeBytes { match(extent, in: $0, steps: &steps) }
  }

  /// For bytes that are valid UTF-8.
  package func match(_ extent: Extent, in text: UnsafeRawBufferPointer, steps: inout Int) -> Outcome {
    if program.filter.excludes(text, extent, steps: &steps) { return .no }
    if program.size > 0 { return Machine.run(program, extent, along: text, steps: &steps) }
    // The program is not kept. To read a character of a class takes at most as long as 128 steps, and to write an instruction as long as 8.
    steps -= 128 * source.utf8.count + 8 * program.steps
    if steps < 0 { return .exhausted }
    guard let whole = try? ExpressionCompiler.program(of: source, ignoringCase: ignoresCase) else {
      preconditionFailure("an expression is compiled as it was before")
    }
    return Machine.run(whole, extent, along: text, steps: &steps)
  }
}

extension RegularExpression: Hashable {
  package static func == (one: Self, other: Self) -> Bool {
    one.program === other.program
      || one.ignoresCase == other.ignoresCase && one.source.utf8.elementsEqual(other.source.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in source.utf8 { hasher.combine(byte) }
    hasher.combine(ignoresCase)
  }
}

/// The place where a text stops being an expression, and a remedy.
package struct ExpressionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In Unicode scalars from 1. At the end of the expression, one more than its length.
  package let column: Int
  /// A sentence without its full stop.
  package let reason: String

  package var description: String { "column \(column): \(reason)" }
}

/// The limits of an expression, which `docs/predicates.md` promises.
package enum ExpressionLimits {
  package static let bytes = 4096
  /// The greatest number in a repetition: each is a copy of what is repeated.
  package static let repetition = 1000
  /// The instructions of a program: each takes its turn at each place of the text.
  package static let steps = 10_000
  /// The size of the programs of a condition that are kept: each session may have conditions of its own.
  package static let kept = 512
  /// The levels of parentheses: the parser calls itself for each.
  package static let depth = 250
  /// The named groups: each place of a program keeps the ends of all of them.
  package static let groups = 64
}
