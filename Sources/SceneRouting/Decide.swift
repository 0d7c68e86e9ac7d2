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
  var steps = Limits.conditionSteps
  var decision = decide(state, request, at: now, within: &steps)
  decision.steps = Limits.conditionSteps - steps
  return decision
}

/// - Parameter steps: how many are left for all conditions that are asked.
func decide(_ state: State, _ request: Request, at now: Instant, within steps: inout Int) -> Decision {
  var decider = Decider(request, state, now, steps)
  do throws(Refusal) {
    let verdict = try decider.decide(state)
    steps = decider.steps
    switch verdict {
    case .take(let slot, let reason): return decider.taking(slot, reason, state)
    case .make(let scope, let reason): return decider.making(scope, reason, state)
    }
  } catch {
    steps = decider.steps
    return Decision(refusing: error, decider.explanation)
  }
}

/// The steps of one decision, and what they have found so far. It is not copied: what it found ends in the decision.
struct Decider: ~Copyable {
  let request: Request
  let now: Instant
  /// The session that the user acted in; one that is gone does not count.
  let requesting: Int32?
  var explanation = Explanation()
  /// How many are left for the conditions that are asked.
  var steps: Int

  var options: PayloadOptions { _read { yield request.payload.options } }
  var role: Text { options.role ?? PayloadOptions.defaultRole }
  /// What it is about; "" for nothing.
  var key: Text { explanation.key }

  init(_ request: Request, _ state: borrowing State, _ now: Instant, _ steps: Int) {
    self.request = request
    self.now = now
    self.steps = steps
    if let named = request.payload.options.requestingSession, let identifier = SessionReference.identifier(named) {
      requesting = state.slot(of: identifier)
    } else {
      requesting = nil
    }
  }

  fileprivate mutating func decide(_ state: State) throws(Refusal) -> Verdict {
    try refuseExpired()
    if let named = options.session { return try namedSession(named, state) }
    if request.payload.items.isEmpty { return try withoutItems(state) }
    let subject = try findSubject(state)
    findKey()
    let application = try chooseApplication(for: subject, state)
    let scope = Scope(application, try chooseConfiguration(of: application, for: subject, state), state)
    if let verdict = try onlyScene(scope, state) { return verdict }
    if let verdict = try policy(scope, state) { return verdict }
    if options.disposition == .new { return try make(scope, .dispositionNew, state) }
    if let verdict = try candidate(scope, state) { return verdict }
    return try make(scope, key.isEmpty ? .withoutKeyNew : .noCandidate, state)
  }

  /// The activity that routes; `nil` where it is routed by content.
  var activity: UserActivity? {
    guard let place = explanation.routingActivity else { return nil }
    return request.payload.items[place.item].activities[place.activity]
  }

  // MARK: 0. Nothing in it has expired

  private func refuseExpired() throws(Refusal) {
    for item in request.payload.items.indices {
      for number in request.payload.items[item].activities.indices {
        guard let date = request.payload.items[item].activities[number].expirationDate, date < now else { continue }
        let type = request.payload.items[item].activities[number].activityType
        throw Refusal(
          .activityExpired,
          "the activity \(quoted(type.string)) expired at \(date.rfc3339), and it is \(now.rfc3339)")
      }
    }
  }
}

/// What a step answers that knows where the payload goes.
enum Verdict {
  /// Into a session that is there.
  case take(Int32, SessionReason)
  /// Into one that is made for it, of the configuration of step 4.
  case make(Scope, SessionReason)
}

/// What is decided after step 4: where it may go.
struct Scope {
  /// The place of the application among the state's.
  let application: Int
  /// The configuration of step 4, and those whose sessions are candidates.
  let route: Route
  /// By Apple's rule nobody asks.
  let asksWhatIsShown: Bool

  init(_ application: Int, _ route: Route, _ state: borrowing State) {
    self.application = application
    self.route = route
    asksWhatIsShown = state.applications[application].manifest?.routing != .uikit
  }
}
