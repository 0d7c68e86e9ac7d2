import SceneModel

/// The sessions of one application, found by what they are for.
///
/// Conditions that hold for a few keys only are found by hash, those that hold for beginnings of keys in an ordered structure; of the
/// rest each one is evaluated once, however many sessions share it. What is found may be concerned with the key, and is asked;
/// what is not found is not concerned.
struct SessionIndex: Sendable {
  private var keys = KeyTable()
  private var prefixes = PrefixTable()
  private var rest: [Rest: Members] = [:]
  private var pool = Members.Pool()
  /// All sessions of each configuration, in the order of step 9.
  private(set) var ofConfiguration: [Ranking] = []

  private struct Rest: Hashable {
    let interest: Interest
    let requirement: Requirement
  }

  init(configurations: Int) {
    ofConfiguration = Array(repeating: Ranking(), count: configurations)
  }

  // MARK: Who is there

  /// Adds a session, and lets its entry share the keys that stand here.
  mutating func insert(_ slot: Int32, _ entries: inout [SessionEntry]) {
    let entry = entries[Int(slot)]
    guard entry.configuration >= 0 else { return }
    ofConfiguration[Int(entry.configuration)].insert(slot, entries)
    // Out of keyed routing, whatever it shows.
    if entry.flags.contains(.isUnreadable) { return }
    if !entry.shownKey.isEmpty {
      entries[Int(slot)].shownKey = keys.insert(slot, .shown, entry.shownKey, &pool, entries)
    }
    if let can = entry.can { entries[Int(slot)].can = insert(slot, .can, can, entries) }
    if let prefers = entry.prefers { entries[Int(slot)].prefers = insert(slot, .prefers, prefers, entries) }
  }

  private mutating func insert(
    _ slot: Int32, _ interest: Interest, _ requirement: Requirement, _ entries: [SessionEntry]
  ) -> Requirement {
    switch requirement.cover {
    case .keys(let texts):
      var shared = requirement
      for key in Set(texts) {
        let kept = keys.insert(slot, interest, key, &pool, entries)
        if requirement == .equals(key) { shared = .equals(kept) }
      }
      return shared
    case .prefixes(let texts):
      for prefix in Set(texts) { prefixes.insert(slot, interest, prefix, &pool, entries) }
    case .everything:
      rest[Rest(interest: interest, requirement: requirement), default: .none].insert(slot, &pool, entries)
    }
    return requirement
  }

  /// Its entry is still what it was when it was inserted.
  mutating func remove(_ slot: Int32, _ entries: [SessionEntry]) {
    let entry = entries[Int(slot)]
    guard entry.configuration >= 0 else { return }
    ofConfiguration[Int(entry.configuration)].remove(slot, entries)
    if entry.flags.contains(.isUnreadable) { return }
    if !entry.shownKey.isEmpty { keys.remove(slot, .shown, entry.shownKey, &pool, entries) }
    if let can = entry.can { remove(slot, .can, can, entries) }
    if let prefers = entry.prefers { remove(slot, .prefers, prefers, entries) }
  }

  private mutating func remove(
    _ slot: Int32, _ interest: Interest, _ requirement: Requirement, _ entries: [SessionEntry]
  ) {
    switch requirement.cover {
    case .keys(let texts): for key in Set(texts) { keys.remove(slot, interest, key, &pool, entries) }
    case .prefixes(let texts): for prefix in Set(texts) { prefixes.remove(slot, interest, prefix, &pool, entries) }
    case .everything:
      let key = Rest(interest: interest, requirement: requirement)
      rest[key, default: .none].remove(slot, &pool, entries)
      if rest[key]?.isEmpty ?? false { rest[key] = nil }
    }
  }

  // MARK: Who may be concerned

  /// Calls `visit` with the sessions that may be concerned with `key`, those of one kind at a time, until all were visited.
  @inline(__always)
  func visit(_ key: Text, _ visit: (Interest, Found) -> Void) {
    if let members = keys.members(of: key) {
      if !members.prefers.isEmpty { visit(.prefers, Found(members: members.prefers, pool: pool)) }
      if !members.shown.isEmpty { visit(.shown, Found(members: members.shown, pool: pool)) }
      if !members.can.isEmpty { visit(.can, Found(members: members.can, pool: pool)) }
    }
    if !prefixes.isEmpty {
      prefixes.visit(key) { visit($0, Found(members: $1, pool: pool)) }
    }
    for (rest, members) in rest where rest.requirement.evaluate(key) {
      visit(rest.interest, Found(members: members, pool: pool))
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

    func prefix(_ limit: Int, where isAccepted: (Int32) -> Bool) -> [Int32] {
      members.prefix(limit, pool, where: isAccepted)
    }
  }
}
