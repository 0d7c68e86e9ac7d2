import SceneModel
import SceneRouting
import Testing

/// What the conditions of one decision may cost.
@Suite struct SlowConditionTests {
  private let cats = app("org.example.Cats", "view") { window("Default") }

  @Test(arguments: ["rest", "prefix", "expression"])
  func `more than may be asked at once is refused, and shorter keys are not concerned`(place: String) {
    var stage = Stage(cats)
    stage.slowSessions("Default", found: place)
    #expect(stage.drop("view", key: longestKey) == .refused(.limitsExceeded))
    #expect(stage.drop("view", key: longestKey, .existingOnly) == .refused(.limitsExceeded))
    #expect(stage.drop("view", key: "a1", .existingOnly) == .refused(.noMatchingSession))
    // This decision evaluates no condition.
    #expect(stage.drop("view", key: longestKey, .new) == .created("Default"))
    #expect(stage.drop("view", key: longestKey, on: "slow 7") == .activated("slow 7"))
  }

  @Test func `an application that prefers nothing cannot be asked for ever which application is meant`() {
    var stage = Stage(cats, app("org.example.Dogs", "view") { window("Default") })
    stage.slowSessions("Default")
    #expect(stage.drop("view", key: longestKey) == .refused(.limitsExceeded))
    #expect(stage.drop("view", key: longestKey, to: "org.example.Dogs") == .created("Default"))
  }

  @Test func `the items of a batch share it`() throws {
    var stage = Stage(cats)
    for number in 0..<2 { stage.session("slow \(number)", can: slowCondition(number, found: "rest")) }
    #expect(stage.drop("view", key: longestKey, .existingOnly) == .refused(.noMatchingSession))
    var payload = Payload(items: (0..<3).map { _ in item(activity("view", longestKey)) })
    (payload.options.disposition, payload.options.batch) = (.existingOnly, .bestEffort)
    var made: UInt64 = 0
    let batch = decideEach(&stage.state, payload, at: stage.now) {
      made += 1
      return UniqueIdentifier(high: 3, low: made)
    }
    let reasons = batch.map(\.outcome.refusedBecause)
    #expect(reasons == [.noMatchingSession, .noMatchingSession, .limitsExceeded])
  }

  @Test func `an explanation of what may be decided lists no candidates where that would take too long`() {
    var stage = Stage(cats)
    stage.slowSessions("Default")
    _ = stage.play { Request(Payload(activity("view", longestKey)), newSession: $0, listsCandidates: true) }
    #expect(stage.decision?.explanation.candidates.isEmpty == true)
    #expect(stage.decision?.explanation.candidatesLeftOut == 50)
  }
}

/// The longest key.
let longestKey = Text(String(repeating: "a", count: 12_800))

/// A condition of 4 KB that is never true, different for each number.
private func slowCondition(_ number: Int, found place: String) -> Text {
  // Each key of these tests matches, as long as there are steps for it.
  if place == "expression" { return Text("NOT SELF MATCHES '((a?){1000}){4}[^b]*|\(number)b'") }
  let pattern = String(repeating: "a", count: 4_000)
  return Text("\(place == "prefix" ? "SELF BEGINSWITH 'a' AND " : "")SELF LIKE[cd] '*\(pattern)\(number)*'")
}

extension Stage {
  /// Windows with more conditions than one decision may evaluate.
  mutating func slowSessions(_ configuration: Text, found place: String = "rest") {
    for number in 0..<50 {
      session("slow \(number)", configuration, can: slowCondition(number, found: place), prefers: "FALSEPREDICATE")
    }
  }
}
