import SceneModel
import SessionStore

extension House {
  /// Leaves a store with these sessions.
  func leave(_ sessions: [Session]) throws {
    let now = Instant(microseconds: 1_777_636_800_000_000)
    let store = try SessionStore(
      directory: state, durability: .normal, rules: ReadingRules(types: TypeCatalog()), at: now)
    try store.commit(sessions.map { .session($0) }, at: now)
    store.close()
  }
}

extension Session {
  /// A window that shows a cat. Windows are made in the order of their numbers.
  static func cat(_ number: Int, configuration: Text = "Cat Detail") -> Session {
    Session(
      identifier: UniqueIdentifier(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)),
      application: "org.example.Cats", configuration: configuration,
      created: Instant(microseconds: 1_777_000_000_000_000 + Int64(number)),
      userActivity: UserActivity(activityType: "viewCat", targetContentIdentifier: Text("cat\(number)")))
  }

  static func path(ofCat number: Int) -> String { SessionReference.path(of: cat(number).identifier).string }
}
