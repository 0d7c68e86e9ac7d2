import SceneModel
import SessionStore

extension House {
  /// Leaves a store like that of a service that is killed while it shows a window. Returns the window's path.
  func leaveConnected(showing shown: Text, restoring restored: Text) throws -> String {
    let now = Instant(microseconds: 1_777_636_800_000_000)
    let store = try SessionStore(directory: state, rules: ReadingRules(types: TypeCatalog()), at: now)
    let session = Session(
      identifier: UniqueIdentifier(high: 1, low: 1), application: "org.example.Cats", configuration: "Cat Detail",
      state: .foregroundActive, isConnected: true, hasBeenConnected: true, created: now,
      userActivity: UserActivity(activityType: "viewCat", targetContentIdentifier: shown),
      stateRestorationActivity: UserActivity(activityType: "viewCat", targetContentIdentifier: restored))
    try store.commit([.session(session)], at: now)
    store.close()
    return SessionReference.path(of: session.identifier).string
  }

  /// Leaves a store with these sessions.
  func leave(_ sessions: [Session]) throws {
    let now = Instant(microseconds: 1_777_636_800_000_000)
    let store = try SessionStore(
      directory: state, durability: .normal, rules: ReadingRules(types: TypeCatalog()), at: now)
    try store.commit(sessions.map { .session($0) }, at: now)
    store.close()
  }
}
