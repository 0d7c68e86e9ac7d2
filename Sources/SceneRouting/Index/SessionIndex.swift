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

  /// Calls `visit` with the sessions that may be concerned with `key`, those of one kind at a time, until all were visited; and with the
  /// conditions that are still to be asked, of those sessions that share them. These come in no order that means anything.
  ///
  /// Each part of a configuration's index is asked where it stands, since to take out the whole would copy its references.
  @inline(__always)
  func visit(_ key: Text, of eligible: ConfigurationSet = .all, _ visit: (Interest, Found, Filing?) -> Void) {
    func tell(_ interest: Interest, _ members: Members) {
      if let found = members.found(in: pool) { visit(interest, found, nil) }
    }
    let hash = KeyTable.hash(key)
    for place in conditions.indices where eligible.contains(Int16(place)) {
      conditions[place].keys.visit(hash, tell)
      if !conditions[place].prefixes.isEmpty { conditions[place].prefixes.visit(key, tell) }
      if !conditions[place].rest.isEmpty {
        for (filing, members) in conditions[place].rest {
          if let found = members.found(in: pool) { visit(filing.interest, found, filing) }
        }
      }
    }
  }
}
