import SceneModel
import SceneRouting
import Testing

/// The items of a payload, each on its own.
@Suite struct DecideEachTests {
  private let cats = app("org.example.Cats", "view", "few", takes: ["image/*"]) {
    window("Default")
    window("Cat", "view")
    window("Few", "few", atMost: 1)
  }

  /// Counts what it was asked for.
  private final class Names {
    private(set) var count: UInt64 = 0
    func next() -> UniqueIdentifier {
      count += 1
      return UniqueIdentifier(high: 3, low: count)
    }
  }

  private func made(_ number: UInt64) -> UniqueIdentifier { UniqueIdentifier(high: 3, low: number) }

  private func batch(
    _ items: [Item], _ mode: PayloadOptions.Batch = .allOrNothing, _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> Payload {
    var payload = Payload(items: items)
    payload.options.batch = mode
    change(&payload.options)
    return payload
  }

  @Test func `each item is routed on its own, in payload order`() throws {
    var stage = Stage(cats)
    stage.session("two", "Cat", showing: activity("view", "2"))
    let payload = batch([
      item(activity("view", "1")), item(activity("view", "2")), item(as: file("file:///a.png")), item(activity("view")),
    ])
    let names = Names()
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: names.next)
    #expect(
      decided.decisions.map(\.outcome) == [
        .created(made(1)), .activated(stage.identifier("two")), .created(made(3)), .created(made(4)),
      ])
    #expect(decided.decisions.map(\.explanation.key) == ["1", "2", "file:///a.png", ""])
    #expect(decided.decisions.map(\.explanation.configuration) == ["Cat", "Cat", "Default", "Cat"])
    #expect(decided.decisions.filter { $0.fact != nil }.count == 4)
    #expect(decided.refusal == nil)
    #expect(stage.state.sessionCount == 4)
  }

  @Test func `each sees what those before it did`() throws {
    var stage = Stage(cats)
    stage.session("any", can: "SELF BEGINSWITH 'any'", activated: 1)
    stage.session("other", can: "SELF BEGINSWITH 'any'", activated: 2)
    let payload = batch([
      item(activity("view", "1")), item(activity("view", "1")),
      item(activity("view", "any1")), item(activity("view", "any1")),
    ])
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(
      decided.decisions.map(\.outcome) == [
        .created(made(1)), .activated(made(1)), .activated(stage.identifier("other")),
        .activated(stage.identifier("other")),
      ])
    // The last one because it shows it by then.
    #expect(
      decided.decisions.map(\.explanation.sessionReason) == [.noCandidate, .onlyInTier, .firstInTier, .onlyInTier])
  }

  @Test func `an item keeps the options`() throws {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "1"))
    let payload = batch([item(activity("view", "1")), item(activity("view", "1"))]) {
      ($0.disposition, $0.configuration, $0.isPrivate) = (.new, "Default", true)
    }
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(decided.decisions.map(\.outcome) == [.created(made(1)), .created(made(2))])
    for decision in decided.decisions {
      #expect(decision.explanation.sessionReason == .dispositionNew)
      guard case .sessionMade(let session) = decision.fact else { continue }
      #expect(session.configuration == "Default")
      #expect(session.isPrivate)
    }
  }

  @Test func `an item comes with all that is in it, as the first of its own payload`() throws {
    let payload = batch([item(activity("view", "1")), item(activity("nobody's"), activity("view", "2"))])
    #expect(payload.split.map(\.items) == payload.items.map { [$0] })
    #expect(payload.split.allSatisfy { $0.options == payload.options })
    var stage = Stage(cats)
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(
      decided.decisions.last?.explanation.routingActivity
        == RoutingActivity(item: 0, activity: 1, activityType: "view"))
  }

  @Test func `the sender is the sender of each`() throws {
    var stage = Stage(cats)
    let payload = batch(
      [item(activity("view", "1", visibility: .application)), item(activity("view", "2"))], .bestEffort)
    let host = try decideEach(
      &stage.state, payload, from: Sender(hosts: "org.example.Cats"), at: stage.now, newSession: Names().next)
    #expect(host.decisions.map(\.outcome.name) == ["created", "created"])
    stage = Stage(cats)
    let other = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(other.decisions.map(\.outcome.name) == ["refused", "created"])
  }

  // MARK: All or nothing

  /// Of the second configuration only one may be there.
  private var oneTooMany: [Item] {
    [
      item(activity("view", "1")), item(activity("few", "1")), item(activity("view", "main")),
      item(activity("few", "2")), item(activity("view", "3")),
    ]
  }

  @Test func `where one is refused all are, and nothing has happened`() throws {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "main"), can: "SELF IN {'main', 'z'}", activated: 1)
    stage.session("other", can: "SELF == 'z'", activated: 2)
    let decided = try decideEach(&stage.state, batch(oneTooMany), at: stage.now, newSession: Names().next)
    #expect(decided.decisions.map(\.outcome.refusedBecause) == Array(repeating: .requestDenied, count: 5))
    #expect(decided.decisions.allSatisfy { $0.fact == nil && $0.effects.isEmpty })
    #expect(stage.state.sessionCount == 2)
    // Nor was the main window activated, or would show something else.
    #expect(stage.drop("view", key: "z", .existingOnly) == .activated("other"))
    #expect(stage.drop("view", key: "main", .existingOnly) == .activated("main"))
    #expect(stage.drop("few", key: "1") == .created("Few"))
  }

  @Test func `the batch says which item it was, and that item says why`() throws {
    var stage = Stage(cats)
    let decided = try decideEach(&stage.state, batch(oneTooMany), at: stage.now, newSession: Names().next)
    let message = #"StagedoorMaximumSessions of the configuration "Few" of org.example.Cats is 1, and it has 1"#
    #expect(decided.refusal?.reason == .requestDenied)
    #expect(decided.refusal?.message == "items[3]: " + message)
    for (place, decision) in decided.decisions.enumerated() {
      guard case .refused(let refusal) = decision.outcome else { continue }
      #expect(refusal.message == (place == 3 ? message : "items[3]: " + message))
      #expect((decision.explanation.configuration != nil) == (place == 3))
    }
  }

  @Test func `nothing is decided after the first that is refused`() throws {
    var stage = Stage(cats)
    let names = Names()
    let decided = try decideEach(&stage.state, batch(oneTooMany), at: stage.now, newSession: names.next)
    #expect(decided.decisions.count == 5)
    #expect(names.count == 4)
  }

  // MARK: Best effort

  @Test func `with best effort one that is refused is refused alone`() throws {
    var stage = Stage(cats)
    let decided = try decideEach(&stage.state, batch(oneTooMany, .bestEffort), at: stage.now, newSession: Names().next)
    #expect(decided.decisions.map(\.outcome.name) == ["created", "created", "created", "refused", "created"])
    #expect(decided.decisions[3].fact == nil)
    #expect(decided.decisions[3].outcome.refusedBecause == .requestDenied)
    #expect(decided.refusal == nil)
    #expect(stage.state.sessionCount == 4)
  }

  @Test func `also where all of them are`() throws {
    var stage = Stage(cats)
    let payload = batch([item(activity("x")), item(), item(activity("y"))], .bestEffort)
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(
      decided.decisions.map(\.outcome.refusedBecause) == [
        .activityTypeNotDeclared, .noActivity, .activityTypeNotDeclared,
      ])
    #expect(decided.refusal == nil)
  }

  // MARK: A store that refuses

  @Test(arguments: PayloadOptions.Batch.allCases)
  func `what was decided can be undone as a whole`(mode: PayloadOptions.Batch) throws {
    var stage = Stage(cats)
    stage.session("main", can: "SELF IN {'main', 'z'}", activated: 1)
    stage.session("other", can: "SELF == 'z'", activated: 2)
    let payload = batch(
      [item(activity("view", "1")), item(activity("view", "main")), item(activity("view", "1"))], mode)
    let decided = try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(stage.state.sessionCount == 3)
    stage.state.revert(decided)
    #expect(stage.state.sessionCount == 2)
    #expect(!stage.state.contains(made(1)))
    #expect(stage.drop("view", key: "z", .existingOnly) == .activated("other"))
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
  }

  // MARK: What is not taken

  @Test func `a session, a wait until all are handled, and nothing at all are not taken`() {
    let one = [item(activity("view", "1"))]
    let payloads: [(Payload, String)] = [
      (batch(one) { $0.session = "main" }, "options.session: expected no session, as each item finds its own, got one"),
      (
        batch(one) { $0.wait = .handled },
        #"options.wait: expected "routed", as each item has a host of its own, got "handled""#
      ),
      (
        batch([]) { $0.application = "org.example.Cats" },
        "items: expected items, each of which is routed on its own, got none"
      ),
    ]
    for (payload, message) in payloads {
      var stage = Stage(cats)
      let fault = #expect(throws: Fault.self) {
        try decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
      }
      #expect(fault?.description == message)
      #expect(stage.state.sessionCount == 0)
    }
  }
}
