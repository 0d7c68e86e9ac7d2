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
