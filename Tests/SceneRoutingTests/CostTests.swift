import SceneModel
import SceneRouting
import Testing

@Suite struct RoutedTypeTests {
  private let pictures = app("org.example.Pictures", takes: ["image/png"])

  private func strange(_ count: Int, then last: Representation) -> [Item] {
    let all = (0..<count).map { text(Text("application/x-strange-\($0)")) } + [last]
    return stride(from: 0, to: all.count, by: Limits.perItem).map { start in
      Item(representations: Array(all[start..<min(start + Limits.perItem, all.count)]))
    }
  }

  @Test func `a payload is routed past as many types as the limit says, less one, and no further`() {
    var stage = Stage(pictures)
    let last = file("file:///a.png")
    #expect(stage.drop(items: strange(Limits.routedTypes - 1, then: last)) == .created("Default"))
    #expect(stage.drop(items: strange(Limits.routedTypes, then: last)) == .refused(.noActivity))
  }

  @Test func `the same type counts once, however often it is there`() {
    var stage = Stage(pictures)
    let items = (0..<3 * Limits.routedTypes).map { _ in item(as: text("application/x-strange")) }
    #expect(stage.drop(items: items + [item(as: file("file:///a.png"))]) == .created("Default"))
  }

  @Test func `types that the named application does not take count too`() {
    var stage = Stage(app("org.example.All", takes: ["*/*"]), pictures)
    let last = file("file:///a.png")
    let (few, many) = (strange(Limits.routedTypes - 1, then: last), strange(Limits.routedTypes, then: last))
    #expect(stage.drop(items: few, to: "org.example.Pictures") == .created("Default"))
    #expect(stage.drop(items: many, to: "org.example.Pictures") == .refused(.noActivity))
  }

  @Test func `a batch of types that nobody takes has the steps of one decision, and is refused beyond these`() throws {
    var stage = Stage(pictures)
    let items = (0..<Limits.items).map { number in
      Item(representations: (0..<Limits.perItem).map { text(Text("application/x-\(number)-\($0)")) })
    }
    var payload = Payload(items: items)
    payload.options.batch = .bestEffort
    let decisions = decideEach(&stage.state, payload, at: stage.now) { UniqueIdentifier(high: 3, low: 1) }
    #expect(decisions.first?.outcome.refusedBecause == .noActivity)
    #expect(decisions.last?.outcome.refusedBecause == .limitsExceeded)
    #expect(decisions.reduce(0) { $0 + $1.steps } < Limits.conditionSteps + 4_096)
  }

  @Test(arguments: [1, 300])
  func `a type takes no more steps beside many manifests that declare others`(manifests: Int) {
    var stage = Stage(
      (0..<manifests).map { number in
        app(Text("org.example.Other\(number)"), takes: (0..<50).map { Text("application/x-\(number)-\($0)") })
      } + [pictures])
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .created("Default"))
    #expect(stage.decision?.steps ?? .max < 8_192)
  }

  @Test func `an application that is registered anew takes what it declares now`() {
    var stage = Stage(pictures)
    stage.state.register(app("org.example.Pictures", takes: ["text/plain"]))
    #expect(stage.drop(items: [item(as: file("file:///a.png"))]) == .refused(.noActivity))
    #expect(stage.drop(items: [item(as: text("text/html"))]) == .created("Default"))
    stage.state.unregister("org.example.Pictures")
    #expect(stage.drop(items: [item(as: text("text/html"))]) == .refused(.noActivity))
  }

  @Test func `parameters lead to who asks for them`() {
    var stage = Stage(
      app("org.example.Flowed", takes: ["text/plain;format=flowed"]),
      app("org.example.Both", takes: ["text/plain;delsp=yes;format=flowed"]))
    #expect(stage.drop(items: [item(as: text("text/plain"))]) == .refused(.noActivity))
    #expect(stage.drop(items: [item(as: text("text/plain;charset=utf-8;format=flowed"))]) == .created("Default"))
    #expect(stage.application == "org.example.Flowed")
    #expect(stage.drop(items: [item(as: text("text/plain;format=flowed;delsp=yes"))], .new) == .created("Default"))
    #expect(stage.decision?.explanation.applicationReason != .onlyOne)
  }
}

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

let longestKey = Text(String(repeating: "a", count: 12_800))

/// A condition of 4 KB that is never true, different for each number.
private func slowCondition(_ number: Int, found place: String) -> Text {
  // Each key of these tests matches, as long as there are steps for it.
  if place == "expression" { return Text("NOT SELF MATCHES '(a?){1000}[^b]*|\(number)b'") }
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

/// The items of a payload, each decided on its own.
@Suite struct DecideEachTests {
  private func batch(_ items: [Item], _ change: (inout PayloadOptions) -> Void) -> Payload {
    var payload = Payload(items: items)
    change(&payload.options)
    return payload
  }

  @Test func `an item comes with all that is in it, as the first of its own payload`() throws {
    let items = [item(activity("view", "1")), item(activity("nobody's"), activity("view", "2"))]
    let payload = batch(items) { ($0.disposition, $0.configuration, $0.isPrivate) = (.new, "Default", true) }
    #expect(payload.split.map(\.items) == payload.items.map { [$0] })
    #expect(payload.split.allSatisfy { $0.options == payload.options })
    var stage = Stage(app("org.example.Cats", "view"))
    let decided = decideEach(&stage.state, payload, at: stage.now) { UniqueIdentifier(high: 3, low: 1) }
    #expect(
      decided.last?.explanation.routingActivity
        == RoutingActivity(item: 0, activity: 1, activityType: "view"))
  }

  @Test func `a session, a wait until all are handled, and nothing at all are not taken`() {
    let one = [item(activity("view", "1"))]
    func fault(_ payload: Payload) -> String? {
      #expect(throws: Fault.self) { try payload.refuseWhatIsNotForEach() }?.description
    }
    #expect(
      fault(batch(one) { $0.session = "main" })
        == "options.session: expected no session, as each item finds its own, got one")
    #expect(
      fault(batch(one) { $0.wait = .handled })
        == #"options.wait: expected "routed", as each item has a host of its own, got "handled""#)
    #expect(
      fault(batch([]) { $0.application = "org.example.Cats" })
        == "items: expected items, each of which is routed on its own, got none")
  }
}

/// Decides each item in the state that the earlier items left, with one budget for all of them: the least that a service does.
func decideEach(
  _ state: inout State, _ payload: Payload, at now: Instant, newSession: () -> UniqueIdentifier
) -> [Decision] {
  var steps = Limits.conditionSteps
  var decisions: [Decision] = []
  for single in payload.split {
    let answer = decide(state, Request(single, newSession: newSession()), at: now, within: &steps)
    guard case .decided(let decision) = answer else { preconditionFailure("a state that knows everything needs more") }
    if let fact = decision.fact { state.apply(fact) }
    decisions.append(decision)
  }
  return decisions
}
