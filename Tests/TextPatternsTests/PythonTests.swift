import DBusTestSupport
import SceneTestSupport
import Testing
import TextPatterns

/// Python's engine goes back where this one follows all ways at once. Both have to find the same.
@Suite struct PythonTests {
  @Test func `Python's engine finds the same matches and groups`() async throws {
    var generator = ExpressionGenerator(seed: 33)
    var asked: [(extent: RegularExpression.Extent, expression: String, text: String)] = []
    for _ in 0..<(isStress ? 25_000 : 1_000) {
      let expression = generator.expression()
      for _ in 0..<4 { asked.append((generator.random.once(in: 2) ? .whole : .part, expression, generator.text())) }
    }
    let lines = asked.map { "\($0.extent)\t\($0.expression.hexadecimal)\t\($0.text.hexadecimal)\n" }.joined()
    let judge = Command(
      "/usr/bin/python3", "-B", "\(Page.repository)/Tests/TextPatternsTests/judge.py", input: lines)
    let answers = try await judge.output(within: .seconds(300)).split(separator: "\n")
    try #require(answers.count == asked.count)

    var matched = 0
    for (question, answer) in zip(asked, answers) {
      let outcome = try RegularExpression(question.expression).outcome(question.extent, in: question.text)
      if outcome != .no { matched += 1 }
      if outcome.written != answer {
        Issue.record("\(question) gives \(outcome.written), in Python \(answer)")
      }
    }
    #expect(matched > asked.count / 4 && matched < asked.count * 3 / 4, "the texts should hit and miss")
  }
}

extension RegularExpression {
  func outcome(_ extent: Extent, in text: String) -> Outcome {
    var steps = Int.max
    return match(extent, in: text, steps: &steps)
  }
}

extension RegularExpression.Outcome {
  fileprivate var written: String {
    switch self {
    case .no: "no"
    case .exhausted: "exhausted"
    case .yes(let groups):
      "yes " + groups.map { $0.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "x" }.joined(separator: " ")
    }
  }
}

extension String {
  fileprivate var hexadecimal: String {
    utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
