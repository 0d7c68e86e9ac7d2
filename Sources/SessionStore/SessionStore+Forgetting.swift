import SceneModel

/// History is bounded, and forgotten in small parts: at once never more rows than a few times a batch.
extension SessionStore {
  func forget(_ database: Database, _ ledger: inout Ledger, isIdle: Bool) throws(StoreError) {
    // More than the batch can have added, so that the excess decreases even after the limits were lowered.
    let piece = Int64(2 * tail.count + 64)
    try forgetDeliveries(database, piece, isIdle: isIdle)
    try forgetEvents(database, &ledger, piece)
  }

  /// The time before which records are too old.
  private var horizon: Int64 {
    let (horizon, isBeforeTime) = now.microseconds.subtractingReportingOverflow(history.age)
    return isBeforeTime ? .min : horizon
  }

  /// Forgets deliveries that are over, the oldest first. It does not look at the open ones, of which there may be fifty thousand.
  private func forgetDeliveries(_ database: Database, _ piece: Int64, isIdle: Bool) throws(StoreError) {
    let over = try database.number("SELECT count(*) FROM delivery INDEXED BY delivery_over WHERE NOT is_open") ?? 0
    let excess = min(max(0, over - history.deliveries), piece)
    if excess > 0 {
      var remove = try database.query("DELETE FROM delivery WHERE number = ?")
      for number in try oldestDeliveries(excess, database) {
        remove.put(number)
        try remove.run()
      }
    }
    let old = """
      FROM delivery WHERE created < ? AND number IN
        (SELECT number FROM delivery INDEXED BY delivery_over WHERE NOT is_open ORDER BY number LIMIT ?)
      """
    var query = try database.query("DELETE \(old)")
    // The oldest are in front, so a busy service looks at a few, and at more only if all of these are too old. After the clock was set back, newer
    // ones may stand in front; the idle service looks at all.
    var left = piece - excess
    let few = isIdle ? piece : 64
    repeat {
      var find = try database.query("SELECT 1 \(old) AND (\(StoredDelivery.privacy))")
      find.put(horizon)
      find.put(min(left, few))
      if try find.step() { try database.overwriteDeleted(true) }
      query.put(horizon)
      query.put(min(left, few))
      try query.run()
      left -= few
    } while left > 0 && database.changes == few
  }

  /// The oldest deliveries that are over, except the newest of each sender with a token.
  private func oldestDeliveries(_ count: Int64, _ database: Database) throws(StoreError) -> [Int64] {
    var oldest: [Int64] = []
    var firstKept: [Text: Int64] = [:]
    var query = try database.query(
      """
      SELECT number, token IS NOT NULL, \(StoredDelivery.privacy), sender FROM delivery INDEXED BY delivery_over
        WHERE NOT is_open ORDER BY number
      """)
    while oldest.count < count, try query.step() {
      let number = query.number(at: 0)
      query.skip(3)
      // A sender that cannot be read counts as nobody.
      if query.number(at: 1) != 0, let sender = try? query.text() {
        if firstKept[sender] == nil { firstKept[sender] = try firstKeptToken(of: sender, database) }
        if let first = firstKept[sender], number >= first { continue }
      }
      if query.number(at: 2) != 0 { try database.overwriteDeleted(true) }
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
    try database.run("DELETE FROM event WHERE sequence < ?", first)
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
