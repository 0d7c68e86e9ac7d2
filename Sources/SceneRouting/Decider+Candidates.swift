import SceneModel

extension Decider {
  // MARK: 8. The candidates, and which of them want it

  /// With a key, the best session that prefers it, else the best that was set to take it. Without one no predicate is asked: then the
  /// sender says whether any session will do.
  mutating func candidate(_ scope: Scope, _ state: State) throws(Stop) -> Verdict? {
    if request.listsCandidates { try listCandidates(scope, state) }
    if key.isEmpty {
      if options.disposition == .auto { return nil }
      let slot = try first(of: scope.application, state) { $0 == scope.route.configuration }
      guard let slot else { return nil }
      return .take(slot, .withoutKey)
    }
    let best = try best(in: scope, state)
    try refuseTooManySteps()
    guard let best else { return nil }
    let reason: SessionReason =
      best.slot == requesting ? .requestingSession : best.isAlone ? .onlyInTier : .firstInTier
    return .take(best.slot, reason)
  }

  // MARK: 9. The best of those

  /// The highest tier that is not empty; within it the requesting session, then the one that is nearest to the user, was activated
  /// last, was made first, or comes first by identifier.
  mutating func best(in scope: Scope, _ state: State) throws(Stop) -> Search.Best? {
    try requireConcerned(scope, state)
    var search = search(in: scope, state, within: steps)
    defer { steps = search.key.stepsLeft }
    state.applications[scope.application].index.visit(key, of: scope.route.eligible) { search.consider($0, $1, $2) }
    guard let best = search.best, let requesting, requesting != best.slot, search.tier(requesting) == best.tier else {
      return search.best
    }
    return Search.Best(slot: requesting, tier: best.tier, isAlone: false)
  }

  func search(in scope: Scope, _ state: State, within steps: Int) -> Search {
    Search(scope, AskedKey(key, steps: steps), explanation.routingActivity?.activityType, state.entries)
  }

  /// Who has so much asked makes others wait, and would have it asked again and again.
  func refuseTooManySteps() throws(Stop) {
    if steps >= 0 { return }
    throw .refusal(
      .limitsExceeded,
      "to ask every condition about the key \(quoted(key.string)) of \(key.count) bytes takes more than \(Limits.conditionSteps) steps: "
        + "shorten the key, or the conditions that have LIKE or CONTAINS, or name a session")
  }

  /// The first of an application's sessions by step 9, of the configurations that are asked for.
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
