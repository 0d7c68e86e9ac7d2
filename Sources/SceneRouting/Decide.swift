package import SceneModel

// How a payload finds its session. `docs/routing.md` gives the same rules in words.
//
// The decision is a function of what the service knows at one moment: the payload and its options, the manifests, the sessions, the preferences, and
// the time. It asks nobody and changes nothing, so the same input gives the same answer, on any machine, after any restart, in whatever order
// applications were registered. `Explain` calls it, and so does a drop.
//
// The decider goes through its steps once, from top to bottom. Each step either knows the answer, or finds out one thing more and leaves the rest to
// the next step. It writes its findings into the explanation as it goes, so no reason is made up afterwards.
//
// A step that looks at sessions first requires that the state knows them. If it does not, the decider stops and answers which sessions it needs. So
// the rules are written once, for the decision and for the sessions that must be read before it.
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

/// Decides where a payload goes, or answers which sessions the state must know first. Every request ends in exactly one outcome.
package func decide(_ state: State, _ request: Request, at now: Instant) -> Answer {
  var steps = Limits.conditionSteps
  return decide(state, request, at: now, within: &steps)
}

/// Decides one of several requests that share their steps.
///
/// - Parameter steps: The steps that are left. A decision takes the steps that it needed; an answer that only needs sessions takes none.
package func decide(_ state: State, _ request: Request, at now: Instant, within steps: inout Int) -> Answer {
  var decider = Decider(request, now, steps)
  let decision: Decision
  do throws(Stop) {
    switch try decider.decide(state) {
    case .take(let slot, let reason): decision = try decider.taking(slot, reason, state)
    case .make(let scope, let reason): decision = try decider.making(scope, reason, state)
    }
  } catch {
    switch error {
    case .needs(let need): return .needs(need)
    case .refused(let refusal): decision = decider.refusing(refusal)
    }
  }
  steps -= decision.steps
  return .decided(decision)
}

/// The steps of one decision, and their findings. It is never copied; the findings end in the decision.
struct Decider: ~Copyable {
  let request: Request
  let now: Instant
  /// The session in which the user acted, if it exists. The steps before step 3 do not use it.
  private(set) var requesting: Int32?
  var explanation = Explanation()
  /// The hash of the key, if there is one, computed once for all applications.
  var keyHash: UInt64 = 0
  /// The steps that are left, for everything that the decision looks at.
  var steps: Int
  private let stepsBefore: Int
  var stepsTaken: Int { stepsBefore - steps }

  var options: PayloadOptions { _read { yield request.payload.options } }
  var role: Text { options.role ?? PayloadOptions.defaultRole }
  /// The content that the payload is about; "" for none.
  var key: Text { explanation.key }

  init(_ request: Request, _ now: Instant, _ steps: Int) {
    self.request = request
    self.now = now
    self.steps = steps
    stepsBefore = steps
  }

  fileprivate mutating func decide(_ state: State) throws(Stop) -> Verdict {
    try refuseExpired()
    // Earlier items of the batch may have taken all steps.
    try refuseTooManySteps()
    if let named = options.session { return try namedSession(named, state) }
    if request.payload.items.isEmpty { return try withoutItems(state) }
    try findRequestingSession(state)
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

  mutating func findRequestingSession(_ state: State) throws(Stop) {
    guard let named = options.requestingSession, let identifier = SessionReference.identifier(named) else { return }
    requesting = state.slot(of: identifier)
    if requesting == nil { try require(.session(identifier), state) }
  }

  func require(_ need: Need, _ state: State) throws(Stop) {
    if !state.knows(need) { throw .needs(need) }
  }

  /// Requires the sessions that may be concerned with the key: all sessions if a manifest sets conditions, or by Apple's rule.
  func requireConcerned(_ scope: Scope, _ state: State) throws(Stop) {
    let application = state.applications[scope.application].identifier
    try require(
      scope.concernsAll ? .allSessions(of: application) : .sessions(of: application, concernedWith: key), state)
  }

  func requireAll(of application: Int, _ state: State) throws(Stop) {
    try require(.allSessions(of: state.applications[application].identifier), state)
  }

  /// The activity that routes; `nil` if a content type routes.
  var activity: UserActivity? {
    guard let place = explanation.routingActivity else { return nil }
    return request.payload.items[place.item].activities[place.activity]
  }

  // MARK: 0. Nothing in it has expired

  private func refuseExpired() throws(Stop) {
    for item in request.payload.items.indices {
      for number in request.payload.items[item].activities.indices {
        guard let date = request.payload.items[item].activities[number].expirationDate, date < now else { continue }
        let type = request.payload.items[item].activities[number].activityType
        throw .refusal(
          .activityExpired,
          "the activity \(quoted(type.string)) expired at \(date.rfc3339), and it is \(now.rfc3339)")
      }
    }
  }
}

/// The answer of a step that knows where the payload goes.
enum Verdict {
  case take(Int32, SessionReason)
  /// To a new session, of the configuration of step 4.
  case make(Scope, SessionReason)
}

/// The findings of steps 3 and 4: where the payload may go.
struct Scope {
  /// The index of the application in the state.
  let application: Int
  /// The configuration of step 4, and the configurations whose sessions are candidates.
  let route: Route
  /// Whether the content that a session shows counts. By Apple's rule it does not.
  let asksWhatIsShown: Bool
  /// Whether every session of these configurations may be concerned with any key, because its configuration has conditions.
  let concernsAll: Bool

  init(_ application: Int, _ route: Route, _ state: borrowing State) {
    self.application = application
    self.route = route
    asksWhatIsShown = state.applications[application].manifest?.routing != .uikit
    concernsAll = !asksWhatIsShown || route.eligible.overlaps(state.applications[application].conditional)
  }
}
