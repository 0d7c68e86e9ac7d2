import SceneModel
import SceneRouting
import Testing

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
