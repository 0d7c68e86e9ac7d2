import SceneModel
import TextPatterns

/// An accepted predicate means the same when it is printed, and when a naive reader reads it.
enum PredicateLaws {
  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    guard let source = String(validating: input, as: UTF8.self).map({ Text($0) }) else { return .unfit }
    let predicate: Predicate
    do throws(PredicateError) {
      predicate = try Predicate(source)
    } catch {
      try RefusalLaws.check(error, of: source)
      return .refused
    }
    try checkPrinting(of: predicate.condition)
    try checkEvaluation(of: predicate.condition)
    for warning in ActivationConditions(can: predicate, prefers: predicate).warnings {
      try RefusalLaws.check(PredicateError(column: warning.column ?? 1, reason: warning.message), of: source)
    }
    return .taken
  }

  private static func checkPrinting(of condition: Condition) throws(BrokenLaw) {
    let printed = Predicate(condition)
    // A folded constant may be longer than before, and so may the escapes.
    if printed.source.count > Limits.predicate { return }
    do throws(PredicateError) {
      let again = try Predicate(printed.source)
      if again != printed { throw PredicateError(column: 1, reason: "it came back as \(again.condition)") }
    } catch {
      throw BrokenLaw("\(error): \(printed)")
    }
  }

  private static func checkEvaluation(of condition: Condition) throws(BrokenLaw) {
    let isNeverTrue = condition.isNeverTrue
    for subject in subjects(for: condition) {
      let holds = condition.evaluate(subject)
      if holds, isNeverTrue, !subject.isEmpty { throw BrokenLaw("never true, and true for \(subject): \(condition)") }
      if condition.isSoonEvaluated, holds != NaivePredicate.holds(condition, for: subject) {
        throw BrokenLaw("\(holds) for \(quoted(subject.string)): \(condition)")
      }
    }
  }

  /// Texts that nearly fulfil the condition, few and short enough for a naive reader.
  private static func subjects(for condition: Condition) -> [Text] {
    var subjects: [Text] = ["", "a", "file:///home/user/Cat.PNG"]
    for constant in condition.constants.prefix(6) {
      let scalars = constant.string.unicodeScalars.prefix(24)
      let filled = scalars.map { $0 == "*" || $0 == "?" ? "a" : $0 }
      subjects += [
        Text(String(String.UnicodeScalarView(scalars))), Text(String(String.UnicodeScalarView(filled))),
        Text("a" + String(String.UnicodeScalarView(filled)) + "\u{301}"),
        Text(String(String.UnicodeScalarView(scalars.dropLast())).uppercased()),
      ]
    }
    return subjects
  }
}

extension Condition {
  /// Whether a naive reader, which tries each place for each star, is fast enough.
  fileprivate var isSoonEvaluated: Bool {
    constants.count <= 64
      && constants.allSatisfy { constant in
        constant.count <= 256 && constant.withBytes { bytes in bytes.count { $0 == UInt8(ascii: "*") } } <= 3
      }
  }
}

/// An expression finds the same in each of several ways to ask, takes no more steps than its length allows, and a refused one has a place.
///
/// The first line of an input is the expression, and the rest is the text.
enum ExpressionLaws {
  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    guard let written = String(validating: input, as: UTF8.self) else { return .unfit }
    let scalars = written.unicodeScalars
    let source = String(scalars.prefix { $0 != "\n" })
    let text = String(scalars.drop { $0 != "\n" }.dropFirst().prefix(500))
    let expression: RegularExpression
    do throws(ExpressionError) {
      expression = try RegularExpression(source)
    } catch {
      try RefusalLaws.check(PredicateError(column: error.column, reason: error.reason), of: Text(source))
      return .refused
    }
    for text in [text, String(source.unicodeScalars.prefix(100))] { try check(expression, text) }
    return .taken
  }

  private static func check(_ expression: RegularExpression, _ text: String) throws(BrokenLaw) {
    let part = try outcome(expression, .part, text)
    let whole = try outcome(expression, .whole, text)
    if whole != .no, part == .no { throw BrokenLaw("all of it matches, and no part") }
    // What an expression may be passed over for stands in a branch here, which lets nothing be passed over.
    try expect(part, expression, "(?:", ")|[^\\d\\D]", .part, text)
    try expect(whole, expression, "(?:", ")|[^\\d\\D]", .whole, text)
    try expect(part, expression, "[\\d\\D]*?(?:", ")[\\d\\D]*", .whole, text)
    try expect(whole, expression, "^(?:", ")$", .part, text)
  }

  private static func expect(
    _ expected: RegularExpression.Outcome, _ expression: RegularExpression, _ before: String, _ after: String,
    _ extent: RegularExpression.Extent, _ text: String
  ) throws(BrokenLaw) {
    // It may be too long now.
    guard let other = try? RegularExpression(before + expression.source + after) else { return }
    let found = try outcome(other, extent, text)
    if found != expected { throw BrokenLaw("\(found) for \(other.source), and \(expected) without") }
  }

  private static func outcome(
    _ expression: RegularExpression, _ extent: RegularExpression.Extent, _ text: String
  ) throws(BrokenLaw) -> RegularExpression.Outcome {
    var left = Int.max
    let outcome = expression.match(extent, in: text, steps: &left)
    let most = (text.utf8.count + 2) * (expression.steps * (3 + expression.names.count) + 8)
    if Int.max - left > most { throw BrokenLaw("\(Int.max - left) steps, more than \(most)") }
    if case .yes(let groups) = outcome {
      for case let group? in groups {
        let (start, end) = (group.lowerBound, group.upperBound)
        let isBetween =
          text.utf8.count >= end
          && [start, end].allSatisfy { offset in
            text.utf8.index(text.startIndex, offsetBy: offset).samePosition(in: text.unicodeScalars) != nil
          }
        if !isBetween { throw BrokenLaw("\(group) is no part of the text") }
      }
    }
    return outcome
  }
}
