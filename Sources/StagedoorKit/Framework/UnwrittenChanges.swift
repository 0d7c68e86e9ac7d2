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

/// The changes that the service has not received yet: of scenes, the ends of scenes and sessions, and notifications. A change is sent once, with the
/// value of the scene at that time. Sessions take turns in the order of their first change.
@MainActor struct UnwrittenChanges {
  enum Change {
    case property(SceneProperty, Scene)
    /// The scene has ended, and its session stays.
    case released(Scene)
    case destroyed(SessionIdentifier, DismissalAnimation)
    case notification(SceneNotification)
  }

  private struct Turn {
    /// A scene that has ended is kept until its last values are sent.
    var scene: Scene?
    var properties: [SceneProperty] = []
    var isReleased = false
    var destruction: DismissalAnimation?

    var isEmpty: Bool { properties.isEmpty && !isReleased && destruction == nil }
  }

  private var turns: [SessionIdentifier: Turn] = [:]
  private var order: [SessionIdentifier] = []
  /// A notification announces changes, so it waits until they are sent.
  private var notifications: [SceneNotification] = []

  var isEmpty: Bool { order.isEmpty && notifications.isEmpty }

  /// Whether the destruction of a session waits.
  func destroys(_ session: SessionIdentifier) -> Bool { turns[session]?.destruction != nil }

  // MARK: Adding

  mutating func add(_ property: SceneProperty, of scene: Scene) {
    change(scene.id) { turn in
      // The session was destroyed while the change was being sent.
      if turn.destruction != nil { return }
      // Changes that an earlier scene of the session left do not overwrite the changes of this scene.
      if turn.scene !== scene { turn = Turn(scene: scene) }
      // The state says that the values before it are complete.
      if property == .state { turn.properties.removeAll { $0 == property } }
      if !turn.properties.contains(property) { turn.properties.append(property) }
    }
  }

  mutating func release(_ scene: Scene) {
    change(scene.id) { turn in
      turn.scene = scene
      turn.isReleased = true
    }
  }

  /// The other changes of a destroyed session are dropped.
  mutating func destroy(_ session: SessionIdentifier, _ animation: DismissalAnimation) {
    change(session) { $0 = Turn(destruction: animation) }
  }

  /// An equal notification that still waits is replaced.
  mutating func add(_ notification: SceneNotification) {
    if let index = notifications.firstIndex(of: notification) { notifications.remove(at: index) }
    notifications.append(notification)
    if notifications.count > Self.maximumNotifications { notifications.removeFirst() }
  }

  /// The most notifications that wait for the service. A notification only says that shared data has changed, so the oldest may be dropped.
  private static let maximumNotifications = 1000

  /// The change could not be sent.
  mutating func putBack(_ change: Change) {
    switch change {
    case .property(let property, let scene): add(property, of: scene)
    // The application lists the scenes that it shows when it attaches again.
    case .released: break
    case .destroyed(let session, let animation): destroy(session, animation)
    case .notification(let notification): notifications.insert(notification, at: 0)
    }
  }

  // MARK: Removing

  mutating func remove(_ property: SceneProperty, of session: SessionIdentifier) {
    change(session) { $0.properties.removeAll { $0 == property } }
  }

  mutating func removeAll(of session: SessionIdentifier) { change(session) { $0 = Turn() } }

  /// The application is about to list its scenes to the service.
  mutating func removeReleases() { for session in order { change(session) { $0.isReleased = false } } }

  /// The next change. For a scene that the service does not know yet, the service takes neither a state nor a release.
  mutating func takeNext() -> Change? {
    for session in order {
      guard let turn = turns[session] else { continue }
      if let animation = turn.destruction {
        change(session) { $0 = Turn() }
        return .destroyed(session, animation)
      }
      guard let scene = turn.scene else { continue }
      if let property = turn.properties.first(where: { $0 != .state || scene.isAcknowledged }) {
        remove(property, of: session)
        return .property(property, scene)
      }
      if turn.isReleased, scene.isAcknowledged {
        change(session) { $0 = Turn() }
        return .released(scene)
      }
    }
    return notifications.isEmpty ? nil : .notification(notifications.removeFirst())
  }

  private mutating func change(_ session: SessionIdentifier, _ body: (inout Turn) -> Void) {
    var turn = turns[session] ?? Turn()
    body(&turn)
    if turn.isEmpty {
      if turns.removeValue(forKey: session) != nil { order.removeAll { $0 == session } }
    } else if turns.updateValue(turn, forKey: session) == nil {
      order.append(session)
    }
  }
}
