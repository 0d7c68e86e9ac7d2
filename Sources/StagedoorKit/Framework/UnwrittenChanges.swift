internal import DBus

/// A change that a host writes to its session.
enum SceneProperty: Sendable, Hashable {
  case title, userActivity, stateRestorationActivity, userInfo, can, prefers, state

  /// The property of `SceneSession1`; the state has a method.
  var name: MemberName? {
    switch self {
    case .title: "Title"
    case .userActivity: "UserActivity"
    case .stateRestorationActivity: "StateRestorationActivity"
    case .userInfo: "UserInfo"
    case .can: "CanActivatePredicate"
    case .prefers: "PrefersToActivatePredicate"
    case .state: nil
    }
  }
}

/// The changes of scenes, and the notifications, that the service does not know yet. A change is written once, with its value at that time.
/// Scenes take turns in the order of their first change.
struct UnwrittenChanges {
  typealias Change = (scene: SessionIdentifier, property: SceneProperty)

  private var properties: [SessionIdentifier: [SceneProperty]] = [:]
  private var turns: [SessionIdentifier] = []
  /// A notification reports changes, and so waits until they are written.
  private var notifications: [SceneNotification] = []

  var isEmpty: Bool { properties.isEmpty && notifications.isEmpty }

  mutating func add(_ property: SceneProperty, of scene: SessionIdentifier) {
    if properties[scene] == nil { turns.append(scene) }
    if properties[scene]?.contains(property) != true { properties[scene, default: []].append(property) }
  }

  mutating func remove(_ property: SceneProperty, of scene: SessionIdentifier) {
    properties[scene]?.removeAll { $0 == property }
    if properties[scene]?.isEmpty == true { removeAll(of: scene) }
  }

  mutating func removeAll(of scene: SessionIdentifier) {
    if properties.removeValue(forKey: scene) != nil { turns.removeAll { $0 == scene } }
  }

  mutating func add(_ notification: SceneNotification) { notifications.append(notification) }

  /// The notification could not be sent.
  mutating func putBack(_ notification: SceneNotification) { notifications.insert(notification, at: 0) }

  mutating func takeNotification() -> SceneNotification? {
    notifications.isEmpty ? nil : notifications.removeFirst()
  }

  mutating func takeFirst(where fits: (Change) -> Bool) -> Change? {
    for scene in turns {
      guard let property = properties[scene]?.first(where: { fits((scene, $0)) }) else { continue }
      remove(property, of: scene)
      return (scene, property)
    }
    return nil
  }
}
