import SceneModel
import SceneRouting
import Testing

/// The items of a payload, each decided on its own.
@Suite struct DecideEachTests {
  private let cats = app("org.example.Cats", "view", "few", takes: ["image/*"]) {
    window("Default")
    window("Cat", "view")
    window("Few", "few", atMost: 1)
  }

  /// Counts the requested names.
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
    let decided = decideEach(&stage.state, payload, at: stage.now, newSession: names.next)
    #expect(
      decided.map(\.outcome) == [
        .created(made(1)), .activated(stage.identifier("two")), .created(made(3)), .created(made(4)),
      ])
    #expect(decided.map(\.explanation.key) == ["1", "2", "file:///a.png", ""])
    #expect(decided.map(\.explanation.configuration) == ["Cat", "Cat", "Default", "Cat"])
    #expect(decided.filter { $0.fact != nil }.count == 4)
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
    let decided = decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(
      decided.map(\.outcome) == [
        .created(made(1)), .activated(made(1)), .activated(stage.identifier("other")),
        .activated(stage.identifier("other")),
      ])
    // The last item goes there because the window shows it by then.
    #expect(
      decided.map(\.explanation.sessionReason) == [.noCandidate, .onlyInTier, .firstInTier, .onlyInTier])
  }

  @Test func `an item keeps the options`() throws {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "1"))
    let payload = batch([item(activity("view", "1")), item(activity("view", "1"))]) {
      ($0.disposition, $0.configuration, $0.isPrivate) = (.new, "Default", true)
    }
    let decided = decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(decided.map(\.outcome) == [.created(made(1)), .created(made(2))])
    for decision in decided {
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
    let decided = decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(
      decided.last?.explanation.routingActivity
        == RoutingActivity(item: 0, activity: 1, activityType: "view"))
  }

  @Test func `the sender is the sender of each`() throws {
    var stage = Stage(cats)
    let payload = batch(
      [item(activity("view", "1", visibility: .application)), item(activity("view", "2"))], .bestEffort)
    let host = decideEach(
      &stage.state, payload, from: Sender(hosts: "org.example.Cats"), at: stage.now, newSession: Names().next)
    #expect(host.map(\.outcome.name) == ["created", "created"])
    stage = Stage(cats)
    let other = decideEach(&stage.state, payload, at: stage.now, newSession: Names().next)
    #expect(other.map(\.outcome.name) == ["refused", "created"])
  }

  @Test func `one that is refused is passed by, and the others stand`() {
    var stage = Stage(cats)
    let items = [
      item(activity("view", "1")), item(activity("few", "1")), item(activity("few", "2")), item(),
      item(activity("view", "3")),
    ]
    let decided = decideEach(&stage.state, Payload(items: items), at: stage.now, newSession: Names().next)
    #expect(decided.map(\.outcome.name) == ["created", "created", "refused", "refused", "created"])
    #expect(decided.map(\.outcome.refusedBecause) == [nil, nil, .requestDenied, .noActivity, nil])
    #expect(stage.state.sessionCount == 3)
  }

  // MARK: Rejected items

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
      let fault = #expect(throws: Fault.self) { try payload.refuseWhatIsNotForEach() }
      #expect(fault?.description == message)
    }
  }
}

/// Decides each item in the state that the earlier items left, with one budget for all of them: the least that a service does.
func decideEach(
  _ state: inout State, _ payload: Payload, from sender: Sender = Sender(), at now: Instant,
  newSession: () -> UniqueIdentifier
) -> [Decision] {
  var steps = Limits.conditionSteps
  var decisions: [Decision] = []
  for single in payload.split {
    let answer = decide(state, Request(single, from: sender, newSession: newSession()), at: now, within: &steps)
    guard case .decided(let decision) = answer else { preconditionFailure("a state that knows everything needs more") }
    if let fact = decision.fact { state.apply(fact) }
    decisions.append(decision)
  }
  return decisions
}
