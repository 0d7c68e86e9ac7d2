extension Scene {
  /// Calls `body` whenever this application posts a notification of this name, until the scene ends.
  ///
  /// `body` runs before ``Application/post(_:userInfo:)`` returns, also while the service is away.
  public func observe(_ name: SceneNotification.Name, _ body: @escaping @MainActor (SceneNotification) -> Void) {
    observers.append((name, body))
  }

  /// Calls `body` with the new value whenever a property of this scene has changed, until the scene ends: for example for the title of a window, or
  /// for the part of a window that shows the activity.
  ///
  /// ```swift
  /// @MainActor func follow(_ scene: Scene, _ setTitle: @escaping @MainActor (String) -> Void) {
  ///   setTitle(scene.title)
  ///   scene.onChange(of: \.title, setTitle)
  /// }
  /// ```
  public func onChange<Value: Equatable>(
    of property: KeyPath<Scene, Value>, _ body: @escaping @MainActor (Value) -> Void
  ) {
    var last = self[keyPath: property]
    changeObservers.append { [weak self] in
      guard let self else { return }
      let value = self[keyPath: property]
      if value == last { return }
      last = value
      body(value)
    }
  }

  func hear(_ notification: SceneNotification) {
    // An observer may end the scene.
    for (name, body) in observers where name == notification.name && !life.isEnding {
      lookedAfter { body(notification) }
    }
  }

  func didChange() {
    for observer in changeObservers where !changeObservers.isEmpty { lookedAfter { observer() } }
  }

  /// Calls an observer of this scene as the delegate is called, with the scene as ``current``.
  private func lookedAfter(_ body: () -> Void) { lookedAfter { (_: SceneDelegate) in body() } }
}
