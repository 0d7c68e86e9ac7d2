package import SceneModel

// How a payload finds its session. `docs/routing.md` is the same in words for those who use it.
//
// The decision is a function of what is known at one moment: the payload and its options, the manifests, the sessions, the
// preferences, and the time. It asks nobody and changes nothing, so the same input gives the same answer, on any machine, after
// any restart, in whatever order things were registered. `Explain` calls it and so does a drop.
//
// It goes through its steps once, downwards. Each of them either knows the answer, or knows one thing more and leaves the rest to
// the next; what it learnt is written into the explanation as it goes, so that no reason is made up afterwards.
//
//   0  nothing in it has expired
//   1  a session that is named is the one
//   2  what it is about: the key
//   3  the application
//   4  the configuration
//   5  an application with one scene has no choice
//   6  nor has a configuration with a policy
//   7  a sender who wants a new session gets one
//   8  the candidates, and which of them want it
//   9  the best of those
//  10  and where there is none, a session is made

/// Decides where a payload goes. Every request ends in exactly one outcome, and nothing is asked for twice.
package func decide(_ state: State, _ request: Request, at now: Instant) -> Decision {
  var decider = Decider(request, now)
  do throws(Refusal) {
    let verdict = try decider.decide(state)
    decider.explanation.session = verdict.session
    decider.explanation.sessionReason = verdict.reason
    return Decision(
      outcome: verdict.outcome, facts: verdict.facts, effects: verdict.effects, explanation: decider.explanation)
  } catch {
    return Decision(outcome: .refused(error), facts: [], effects: [], explanation: decider.explanation)
  }
}

/// The steps of one decision, and what they have found so far.
struct Decider {
  let request: Request
  let now: Instant
  var explanation = Explanation()

  var options: PayloadOptions { request.payload.options }
  var role: Text { request.payload.options.role ?? PayloadOptions.defaultRole }

  init(_ request: Request, _ now: Instant) {
    self.request = request
    self.now = now
  }

  fileprivate mutating func decide(_ state: State) throws(Refusal) -> Verdict {
    try refuseExpired()
    if let named = options.session { return try namedSession(named, state) }
    if request.payload.items.isEmpty { return try withoutItems(state) }
    let subject = try findSubject(state)
    explainKey(of: subject.place)
    let application = try chooseApplication(for: subject, state)
    let route = try chooseConfiguration(of: application, for: subject.type, state)
    let scope = Scope(
      application, route, subject.place, key: explanation.key?.chosen ?? .empty, state)
    if let verdict = try onlyScene(scope, state) { return verdict }
    if let verdict = try policy(scope, state) { return verdict }
    if options.disposition == .new { return try make(scope, .dispositionNew, state) }
    if let verdict = candidate(scope, state) { return verdict }
    return try make(scope, scope.key.isEmpty ? .withoutKeyNew : .noCandidate, state)
  }

  /// The activity that routes. A step that asks for less than all of it does not take it out of the payload, since that copies it.
  func activity(_ place: RoutingActivity?) -> UserActivity? {
    place.map { request.payload.items[$0.item].activities[$0.activity] }
  }

  // MARK: 0. Nothing in it has expired

  private func refuseExpired() throws(Refusal) {
    for item in request.payload.items {
      for activity in item.activities {
        guard let date = activity.expirationDate, date < now else { continue }
        throw Refusal(
          .activityExpired,
          "the activity \(quoted(activity.activityType.string)) expired at \(date.rfc3339), and it is \(now.rfc3339)")
      }
    }
  }
}

/// What a step answers that knows where the payload goes.
struct Verdict {
  let outcome: Outcome
  let facts: [Fact]
  let effects: [Effect]
  /// The session that was there.
  let session: UniqueIdentifier?
  let reason: SessionReason
}

/// What is decided after step 4: where it may go, and what for.
struct Scope {
  /// The place of the application among the state's.
  let application: Int
  /// The configuration of step 4, and those whose sessions are candidates.
  let route: Route
  /// Where the activity that routes stands in the payload; `nil` where it is routed by content.
  let place: RoutingActivity?
  /// "" for none.
  let key: Text
  /// By Apple's rule nobody asks.
  let asksWhatIsShown: Bool

  init(_ application: Int, _ route: Route, _ place: RoutingActivity?, key: Text = .empty, _ state: State) {
    self.application = application
    self.route = route
    self.place = place
    self.key = key
    asksWhatIsShown = state.applications[application].manifest?.routing != .uikit
  }
}
