extension Scene {
  /// Changes the state of the scene. Call this when its window gets the focus, loses the focus, or is hidden. The library never assumes that a window
  /// has the focus. At most one scene of an application is active: an active scene becomes inactive as soon as another becomes active.
  ///
  /// The delegate gets a call for each step in between, in the order of Apple's platforms. The service gets the final state. A delegate may call this
  /// too: the newest call counts.
  ///
  /// ```swift
  /// @MainActor func window(of scene: Scene, hasFocus: Bool) { scene.enter(hasFocus ? .foregroundActive : .foregroundInactive) }
  /// ```
  ///
  /// - Parameter state: Any state but ``ActivationState/unattached``; use ``release()`` for that.
  public func enter(_ state: ActivationState) {
    switch state {
    case .foregroundActive: pursue(.active)
    case .foregroundInactive: pursue(.inactive)
    case .background: pursue(.background)
    case .unattached: preconditionFailure("a scene is released, and enters no state then")
    }
  }

  /// Releases the scene. Its window closes at once. Its session stays, and gets a new scene when it is needed again. The library tells the service as
  /// soon as the service runs.
  public func release() { application?.release(self) }

  /// Ends the scene, whether its session stays or not.
  func end(_ animation: DismissalAnimation) {
    if life.isEnding { return }
    if life.phase != .connecting { save() }
    if life.isEnding { return }
    dismissalAnimation = animation
    pursue(.ended)
  }

  /// The delegate has made the window.
  func connected() {
    life.connect()
    if life.isEnding { return forgetObservers() }
    advance()
    // The service itself sets this state when it hears that the scene is connected.
    if activationState != .foregroundInactive { application?.noteChange(.state, of: self) }
  }

  /// The delegate has refused to make a window.
  func refused() {
    life.refuse()
    forgetObservers()
  }

  /// Calls the delegate for each step towards a goal. A call may lead here again: both then go on to the newest goal.
  private func pursue(_ goal: SceneLife.Goal) {
    let before = activationState
    life.want(goal)
    if life.phase == .connecting { return }
    advance()
    if activationState != before, !life.isEnding { application?.noteChange(.state, of: self) }
  }

  private func advance() {
    if life.goal == .active, life.phase != .active {
      for other in application?.connectedScenes ?? [] where other !== self && other.life.goal == .active {
        other.pursue(.inactive)
      }
    }
    while let call = life.next() { make(call) }
    // `next` may end a step without a call.
    didChange()
  }

  private func make(_ call: SceneLife.Call) {
    switch call {
    case .willEnterForeground: lookedAfter { $0.sceneWillEnterForeground(self) }
    case .didBecomeActive: lookedAfter { $0.sceneDidBecomeActive(self) }
    case .willResignActive: lookedAfter { $0.sceneWillResignActive(self) }
    case .didEnterBackground: lookedAfter { $0.sceneDidEnterBackground(self) }
    case .stateRestorationActivity: saveStateRestorationActivity()
    case .didDisconnect:
      didChange()
      lookedAfter { $0.sceneDidDisconnect(self) }
      forgetObservers()
    }
    didChange()
  }

  private func forgetObservers() {
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
}
