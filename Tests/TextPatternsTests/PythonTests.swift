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

/// Makes expressions, and texts that nearly match. Both are made of few characters, so that most pieces meet.
///
/// Python must read the expressions in the same way: `(?i)` stands at the beginning of a group, and no range contains a letter whose other case is
/// outside ASCII.
struct ExpressionGenerator {
  var random: SeededRandom
  private var groups = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private static let characters = ["a", "b", "c", "A", "B", "1", "_", " ", "-", "\n", "é", "猫", "😀"]

  mutating func expression() -> String {
    groups = 0
    let start = random.once(in: 8) ? "(?i)" : ""
    return "\(start)(?<all>\(choice(3)))"
  }

  mutating func text() -> String {
    let count = random.below(4)
    // Mostly letters, since what matches anything is dull.
    return (0..<(count * count)).map { _ in
      random.once(in: 3) ? random.one(of: ExpressionGenerator.characters) : random.one(of: ["a", "b", "c"])
    }.joined()
  }

  private mutating func choice(_ depth: Int) -> String {
    let count = random.once(in: 3) ? 1 + random.below(3) : 1
    return (0..<count).map { _ in sequence(depth) }.joined(separator: "|")
  }

  private mutating func sequence(_ depth: Int) -> String {
    (0..<random.below(4)).map { _ in piece(depth) }.joined()
  }

  private mutating func piece(_ depth: Int) -> String {
    if random.once(in: 12) { return random.one(of: ["^", "$", "\\b"]) }
    return one(depth) + (random.once(in: 2) ? repetition() : "")
  }

  private mutating func repetition() -> String {
    let least = random.below(3)
    let written = random.one(of: ["*", "+", "?", "{\(least)}", "{\(least),}", "{\(least),\(least + random.below(3))}"])
    return written + (random.once(in: 3) ? "?" : "")
  }

  private mutating func one(_ depth: Int) -> String {
    if depth > 0, random.once(in: 3) {
      let inner = choice(depth - 1)
      switch random.below(4) {
      case 0: return "(\(inner))"
      case 1: return "(?:\(inner))"
      case 2: return "(?:(?i)\(inner))"
      default:
        groups += 1
        return "(?<g\(groups)>\(inner))"
      }
    }
    switch random.below(8) {
    case 0: return "."
    case 1: return random.one(of: ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S"])
    case 2: return characterClass()
    default:
      return literal(random.once(in: 3) ? random.one(of: ExpressionGenerator.characters) : random.one(of: ["a", "b"]))
    }
  }

  private mutating func characterClass() -> String {
    let members = (0...random.below(3)).map { _ in
      switch random.below(4) {
      case 0: random.one(of: ["a-b", "A-B", "0-9", "a-c", "é-猫", " --"])
      case 1: random.one(of: ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\]", "\\-", "[", "^", "$", "."])
      default: literal(random.one(of: ExpressionGenerator.characters))
      }
    }.joined()
    return (random.once(in: 3) ? "[^" : "[") + (members.hasPrefix("^") ? "\\" : "") + members + "]"
  }

  private func literal(_ character: String) -> String { character == "-" ? "\\-" : character }
}
