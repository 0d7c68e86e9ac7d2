import SceneModel

/// The sessions of one configuration, found by what they are for.
///
/// Conditions that hold for a few keys only are found by the hash of the key, those that hold for keys which begin in a few ways by the
/// hashes of its beginnings; of the rest each one is evaluated once, however many sessions share it. What is found may be concerned
/// with the key, and is asked; what is not found is not concerned.
struct ConditionIndex: Sendable {
  private(set) var keys = KeyTable()
  private(set) var prefixes = PrefixTable()
  private(set) var rest: [Filing: Members] = [:]

  // MARK: Who is there

  mutating func insert(_ slot: Int32, _ pool: inout Members.Pool, _ entries: [SessionEntry]) {
    let entry = entries[Int(slot)]
    // Out of keyed routing, whatever it shows.
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

  /// Its entry is still what it was when it was inserted.
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

  /// Each once, since a session stands once under each.
  private func hashes(of texts: [Text]) -> [UInt64] {
    texts.count == 1 ? [KeyTable.hash(texts[0])] : Array(Set(texts.map(KeyTable.hash)))
  }
}
