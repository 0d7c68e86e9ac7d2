import SceneModel

/// Who is interested in keys that begin in a certain way, in the order of these beginnings.
struct PrefixTable: Sendable {
  private struct Entry: Sendable {
    let prefix: Text
    var can = Members.none
    var prefers = Members.none
  }

  private var entries = SortedChunks<Entry>()

  var isEmpty: Bool { entries.isEmpty }

  private func position(of prefix: Text) -> SortedChunks<Entry>.Position? {
    let position = entries.lowerBound { $0.prefix < prefix }
    return entries[position]?.prefix == prefix ? position : nil
  }

  mutating func insert(
    _ slot: Int32, _ interest: Interest, _ prefix: Text, _ pool: inout Members.Pool, _ sessions: [SessionEntry]
  ) {
    if position(of: prefix) == nil { entries.insert(Entry(prefix: prefix)) { $0.prefix < $1.prefix } }
    change(prefix, interest) { $0.insert(slot, &pool, sessions) }
  }

  mutating func remove(
    _ slot: Int32, _ interest: Interest, _ prefix: Text, _ pool: inout Members.Pool, _ sessions: [SessionEntry]
  ) {
    change(prefix, interest) { $0.remove(slot, &pool, sessions) }
    if let position = position(of: prefix), let entry = entries[position], entry.can.isEmpty, entry.prefers.isEmpty {
      entries.remove(entry) { $0.prefix < $1.prefix }
    }
  }

  private mutating func change(_ prefix: Text, _ interest: Interest, _ body: (inout Members) -> Void) {
    guard let position = position(of: prefix) else { return }
    entries.update(position) { entry in
      if interest == .can { body(&entry.can) } else { body(&entry.prefers) }
    }
  }

  /// Calls `visit` for each prefix of `key` that is there.
  ///
  /// All prefixes of a text stand before it, the longest last. What stands before it and is no prefix of it says how much they have in
  /// common, and no prefix of the text that stands further in front can be longer.
  func visit(_ key: Text, _ visit: (Interest, Members) -> Void) {
    var rest = Array(key.string.utf8)
    while true {
      let wanted = rest
      let next = entries.lowerBound { entry in
        entry.prefix.withBytes { bytes in !wanted.lexicographicallyPrecedes(bytes) }
      }
      guard let position = entries.position(before: next), let entry = entries[position] else { return }
      let common = entry.prefix.withBytes { bytes in zip(bytes, rest).prefix { $0 == $1 }.count }
      if common == entry.prefix.count {
        visit(.can, entry.can)
        visit(.prefers, entry.prefers)
        if common == 0 { return }
        rest.removeSubrange((common - 1)...)
      } else {
        rest.removeSubrange(common...)
      }
    }
  }
}
