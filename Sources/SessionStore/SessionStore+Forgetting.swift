import SceneModel

/// History is bounded, and forgotten in small pieces: never more rows at once than a batch made a few times over.
extension SessionStore {
  func forget(_ database: Database, _ ledger: inout Ledger) throws(StoreError) {
    // More than the batch can have added, so that what is too much gets less, even where the limits were lowered.
    let piece = Int64(2 * tail.count + 64)
    try forgetDeliveries(database, &ledger, piece)
    try forgetEvents(database, &ledger, piece)
  }

  /// The moment before which things are too old.
  private var horizon: Int64 {
    let (horizon, isBeforeTime) = now.microseconds.subtractingReportingOverflow(history.age)
    return isBeforeTime ? .min : horizon
  }

  /// Those that are over, the oldest first. The others are somebody's still: there may be fifty thousand of them, and nobody looks at them.
  private func forgetDeliveries(
    _ database: Database, _ ledger: inout Ledger, _ piece: Int64
  ) throws(StoreError) {
    let over = try database.number("SELECT count(*) FROM delivery INDEXED BY delivery_over WHERE NOT is_open") ?? 0
    let excess = min(max(0, over - history.deliveries), piece)
    if excess > 0 {
      var remove = try database.query("DELETE FROM delivery WHERE number = ?")
      for number in try oldestDeliveries(excess, database) {
        remove.put(number)
        try remove.run()
        ledger.deliveries -= database.changes
      }
    }
    var query = try database.query(
      """
      DELETE FROM delivery WHERE created < ? AND number IN
        (SELECT number FROM delivery INDEXED BY delivery_over WHERE NOT is_open ORDER BY number LIMIT ?)
      """)
    query.put(horizon)
    query.put(piece - excess)
    try query.run()
    ledger.deliveries -= database.changes
  }

  /// The oldest that are over, but for the newest of each sender that have a token.
  private func oldestDeliveries(_ count: Int64, _ database: Database) throws(StoreError) -> [Int64] {
    var oldest: [Int64] = []
    var firstKept: [Text: Int64] = [:]
    var query = try database.query(
      """
      SELECT number, token IS NOT NULL, sender FROM delivery INDEXED BY delivery_over WHERE NOT is_open ORDER BY number
      """)
    while oldest.count < count, try query.step() {
      let number = query.number(at: 0)
      query.skip(2)
      // What has a sender that cannot be read is nobody's.
      if query.number(at: 1) != 0, let sender = try? query.text() {
        if firstKept[sender] == nil { firstKept[sender] = try firstKeptToken(of: sender, database) }
        if let first = firstKept[sender], number >= first { continue }
      }
      oldest.append(number)
    }
    return oldest
  }

  private func firstKeptToken(of sender: Text, _ database: Database) throws(StoreError) -> Int64 {
    if history.tokens == 0 { return .max }
    var query = try database.query(
      "SELECT number FROM delivery WHERE token IS NOT NULL AND sender = ? ORDER BY number DESC LIMIT 1 OFFSET ?")
    query.put(sender)
    query.put(history.tokens - 1)
    return try query.step() ? query.number(at: 0) : .min
  }

  private func forgetEvents(_ database: Database, _ ledger: inout Ledger, _ piece: Int64) throws(StoreError) {
    let end = min(ledger.firstEvent + piece, ledger.lastEvent + 1)
    var first = max(ledger.firstEvent, min(ledger.lastEvent - history.events + 1, end))
    first = try firstOfAge(database, from: first, to: end) ?? end
    if first == ledger.firstEvent { return }
    var query = try database.query("DELETE FROM event WHERE sequence < ?")
    query.put(first)
    try query.run()
    ledger.firstEvent = first
  }

  /// The first of a range that is not too old.
  private func firstOfAge(_ database: Database, from first: Int64, to end: Int64) throws(StoreError) -> Int64? {
    var query = try database.query(
      "SELECT sequence FROM event WHERE sequence >= ? AND sequence < ? AND instant >= ? ORDER BY sequence LIMIT 1")
    query.put(first)
    query.put(end)
    query.put(horizon)
    return try query.step() ? query.number(at: 0) : nil
  }
}
