import SceneModel

/// Who is interested in keys that begin in a certain way.
///
/// A beginning is found like a key, by its hash: of a key that is asked for as many beginnings are looked up as there are lengths of
/// them here, however many there are of each. Conditions are written by a few programs in a few ways, so that these lengths are few.
struct PrefixTable: Sendable {
  private var table = KeyTable()
  /// The lengths that occur, the shortest first, and how often.
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

  /// It was inserted, and not removed since.
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

  /// Calls `visit` for each beginning of `key` that is there.
  func visit(_ key: Text, _ visit: (Interest, Members) -> Void) {
    key.withBytes { bytes in
      for length in lengths.prefix(while: { $0.bytes <= bytes.count }) {
        table.visit(KeyTable.hash(UnsafeRawBufferPointer(rebasing: bytes[..<length.bytes])), visit)
      }
    }
  }
}
