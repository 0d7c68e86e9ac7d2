import SceneModel

/// Finds the sessions of one configuration by their conditions.
///
/// A condition that can be true for a few keys only is found by the hash of the key. A condition for keys with a few beginnings is found by the
/// hashes of the beginnings. Every other condition is evaluated once, however many sessions share it. A session that is found may be concerned with
/// the key, and its conditions are evaluated; a session that is not found is not concerned.
struct ConditionIndex: Sendable {
  private(set) var keys = KeyTable()
  private(set) var prefixes = PrefixTable()
  private(set) var rest: [Filing: Members] = [:]

  // MARK: Sessions

  mutating func insert(_ slot: Int32, _ pool: inout Members.Pool, _ entries: [SessionEntry]) {
    let entry = entries[Int(slot)]
    // It takes no part in routing by keys, whatever it shows.
    if entry.flags.contains(.isUnreadable) { return }
    if !entry.shownKey.isEmpty { keys.insert(slot, .shown, KeyTable.hash(entry.shownKey), &pool, entries) }
    if let can = entry.can { insert(slot, Filing(can: can), &pool, entries) }
    if let prefers = entry.prefers { insert(slot, Filing(can: entry.can, prefers: prefers), &pool, entries) }
  }

  private mutating func insert(
    _ slot: Int32, _ filing: Filing, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    switch filing.cover {
    case .keys(let texts):
      for hash in hashes(of: texts) { keys.insert(slot, filing.interest, hash, &pool, entries) }
    case .prefixes(let texts):
      for prefix in Set(texts) { prefixes.insert(slot, filing.interest, prefix, &pool, entries) }
    case .everything: rest[filing, default: .none].insert(slot, &pool, entries)
    }
  }

  /// Its entry must still be what it was at the insertion.
  mutating func remove(_ slot: Int32, _ pool: inout Members.Pool, _ entries: [SessionEntry]) {
    let entry = entries[Int(slot)]
    if entry.flags.contains(.isUnreadable) { return }
    if !entry.shownKey.isEmpty { keys.remove(slot, .shown, KeyTable.hash(entry.shownKey), &pool, entries) }
    if let can = entry.can { remove(slot, Filing(can: can), &pool, entries) }
    if let prefers = entry.prefers { remove(slot, Filing(can: entry.can, prefers: prefers), &pool, entries) }
  }

  private mutating func remove(
    _ slot: Int32, _ filing: Filing, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    switch filing.cover {
    case .keys(let texts):
      for hash in hashes(of: texts) { keys.remove(slot, filing.interest, hash, &pool, entries) }
    case .prefixes(let texts):
      for prefix in Set(texts) { prefixes.remove(slot, filing.interest, prefix, &pool, entries) }
    case .everything:
      rest[filing, default: .none].remove(slot, &pool, entries)
      if rest[filing]?.isEmpty ?? false { rest[filing] = nil }
    }
  }

  /// Each hash once, because a session stands once under each.
  private func hashes(of texts: [Text]) -> [UInt64] {
    texts.count == 1 ? [KeyTable.hash(texts[0])] : Array(Set(texts.map(KeyTable.hash)))
  }
}
