import SceneModel

/// The sessions of one application, by configuration: all of them in the order of step 9, and those that may be concerned with a key.
///
/// Each configuration has an index of its own, so that a decision never goes past the sessions of another to find one of this.
struct SessionIndex: Sendable {
  private(set) var ofConfiguration: [Ranking]
  private var conditions: [ConditionIndex]
  private var pool = Members.Pool()

  init(configurations: Int) {
    ofConfiguration = Array(repeating: Ranking(), count: configurations)
    conditions = Array(repeating: ConditionIndex(), count: configurations)
  }

  // MARK: Who is there

  mutating func insert(_ slot: Int32, _ entries: [SessionEntry]) {
    let configuration = Int(entries[Int(slot)].configuration)
    guard configuration >= 0 else { return }
    ofConfiguration[configuration].insert(slot, entries)
    conditions[configuration].insert(slot, &pool, entries)
  }

  /// Its entry is still what it was when it was inserted.
  mutating func remove(_ slot: Int32, _ entries: [SessionEntry]) {
    let configuration = Int(entries[Int(slot)].configuration)
    guard configuration >= 0 else { return }
    ofConfiguration[configuration].remove(slot, entries)
    conditions[configuration].remove(slot, &pool, entries)
  }

  // MARK: Who may be concerned

  /// Calls `visit` with the sessions that may be concerned with `key`, those of one kind at a time, until all were visited.
  @inline(__always)
  func visit(
    _ key: Text, of eligible: ConfigurationSet = .all, _ visit: (Interest, Found) -> Void
  ) {
    let hash = KeyTable.hash(key)
    for place in conditions.indices where eligible.contains(Int16(place)) {
      conditions[place].visit(key, hash) { visit($0, Found(members: $1, pool: pool)) }
    }
  }

  struct Found {
    fileprivate let members: Members
    fileprivate let pool: Members.Pool

    /// The first that is accepted, and whether it is the only one: found out by looking at a few more, and else not claimed.
    @inline(__always)
    func first(where isAccepted: (Int32) -> Bool) -> (slot: Int32, isAlone: Bool)? {
      members.first(pool, where: isAccepted)
    }

    /// There is nobody but this session.
    func isOnly(_ slot: Int32) -> Bool { members.isOnly(slot) }

    func prefix(_ limit: Int, where isAccepted: (Int32) -> Bool) -> [Int32] {
      members.prefix(limit, pool, where: isAccepted)
    }
  }
}
