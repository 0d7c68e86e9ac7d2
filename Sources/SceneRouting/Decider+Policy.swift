import SceneModel

extension Decider {
  // MARK: 1. A session that is named is the one

  /// Predicates are not asked, nor is the type; only a stranger's sandbox may not send what nobody declared.
  mutating func namedSession(_ named: Text, _ state: State) throws(Refusal) -> Verdict {
    guard let identifier = SessionReference.identifier(named) else {
      throw Refusal(
        .noSuchSession, "a session is named by its persistent identifier or its path, and not \(quoted(named.string))")
    }
    guard let slot = state.slot(of: identifier) else {
      throw Refusal(.noSuchSession, "there is no session \(quoted(named.string)), or it was discarded")
    }
    let number = Int(state.entries[Int(slot)].application)
    let application = state.applications[number]
    guard let manifest = application.manifest else {
      throw Refusal(.noSuchApplication, "\(application.identifier), whose session it is, has no manifest at present")
    }
    explanation.application = application.identifier
    explanation.applicationReason = .ofSession
    explanation.configuration = application.kind(state.entries[Int(slot)].kind).configuration
    explanation.configurationReason = .ofSession
    try findActivityForNamedSession(of: number, manifest, state)
    findKey()
    return .take(slot, .named)
  }

  private mutating func findActivityForNamedSession(
    of application: Int, _ manifest: Manifest, _ state: State
  ) throws(Refusal) {
    let isStranger = request.sender.isSandboxed && request.sender.hosts != manifest.identifier
    var undeclared: UserActivity?
    for (place, item) in request.payload.items.enumerated() {
      for (number, activity) in item.activities.enumerated()
      where isVisible(activity.visibility, to: application, state) {
        if isStranger, !manifest.activityTypes.contains(activity.activityType) {
          undeclared = undeclared ?? activity
          continue
        }
        explanation.routingActivity = RoutingActivity(
          item: place, activity: number, activityType: activity.activityType)
        return
      }
    }
    if let undeclared {
      throw Refusal(
        .activityTypeNotDeclared,
        "\(manifest.identifier) does not declare \(quoted(undeclared.activityType.string)), and a sandbox sends only what is "
          + "declared: add it to NSUserActivityTypes in the application's manifest")
    }
    if isStranger { try refuseUntaken(by: application, manifest, state) }
  }

  /// Without an activity one of the types in it has to be taken.
  private func refuseUntaken(by application: Int, _ manifest: Manifest, _ state: State) throws(Refusal) {
    let visible = request.payload.items.flatMap(\.representations)
      .filter { isVisible($0.visibility, to: application, state) }
    guard let first = visible.first else { return }
    let isTaken = visible.contains { representation in
      manifest.contentTypes.contains { state.types.conforms(representation.type, to: $0) }
    }
    if isTaken { return }
    throw Refusal(
      .activityTypeNotDeclared,
      "\(manifest.identifier) does not take \(quoted(first.type.spelling.string)), and a sandbox sends only what is declared: "
        + "add it to CFBundleDocumentTypes in the application's manifest")
  }

  // MARK: An application is named, and nothing is handed over

  /// Its session that was activated last is brought to the front; with disposition `new`, or where there is none, one is made.
  mutating func withoutItems(_ state: State) throws(Refusal) -> Verdict {
    guard let name = options.application else {
      throw Refusal(
        .noActivity, "there is nothing in it: add an activity or an item, or name a session or an application")
    }
    let application = try existing(name, state)
    explanation.application = name
    explanation.applicationReason = .named
    let route = try chooseConfiguration(of: application, for: nil, state)
    let scope = Scope(application, route, state)
    if options.disposition != .new {
      if let latest = latest(in: scope, state) { return .take(latest, .latest) }
      // None of that kind; yet where there may be one scene only, it is not made beside the one that is there.
      if let only = onlySession(scope, state) { return .take(only, .onlyScene) }
      return try make(scope, .noCandidate, state)
    }
    try refuseSecondScene(scope, state)
    try refuseBesideSingle(scope, state)
    return try make(scope, .dispositionNew, state)
  }

  private func latest(in scope: Scope, _ state: State) -> Int32? {
    let rankings = state.applications[scope.application].index.ofConfiguration
    let places = rankings.indices.filter { scope.route.eligible.contains(Int16($0)) }.compactMap { rankings[$0].latest }
    let latest = places.map(\.slot).min { one, other in
      let (one, other) = (state.entries[Int(one)], state.entries[Int(other)])
      return one.lastActivated != other.lastActivated
        ? one.lastActivated > other.lastActivated : one.rank < other.rank
    }
    // Step 9 begins with the session that the user acted in.
    guard let latest, let requesting else { return latest }
    let entry = state.entries[Int(requesting)]
    let isEqual =
      Int(entry.application) == scope.application && scope.route.eligible.contains(entry.configuration)
      && entry.lastActivated == state.entries[Int(latest)].lastActivated
    return isEqual ? requesting : latest
  }

  // MARK: 5. An application with one scene has no choice

  /// Its session gets everything, whatever the predicates say.
  func onlyScene(_ scope: Scope, _ state: State) throws(Refusal) -> Verdict? {
    if supportsMultipleScenes(scope, state) { return nil }
    guard options.disposition == .new else {
      guard let slot = onlySession(scope, state) else { return try make(scope, .noSceneYet, state) }
      return .take(slot, .onlyScene)
    }
    try refuseSecondScene(scope, state)
    return try make(scope, .dispositionNew, state)
  }

  private func supportsMultipleScenes(_ scope: Scope, _ state: State) -> Bool {
    state.applications[scope.application].manifest?.supportsMultipleScenes ?? false
  }

  /// The session of an application that has one scene, whatever its role: there is one in all, not one for each. A manifest that
  /// allowed several may have left more.
  private func onlySession(_ scope: Scope, _ state: State) -> Int32? {
    supportsMultipleScenes(scope, state) ? nil : first(of: scope.application, state) { _ in true }
  }

  private func refuseSecondScene(_ scope: Scope, _ state: State) throws(Refusal) {
    if onlySession(scope, state) == nil { return }
    throw Refusal(
      .multipleScenesNotSupported,
      "\(state.applications[scope.application].identifier) has its one scene: UIApplicationSupportsMultipleScenes is not true, "
        + "so that the disposition \"new\" makes no other")
  }

  // MARK: 6. Nor has a configuration with a policy

  /// Which beats what the sender wishes.
  func policy(_ scope: Scope, _ state: State) throws(Refusal) -> Verdict? {
    switch launch(scope, state) {
    case .automatic: return nil
    case .new: return try make(scope, .policyNew, state)
    case .single:
      try refuseBesideSingle(scope, state)
      guard let slot = first(of: scope.application, state, where: { $0 == scope.route.configuration }) else {
        return try make(scope, .policySingleNoneYet, state)
      }
      return .take(slot, .policySingle)
    }
  }

  private func launch(_ scope: Scope, _ state: State) -> SceneConfiguration.Launch {
    state.applications[scope.application].manifest?.configurations[scope.route.configuration].launch ?? .automatic
  }

  private func refuseBesideSingle(_ scope: Scope, _ state: State) throws(Refusal) {
    guard options.disposition == .new, launch(scope, state) == .single,
      first(of: scope.application, state, where: { $0 == scope.route.configuration }) != nil
    else { return }
    throw Refusal(
      .requestDenied,
      "the configuration \(quoted(configuration(scope, state).name.string)) of \(state.applications[scope.application].identifier) has its one "
        + "session: StagedoorLaunch is \"single\", so that the disposition \"new\" makes no other")
  }
}
