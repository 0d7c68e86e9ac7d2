import SceneModel

/// The sessions interested in keys with a certain beginning.
///
/// A beginning is found like a key, by its hash. For a key, one beginning is looked up for each length in this table, however many beginnings of a
/// length there are. A few programs write conditions in a few ways, so there are few lengths.
struct PrefixTable: Sendable {
  private var table = KeyTable()
  /// The lengths, the shortest first, with the number of beginnings of each.
  private var lengths: [(bytes: Int, count: Int)] = []

  var isEmpty: Bool { lengths.isEmpty }

  mutating func insert(
    _ slot: Int32, _ interest: Interest, _ prefix: Text, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    table.insert(slot, interest, KeyTable.hash(prefix), &pool, entries)
    let place = lengths.firstIndex { $0.bytes >= prefix.count } ?? lengths.count
    if place == lengths.count || lengths[place].bytes != prefix.count {
      lengths.insert((bytes: prefix.count, count: 0), at: place)
    }
    lengths[place].count += 1
  }

  /// It must have been inserted, and not been removed since.
  mutating func remove(
    _ slot: Int32, _ interest: Interest, _ prefix: Text, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    table.remove(slot, interest, KeyTable.hash(prefix), &pool, entries)
    guard let place = lengths.firstIndex(where: { $0.bytes == prefix.count }) else { return }
    lengths[place].count -= 1
    if lengths[place].count == 0 { lengths.remove(at: place) }
  }

  func cost(of key: Text) -> Int {
    lengths.prefix { $0.bytes <= key.count }.reduce(0) { $0 + Steps.lookup + Steps.bytes($1.bytes) }
  }

  /// Calls `visit` for each beginning of `key` in the table.
  func visit(_ key: Text, _ visit: (Interest, Members) -> Void) {
    key.withBytes { bytes in
      for length in lengths.prefix(while: { $0.bytes <= bytes.count }) {
        table.visit(KeyTable.hash(UnsafeRawBufferPointer(rebasing: bytes[..<length.bytes])), visit)
      }
    }
  }
}
