extension Scene {
  /// Brings the scene nearer to the user, or takes it away: whoever makes the windows calls this as they come to the front, lose the
  /// user's attention, or are hidden.
  ///
  /// The delegate hears of each step between, in the order that Apple's platforms have, and the service of where it ended.
  ///
  /// ```swift
  /// func windowWasHidden(_ scene: Scene) async { await scene.enter(.background) }
  /// ```
  ///
  /// - Parameter state: Any but ``ActivationState/unattached``: see ``release()`` for that.
  public func enter(_ state: ActivationState) {
    precondition(state != .unattached, "a scene is released, and enters no state then")
    if isConnecting {
      wantedState = state
      return
    }
    guard activationState != .unattached, state != activationState else { return }
    step(to: state)
    changed(.state)
  }

  /// One step after the other; those that are passed are told, too.
  func step(to state: ActivationState) {
    while activationState != state {
      switch activationState {
      case .unattached, .background:
        lookedAfter { $0.sceneWillEnterForeground(self) }
        activationState = .foregroundInactive
      case .foregroundInactive where state == .foregroundActive:
        activationState = .foregroundActive
        lookedAfter { $0.sceneDidBecomeActive(self) }
      case .foregroundActive:
        lookedAfter { $0.sceneWillResignActive(self) }
        activationState = .foregroundInactive
      case .foregroundInactive:
        activationState = .background
        lookedAfter { $0.sceneDidEnterBackground(self) }
        stateRestorationActivity = lookedAfter { $0.stateRestorationActivity(for: self) }
        changed(.stateRestorationActivity)
      }
    }
  }

  /// The end of the scene, whatever becomes of its session.
  func end(_ animation: DismissalAnimation) {
    guard activationState != .unattached else { return }
    dismissalAnimation = animation
    step(to: .background)
    activationState = .unattached
    lookedAfter { $0.sceneDidDisconnect(self) }
  }

  /// Releases the scene: its session stays, and gets a new scene when it is wanted again.
  public func release() async throws(StagedoorError) { try await application?.release(self) }
}
