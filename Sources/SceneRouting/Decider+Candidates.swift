import SceneModel

extension Decider {
  // MARK: 8. The candidates, and which of them want it

  /// With a key, the best session that prefers it, else the best that was set to take it. Without one no predicate is asked: then the
  /// sender says whether any session will do.
  mutating func candidate(_ scope: Scope, _ state: State) -> Decision? {
    if request.listsCandidates { listCandidates(scope, state) }
    if scope.key.isEmpty {
      if options.disposition == .auto { return nil }
      guard let slot = first(of: scope.application, state, where: { $0 == scope.route.configuration }) else {
        return nil
      }
      return take(slot, .withoutKey, scope.activity, key: scope.key, state)
    }
    guard let best = best(in: scope, state) else { return nil }
    let reason: SessionReason =
      best.slot == requestingSession(state) ? .requestingSession : best.isAlone ? .onlyInTier : .firstInTier
    return take(best.slot, reason, scope.activity, key: scope.key, state)
  }

  /// Where a candidate stands. A veto outweighs everything; a window that nobody set conditions for takes only what it already shows.
  @inline(__always)
  func tier(_ slot: Int32, _ scope: Scope, _ state: State) -> Candidate.Tier {
    let entry = state.entries[Int(slot)]
    guard Int(entry.application) == scope.application, scope.route.eligible.contains(entry.configuration),
      !entry.flags.contains(.isUnreadable), !entry.vetoes(scope.key)
    else { return .out }
    if entry.prefers(scope.key) || shows(entry, scope, state) { return .prefers }
    return entry.can == nil ? .out : .can
  }

  /// It is already open there. Apple's rule does not ask for it.
  @inline(__always)
  private func shows(_ entry: SessionEntry, _ scope: Scope, _ state: State) -> Bool {
    guard entry.shownKey == scope.key, state.applications[scope.application].manifest?.routing != .uikit else {
      return false
    }
    return scope.activity.map { $0.activityType == entry.shownType } ?? true
  }

  // MARK: 9. The best of those

  struct Best {
    let slot: Int32
    let tier: Candidate.Tier
    /// No other session is in its tier, as far as anyone had to look.
    var isAlone: Bool
  }

  /// The highest tier that is not empty; within it the requesting session, then the one that is nearest to the user, was activated
  /// last, was made first, or comes first by identifier.
  func best(in scope: Scope, _ state: State) -> Best? {
    var best: Best?
    state.applications[scope.application].index.visit(scope.key) { interest, found in
      // Who only can take it is of no use where somebody prefers it.
      let wanted: Candidate.Tier = interest == .can ? .can : .prefers
      if wanted == .can, best?.tier == .prefers { return }
      guard let (slot, isAlone) = found.first(where: { tier($0, scope, state) == wanted }) else { return }
      guard let other = best, other.tier == wanted else {
        best = Best(slot: slot, tier: wanted, isAlone: isAlone)
        return
      }
      let isBetter = state.entries[Int(slot)].rank < state.entries[Int(other.slot)].rank
      best = Best(
        slot: isBetter ? slot : other.slot, tier: wanted, isAlone: isAlone && other.isAlone && slot == other.slot)
    }
    guard let best, let requesting = requestingSession(state), requesting != best.slot,
      tier(requesting, scope, state) == best.tier
    else { return best }
    return Best(slot: requesting, tier: best.tier, isAlone: false)
  }

  /// The first of an application's sessions by step 9, of the configurations that are asked for.
  func first(of application: Int, _ state: State, where isWanted: (Int) -> Bool) -> Int32? {
    let rankings = state.applications[application].index.ofConfiguration
    let wanted = rankings.indices.filter(isWanted)
    if let requesting = requestingSession(state), Int(state.entries[Int(requesting)].application) == application,
      wanted.contains(Int(state.entries[Int(requesting)].configuration))
    {
      return requesting
    }
    return wanted.compactMap { rankings[$0].places.first?.slot }
      .min { state.entries[Int($0)].rank < state.entries[Int($1)].rank }
  }
}
