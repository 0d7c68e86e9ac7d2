import SceneModel

extension Decider {
  // MARK: 5. An application with one scene has no choice

  /// The application's one session gets everything, whatever its predicates say.
  func onlyScene(_ scope: Scope, _ state: State) throws(Stop) -> Verdict? {
    if supportsMultipleScenes(scope, state) { return nil }
    guard options.disposition == .new else {
      guard let slot = try onlySession(scope, state) else { return try make(scope, .noSceneYet, state) }
      return .take(slot, .onlyScene)
    }
    try refuseSecondScene(scope, state)
    return try make(scope, .dispositionNew, state)
  }

  private func supportsMultipleScenes(_ scope: Scope, _ state: State) -> Bool {
    state.applications[scope.application].manifest?.supportsMultipleScenes ?? false
  }

  /// The session of an application with one scene, whatever its role: the application has one scene in all, not one for each role. An earlier
  /// manifest that allowed several may have left more.
  func onlySession(_ scope: Scope, _ state: State) throws(Stop) -> Int32? {
    supportsMultipleScenes(scope, state) ? nil : try first(of: scope.application, state) { _ in true }
  }

  func refuseSecondScene(_ scope: Scope, _ state: State) throws(Stop) {
    if try onlySession(scope, state) == nil { return }
    throw .refusal(
      .multipleScenesNotSupported,
      "\(state.applications[scope.application].identifier) has its one scene: UIApplicationSupportsMultipleScenes is not true, "
        + "so that the disposition \"new\" makes no other")
  }

  // MARK: 6. Nor has a configuration with a policy

  /// The configuration's policy overrides the sender's wish.
  func policy(_ scope: Scope, _ state: State) throws(Stop) -> Verdict? {
    switch launch(scope, state) {
    case .automatic: return nil
    case .new: return try make(scope, .policyNew, state)
    case .single:
      try refuseBesideSingle(scope, state)
      let slot = try first(of: scope.application, state) { $0 == scope.route.configuration }
      guard let slot else { return try make(scope, .policySingleNoneYet, state) }
      return .take(slot, .policySingle)
    }
  }

  private func launch(_ scope: Scope, _ state: State) -> SceneConfiguration.Launch {
    state.applications[scope.application].manifest?.configurations[scope.route.configuration].launch ?? .automatic
  }

  func refuseBesideSingle(_ scope: Scope, _ state: State) throws(Stop) {
    guard options.disposition == .new, launch(scope, state) == .single,
      try first(of: scope.application, state, where: { $0 == scope.route.configuration }) != nil
    else { return }
    throw .refusal(
      .requestDenied,
      "the configuration \(quoted(configuration(scope, state).name.string)) of \(state.applications[scope.application].identifier) has its one "
        + "session: StagedoorLaunch is \"single\", so that the disposition \"new\" makes no other")
  }
}
