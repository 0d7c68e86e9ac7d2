extension Scene {
  /// Changes the state of the scene. Call this when its window comes to the front, loses the focus, or is hidden.
  ///
  /// The delegate gets a call for each step in between, in the order of Apple's platforms. The service gets the final state.
  ///
  /// ```swift
  /// func windowWasHidden(_ scene: Scene) async { await scene.enter(.background) }
  /// ```
  ///
  /// - Parameter state: Any state but ``ActivationState/unattached``; use ``release()`` for that.
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

  /// Takes one step after the other, and calls the delegate for each.
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

  /// Ends the scene, whether its session stays or not.
  func end(_ animation: DismissalAnimation) {
    guard activationState != .unattached else { return }
    dismissalAnimation = animation
    step(to: .background)
    activationState = .unattached
    lookedAfter { $0.sceneDidDisconnect(self) }
  }

  /// Releases the scene: its session stays, and gets a new scene when it is next needed.
  public func release() async throws(StagedoorError) { try await application?.release(self) }
}
