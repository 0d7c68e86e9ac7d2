import SceneModel

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
