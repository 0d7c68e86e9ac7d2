internal import DBus

/// What a host writes about its sessions.
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

/// What scenes have changed and the service does not know yet, in the order of the first change: written once, as it is then.
struct UnwrittenChanges {
  struct Change: Hashable {
    let scene: SessionIdentifier
    let property: SceneProperty
  }

  private(set) var changes: [Change] = []

  mutating func add(_ property: SceneProperty, of scene: SessionIdentifier) {
    let change = Change(scene: scene, property: property)
    if !changes.contains(change) { changes.append(change) }
  }

  mutating func remove(_ property: SceneProperty, of scene: SessionIdentifier) {
    changes.removeAll { $0 == Change(scene: scene, property: property) }
  }

  mutating func removeAll(of scene: SessionIdentifier) { changes.removeAll { $0.scene == scene } }

  mutating func takeFirst(where fits: (Change) -> Bool) -> Change? {
    guard let index = changes.firstIndex(where: fits) else { return nil }
    return changes.remove(at: index)
  }
}
