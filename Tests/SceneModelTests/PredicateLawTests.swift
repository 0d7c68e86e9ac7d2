import SceneModel
import SceneTestSupport
import Testing

@Suite struct PredicateLawTests {
  @Test func `what is printed parses to the same condition`() throws {
    var generator = PredicateGenerator(seed: 1)
    var checked = 0
    while checked < rounds(5_000) {
      let printed = Predicate(generator.condition(depth: generator.random.below(4)))
      if printed.source.count > Limits.predicate { continue }
      checked += 1
      let parsed = try Predicate(printed.source)
      if parsed != printed { Issue.record("\(printed.source) became \(parsed.condition)") }
    }
  }

  @Test func `however a condition is spelled, it parses to the same`() throws {
    var generator = PredicateGenerator(seed: 2)
    for _ in 0..<rounds(1_250) {
      let condition = generator.condition(depth: 3)
      let spelling = Text(generator.spelling(of: condition))
      if spelling.count > Limits.predicate { continue }
      let parsed = try Predicate(spelling)
      if parsed.condition != condition { Issue.record("\(spelling) became \(parsed.condition)") }
      #expect(parsed.source == spelling)
    }
  }

  @Test func `it evaluates to what a naive reader makes of it`() {
    var generator = PredicateGenerator(seed: 3)
    var held = 0
    for _ in 0..<8_000 {
      let condition = generator.condition(depth: generator.random.below(3))
      for _ in 0..<4 {
        let subject = generator.subject(for: condition)
        let result = condition.evaluate(subject)
        if result { held += 1 }
        if result != NaivePredicate.holds(condition, for: subject) {
          Issue.record("\(condition) is \(result) for \(quoted(subject.string))")
        }
      }
    }
    #expect(held > 8_000 && held < 24_000, "the keys should hit and miss")
  }

  @Test func `patterns match what a naive reader matches`() {
    var generator = PredicateGenerator(seed: 4)
    func made(_ pieces: [String], _ count: Int) -> Text {
      Text((0..<generator.random.below(count)).map { _ in generator.random.one(of: pieces) }.joined())
    }
    for _ in 0..<20_000 {
      let like = Condition.comparison(.like, made(["*", "?", "a", "b", "é", "😀"], 8))
      let contains = Condition.comparison(.contains, made(["a", "b", "é", "😀"], 4))
      let subject = made(["a", "b", "é", "😀"], 9)
      for condition in [like, contains]
      where condition.evaluate(subject) != NaivePredicate.holds(condition, for: subject) {
        Issue.record("\(condition) is \(condition.evaluate(subject)) for \(subject)")
      }
    }
  }

  @Test func `any text is a predicate, or is not from some column on`() throws {
    var generator = PredicateGenerator(seed: 5)
    let outcomes = try (0..<20_000).map { _ in try FuzzedParser.predicate.check(Array(generator.soup().string.utf8)) }
    let refused = outcomes.count { $0 == .refused }
    #expect(refused > 5_000 && refused < 20_000)
  }

  @Test func `a condition that is said to be never true is false for every key`() {
    var generator = PredicateGenerator(seed: 6)
    var found = 0
    let count = rounds(7_500)
    for _ in 0..<count {
      let condition = generator.condition(depth: 1 + generator.random.below(3))
      guard condition.isNeverTrue else { continue }
      found += 1
      for _ in 0..<12 {
        let subject = generator.subject(for: condition)
        if condition.evaluate(subject) { Issue.record("\(condition) is true for \(quoted(subject.string))") }
      }
      for subject in condition.constants where !subject.isEmpty && condition.evaluate(subject) {
        Issue.record("\(condition) is true for \(quoted(subject.string))")
      }
    }
    #expect(found > count / 30)
  }
}
