import SceneModel

/// The sessions interested in each key: those whose conditions name the key, and those that show it.
///
/// The table has only the hashes of the keys: 64 bits, seeded anew in each process. The key of a session that is found is compared before the session
/// is chosen, so two keys with one hash would cost a comparison and change no answer. A lookup thus reads one row, and then the session; the text of
/// the key and a list of texts would each be further away in memory.
struct KeyTable: Sendable {
  private struct Row {
    var hash: UInt64 = 0
    var can = Members.none
    var prefers = Members.none
    var shown = Members.none

    /// Whether the row is free: a row is freed when nobody is interested in its key.
    var isEmpty: Bool { can.isEmpty && prefers.isEmpty && shown.isEmpty }

    mutating func change(_ interest: Interest, _ body: (inout Members) -> Void) {
      switch interest {
      case .can: body(&can)
      case .prefers: body(&prefers)
      case .shown: body(&shown)
      }
    }
  }

  /// Their number is a power of two. Each row is at the place that its hash names, or in the next free place behind it.
  private var rows: [Row] = []
  private var taken = 0

  static func hash(_ key: Text) -> UInt64 { key.withBytes(hash) }

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Calls `visit` with the sessions that may be interested in a key with this hash.
  @inline(__always)
  func visit(_ hash: UInt64, _ visit: (Interest, Members) -> Void) {
    if rows.isEmpty { return }
    let row = rows.withUnsafeBufferPointer { $0[KeyTable.place(of: hash, $0)] }
    if row.isEmpty { return }
    visit(.prefers, row.prefers)
    visit(.shown, row.shown)
    visit(.can, row.can)
  }

  mutating func insert(
    _ slot: Int32, _ interest: Interest, _ hash: UInt64, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    // At most three quarters full, so that a row is near its place.
    if (taken + 1) * 4 > rows.count * 3 { grow() }
    let place = place(of: hash)
    if rows[place].isEmpty {
      taken += 1
      rows[place].hash = hash
    }
    rows[place].change(interest) { $0.insert(slot, &pool, entries) }
  }

  mutating func remove(
    _ slot: Int32, _ interest: Interest, _ hash: UInt64, _ pool: inout Members.Pool, _ entries: [SessionEntry]
  ) {
    guard !rows.isEmpty else { return }
    let place = place(of: hash)
    if rows[place].isEmpty { return }
    rows[place].change(interest) { $0.remove(slot, &pool, entries) }
    guard rows[place].isEmpty else { return }
    taken -= 1
    close(place)
  }

  // MARK: Places

  /// The index of the row of a hash, or the index that it would have.
  @inline(__always)
  private static func place(of hash: UInt64, _ rows: UnsafeBufferPointer<Row>) -> Int {
    let mask = rows.count &- 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while rows[place].hash != hash, !rows[place].isEmpty { place = (place &+ 1) & mask }
    return place
  }

  private func place(of hash: UInt64) -> Int { rows.withUnsafeBufferPointer { KeyTable.place(of: hash, $0) } }

  private mutating func grow() {
    let old = rows
    rows = Array(repeating: Row(), count: max(16, old.count * 2))
    for row in old where !row.isEmpty { rows[place(of: row.hash)] = row }
  }

  /// Rows behind a row that has become free move up, unless they are at their place, or their place is between the free row and them.
  private mutating func close(_ gap: Int) {
    let mask = rows.count &- 1
    var gap = gap
    var place = (gap &+ 1) & mask
    while !rows[place].isEmpty {
      if (place &- Int(truncatingIfNeeded: rows[place].hash)) & mask >= (place &- gap) & mask {
        rows[gap] = rows[place]
        gap = place
      }
      place = (place &+ 1) & mask
    }
    rows[gap] = Row()
  }
}

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
