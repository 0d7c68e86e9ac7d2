/// A property of `SceneSession1` that a host writes. For the state there is a method.
enum SceneProperty: String, Sendable {
  case title = "Title"
  case userActivity = "UserActivity"
  case stateRestorationActivity = "StateRestorationActivity"
  case userInfo = "UserInfo"
  case can = "CanActivatePredicate"
  case prefers = "PrefersToActivatePredicate"
  case state = "State"
}

/// The changes that the service has not received yet: of scenes, the ends of scenes and sessions, and notifications, in their order. A change is sent
/// once, with the value of the scene at that time.
@MainActor struct UnwrittenChanges {
  enum Change {
    /// A scene that has ended is kept until its last values are sent.
    case property(SceneProperty, Scene)
    /// The scene has ended, and its session stays.
    case released(Scene)
    case destroyed(SessionIdentifier, DismissalAnimation)
    case notification(SceneNotification)
  }

  private var changes: [Change] = []

  var isEmpty: Bool { changes.isEmpty }

  /// How many changes are sent until all of a session are; `nil` stands for all sessions.
  func turns(of session: SessionIdentifier?) -> Int {
    guard let session else { return changes.count }
    return changes.lastIndex { $0.session == session }.map { $0 + 1 } ?? 0
  }

  /// The sessions whose destruction waits, and how their windows have closed.
  var destroyed: [(session: SessionIdentifier, animation: DismissalAnimation)] {
    changes.compactMap { if case .destroyed(let session, let animation) = $0 { (session, animation) } else { nil } }
  }

  /// Whether the destruction of a session waits.
  func destroys(_ session: SessionIdentifier) -> Bool {
    changes.contains { if case .destroyed(session, _) = $0 { true } else { false } }
  }

  // MARK: Adding

  mutating func add(_ property: SceneProperty, of scene: Scene) { insert(property, of: scene, at: nil) }

  /// - Parameter place: `nil` for the end.
  private mutating func insert(_ property: SceneProperty, of scene: Scene, at place: Int?) {
    // The session was destroyed while the change was being sent.
    if destroys(scene.id) { return }
    // Changes that an earlier scene of the session left do not overwrite the changes of this scene.
    changes.removeAll { $0.session == scene.id && $0.scene !== scene }
    // The state says that the values before it are complete.
    if property == .state, place == nil || !hasValue(of: scene) { remove(property, of: scene.id) }
    if changes.contains(where: { $0.isOf(property, scene.id) }) { return }
    changes.insert(.property(property, scene), at: place ?? changes.endIndex)
  }

  /// Whether a value of the scene waits before its state.
  private func hasValue(of scene: Scene) -> Bool {
    changes.first { $0.scene === scene }.map { !$0.isOf(.state, scene.id) } ?? false
  }

  /// The service supposes a state of the scene. A state that waits keeps its place, as the changes after it do.
  mutating func repeatState(of scene: Scene) {
    if !changes.contains(where: { $0.isOf(.state, scene.id) }) { add(.state, of: scene) }
  }

  mutating func release(_ scene: Scene) { changes.append(.released(scene)) }

  /// The other changes of a destroyed session are dropped.
  mutating func destroy(_ session: SessionIdentifier, _ animation: DismissalAnimation) {
    removeAll(of: session)
    changes.append(.destroyed(session, animation))
  }

  /// An equal notification that still waits is replaced.
  mutating func add(_ notification: SceneNotification) {
    changes.removeAll { $0.notification == notification }
    changes.append(.notification(notification))
    if changes.count(where: { $0.notification != nil }) > Self.maximumNotifications {
      if let oldest = changes.firstIndex(where: { $0.notification != nil }) { changes.remove(at: oldest) }
    }
  }

  /// The most notifications that wait for the service. A notification only says that shared data has changed, so the oldest may be dropped.
  private static let maximumNotifications = 1000

  /// The change could not be sent.
  mutating func putBack(_ change: Change) {
    switch change {
    case .property(let property, let scene): insert(property, of: scene, at: 0)
    // The application lists the scenes that it shows when it attaches again.
    case .released: break
    case .destroyed(let session, _):
      removeAll(of: session)
      changes.insert(change, at: 0)
    case .notification: changes.insert(change, at: 0)
    }
  }

  // MARK: Removing

  mutating func remove(_ property: SceneProperty, of session: SessionIdentifier) {
    changes.removeAll { $0.isOf(property, session) }
  }

  mutating func removeAll(of session: SessionIdentifier) { changes.removeAll { $0.session == session } }

  /// The application is about to list its scenes to the service.
  mutating func removeReleases() { changes.removeAll { if case .released = $0 { true } else { false } } }

  /// The next change. For a scene that the service does not know yet, the service takes neither a state nor a release.
  mutating func takeNext() -> Change? {
    changes.firstIndex { !$0.waitsForConnection || $0.scene?.isAcknowledged ?? false }.map { changes.remove(at: $0) }
  }
}

@MainActor extension UnwrittenChanges.Change {
  /// Whether the service accepts this change for a connected session only.
  var waitsForConnection: Bool {
    switch self {
    case .property(.state, _), .released: true
    case .property, .destroyed, .notification: false
    }
  }

  fileprivate var scene: Scene? {
    switch self {
    case .property(_, let scene), .released(let scene): scene
    case .destroyed, .notification: nil
    }
  }

  fileprivate var session: SessionIdentifier? {
    if case .destroyed(let session, _) = self { session } else { scene?.id }
  }

  fileprivate var notification: SceneNotification? {
    if case .notification(let notification) = self { notification } else { nil }
  }

  fileprivate func isOf(_ property: SceneProperty, _ session: SessionIdentifier) -> Bool {
    if case .property(property, let scene) = self { scene.id == session } else { false }
  }
}
