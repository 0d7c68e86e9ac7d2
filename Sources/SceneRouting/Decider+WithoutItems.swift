import SceneModel

extension Decider {
  // MARK: A payload without items

  /// The session of the application that was activated last comes to the front. If there is none, or with disposition `new`, the service makes one.
  mutating func withoutItems(_ state: State) throws(Stop) -> Verdict {
    guard let name = options.application else {
      throw .refusal(
        .noActivity, "there is nothing in it: add an activity or an item, or name a session or an application")
    }
    let application = try existing(name, state)
    if request.sender.isStranger(to: name) { throw .opensForeignWindow }
    if options.disposition != .new { try refuseForwarding(application, state) }
    try findRequestingSession(state)
    explanation.application = name
    explanation.applicationReason = .named
    let route = try chooseConfiguration(of: application, for: nil, state)
    let scope = Scope(application, route, state)
    if options.disposition != .new {
      if let latest = try latest(in: scope, state) { return .take(latest, .latest) }
      // There is no session of that kind. But an application with one scene gets no second session.
      if let only = try onlySession(scope, state) { return .take(only, .onlyScene) }
      return try make(scope, .noCandidate, state)
    }
    try refuseSecondScene(scope, state)
    try refuseBesideSingle(scope, state)
    return try make(scope, .dispositionNew, state)
  }

  private func latest(in scope: Scope, _ state: State) throws(Stop) -> Int32? {
    try requireAll(of: scope.application, state)
    let rankings = state.applications[scope.application].index.ofConfiguration
    let places = rankings.indices.filter { scope.route.eligible.contains(Int16($0)) }.compactMap { rankings[$0].latest }
    let latest = places.map(\.slot).min { one, other in
      let (one, other) = (state.entries[Int(one)], state.entries[Int(other)])
      return one.lastActivated != other.lastActivated
        ? one.lastActivated > other.lastActivated : one.rank < other.rank
    }
    // Step 9 begins with the session in which the user acted.
    guard let latest, let requesting else { return latest }
    let entry = state.entries[Int(requesting)]
    let isEqual =
      Int(entry.application) == scope.application && scope.route.eligible.contains(entry.configuration)
      && entry.lastActivated == state.entries[Int(latest)].lastActivated
    return isEqual ? requesting : latest
  }
}
