import SceneModel

extension Decider {
  // MARK: 8. The candidates, and which of them want it

  /// With a key, the best session that prefers it, or else the best whose *can* was set. Without a key no predicate is evaluated, and the sender's
  /// disposition says whether any session will do.
  mutating func candidate(_ scope: Scope, _ state: State) throws(Stop) -> Verdict? {
    if request.listsCandidates { try requireAll(of: scope.application, state) }
    if key.isEmpty {
      if request.listsCandidates { listCandidates(scope, state) }
      if options.disposition == .auto { return nil }
      let slot = try first(of: scope.application, state) { $0 == scope.route.configuration }
      guard let slot else { return nil }
      return .take(slot, .withoutKey)
    }
    let best = try best(in: scope, state)
    // With the steps that the decision has left, so that explaining a decision does not change it.
    if request.listsCandidates { listCandidates(scope, state) }
    try refuseTooManySteps()
    guard let best else { return nil }
    let reason: SessionReason =
      best.slot == requesting ? .requestingSession : best.isAlone ? .onlyInTier : .firstInTier
    return .take(best.slot, reason)
  }

  // MARK: 9. The best of those

  /// The best session of the highest tier with a session: the requesting session first, then by state, by activation, by creation, and by identifier.
  mutating func best(in scope: Scope, _ state: State) throws(Stop) -> Search.Best? {
    try requireConcerned(scope, state)
    var search = search(in: scope, state, within: steps)
    defer { steps = search.key.stepsLeft }
    state.applications[scope.application].index.visit(key, hash: keyHash, of: scope.route.eligible) {
      search.consider($0, $1, $2)
      return search.key.stepsLeft >= 0
    }
    guard let best = search.best, let requesting, requesting != best.slot, search.tier(requesting) == best.tier else {
      return search.best
    }
    return Search.Best(slot: requesting, tier: best.tier, isAlone: false)
  }

  func search(in scope: Scope, _ state: State, within steps: Int) -> Search {
    var asked = AskedKey(key, steps: steps)
    if !key.isEmpty { asked.spend(state.applications[scope.application].index.cost(of: key, scope.route.eligible)) }
    return Search(
      scope: scope, key: asked, activityType: explanation.routingActivity?.activityType, entries: state.entries)
  }

  /// Refuses a decision that takes too many steps, because others wait meanwhile.
  func refuseTooManySteps() throws(Stop) {
    if steps >= 0 { return }
    let subject =
      key.isEmpty
      ? "to find who takes this takes" : "to find who takes the key \(quoted(key.string)) of \(key.count) bytes takes"
    throw .refusal(
      .limitsExceeded,
      "\(subject) more than \(Limits.conditionSteps) steps, which the items of a batch share: hand in fewer items or types at once, name an "
        + "application or a session, shorten the key, or let fewer sessions have conditions with LIKE, CONTAINS or MATCHES"
    )
  }

  /// The first of an application's sessions by step 9, of the wanted configurations.
  func first(of application: Int, _ state: State, where isWanted: (Int) -> Bool) throws(Stop) -> Int32? {
    let rankings = state.applications[application].index.ofConfiguration
    let wanted = rankings.indices.filter(isWanted)
    if let requesting, Int(state.entries[Int(requesting)].application) == application,
      wanted.contains(Int(state.entries[Int(requesting)].configuration))
    {
      return requesting
    }
    try requireAll(of: application, state)
    return wanted.compactMap { rankings[$0].places.first?.slot }
      .min { state.entries[Int($0)].rank < state.entries[Int($1)].rank }
  }
}
