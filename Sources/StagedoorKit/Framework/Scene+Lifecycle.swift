extension Scene {
  /// Changes the state of the scene. Call this when its window gets the focus, loses the focus, or is hidden. The library never assumes that a window
  /// has the focus. At most one scene of an application is active: an active scene becomes inactive as soon as another becomes active.
  ///
  /// The delegate gets a call for each step in between, in the order of Apple's platforms. The service gets the final state.
  ///
  /// ```swift
  /// @MainActor func window(of scene: Scene, hasFocus: Bool) { scene.enter(hasFocus ? .foregroundActive : .foregroundInactive) }
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
    if state == .foregroundActive {
      for other in application?.connectedScenes ?? [] where other.activationState == .foregroundActive {
        other.enter(.foregroundInactive)
      }
    }
    step(to: state)
    changed(.state)
  }

  /// Takes the steps to a state in their order, and calls the delegate for each.
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
        saveStateRestorationActivity()
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
    observers = []
    changeObservers = []
  }

  /// Asks for the activity that restores the session.
  func saveStateRestorationActivity() {
    isUnsaved = false
    var activity = lookedAfter { $0.stateRestorationActivity(for: self) }
    activity?.needsSave = false
    if activity == stateRestorationActivity { return }
    stateRestorationActivity = activity
    changed(.stateRestorationActivity)
  }

  /// Releases the scene. Its window closes at once. Its session stays, and gets a new scene when it is needed again. The library tells the service as
  /// soon as the service is there.
  public func release() { application?.release(self) }
}
