import SceneModel

/// History is bounded, and forgotten in small parts: at once never more rows than a few times a batch.
extension SessionStore {
  /// - Returns: Whether nothing that is too old is left.
  func forget(_ database: Database, _ ledger: inout Ledger, isIdle: Bool) throws(StoreError) -> Bool {
    // More than the batch can have added, so that the excess decreases even after the limits were lowered.
    let piece = Int64(2 * tail.count + 64)
    let areDeliveriesDone = try forgetDeliveries(database, piece)
    return try forgetEvents(database, &ledger, piece, isIdle: isIdle) && areDeliveriesDone
  }

  /// Whether nothing that a delivery carries is kept. Its host may open contents for some minutes, and only for a delivery that is known.
  private static let isEmptyHanded = "NOT EXISTS (SELECT 1 FROM baggage WHERE baggage.delivery = delivery.identifier)"

  /// The time before which records are too old.
  private var horizon: Int64 {
    let (horizon, isBeforeTime) = now.microseconds.subtractingReportingOverflow(history.age)
    return isBeforeTime ? .min : horizon
  }

  /// Forgets deliveries that are over, in the order of their ends. Open deliveries are not read: there may be fifty thousand.
  private func forgetDeliveries(_ database: Database, _ piece: Int64) throws(StoreError) -> Bool {
    let over = try database.number("SELECT count(*) FROM delivery INDEXED BY delivery_over WHERE NOT is_open") ?? 0
    let excess = min(max(0, over - history.deliveries), piece)
    var left = piece
    if excess > 0 {
      let present = min(now.microseconds, .max - 1) + 1
      var past = try ended(SessionStore.endedBefore, present, database, atMost: excess, keepsTokens: true)[...]
      // A wrong clock dated these. Nobody knows when they ended, so one of them goes before a past one that was made after it.
      var future = try ended(SessionStore.endedAfter, now.microseconds, database, atMost: excess, keepsTokens: true)[
        ...]
      while left > piece - excess, let next = [past.first, future.first].compactMap(\.self).min() {
        try database.run("DELETE FROM delivery WHERE number = ?", next)
        if next == past.first { past.removeFirst() } else { future.removeFirst() }
        left -= 1
      }
    }
    let old = try ended(SessionStore.endedBefore, horizon, database, atMost: left)
    for number in old { try database.run("DELETE FROM delivery WHERE number = ?", number) }
    return old.count < left
  }

  // SQLite uses the index only for its very expression.
  private static let endedBefore = "ifnull(ended, created) < ? ORDER BY ifnull(ended, created), number"
  private static let endedAfter = "ifnull(ended, created) > ? ORDER BY number"

  /// The numbers of deliveries that are over. If one of them is private, its bytes will be overwritten.
  ///
  /// - Parameter keepsTokens: Whether the newest of each sender with a token are left out.
  private func ended(
    _ which: String, _ time: Int64, _ database: Database, atMost limit: Int64, keepsTokens: Bool = false
  ) throws(StoreError) -> [Int64] {
    var old: [Int64] = []
    var firstKept: [Text: Int64] = [:]
    var find = try database.query(
      """
      SELECT number, token IS NOT NULL, \(StoredDelivery.privacy), sender FROM delivery INDEXED BY delivery_over
        WHERE NOT is_open AND \(SessionStore.isEmptyHanded) AND \(which)
      """)
    find.put(time)
    while old.count < limit, try find.step() {
      let number = find.number(at: 0)
      find.skip(3)
      // A sender that cannot be read counts as nobody.
      if keepsTokens, find.number(at: 1) != 0, let sender = try? find.text() {
        if firstKept[sender] == nil { firstKept[sender] = try firstKeptToken(of: sender, database) }
        if let first = firstKept[sender], number >= first { continue }
      }
      if find.number(at: 2) != 0 { try database.overwriteDeleted(true) }
      old.append(number)
    }
    return old
  }

  private func firstKeptToken(of sender: Text, _ database: Database) throws(StoreError) -> Int64 {
    if history.tokens == 0 { return .max }
    var query = try database.query(
      "SELECT number FROM delivery WHERE token IS NOT NULL AND sender = ? ORDER BY number DESC LIMIT 1 OFFSET ?")
    query.put(sender)
    query.put(history.tokens - 1)
    return try query.step() ? query.number(at: 0) : .min
  }

  private func forgetEvents(
    _ database: Database, _ ledger: inout Ledger, _ piece: Int64, isIdle: Bool
  ) throws(StoreError) -> Bool {
    let end = min(ledger.firstEvent + piece, ledger.lastEvent + 1)
    let first = max(ledger.firstEvent, min(ledger.lastEvent - history.events + 1, end))
    let present = try firstPresentEvent(database, from: first, to: isIdle ? ledger.lastEvent + 1 : end)
    let wanted = try firstEventBehindOld(database, from: first, to: present)
    let kept = min(end, wanted)
    if kept > ledger.firstEvent { try database.run("DELETE FROM event WHERE sequence < ?", kept) }
    ledger.firstEvent = kept
    return kept == wanted
  }

  /// The first event of a range that is neither too old nor, by a wrong clock, in the future; the end of the range if there is none.
  private func firstPresentEvent(_ database: Database, from first: Int64, to end: Int64) throws(StoreError) -> Int64 {
    var query = try database.query(
      """
      SELECT sequence FROM event WHERE sequence >= ? AND sequence < ? AND instant >= ? AND instant <= ?
        ORDER BY sequence LIMIT 1
      """)
    query.put(first)
    query.put(end)
    query.put(horizon)
    query.put(now)
    return try query.step() ? query.number(at: 0) : end
  }

  /// The event behind the last of a range that is too old; the first of the range if none is.
  private func firstEventBehindOld(_ database: Database, from first: Int64, to end: Int64) throws(StoreError) -> Int64 {
    if first >= end { return first }
    var query = try database.query(
      "SELECT sequence FROM event WHERE sequence >= ? AND sequence < ? AND instant < ? ORDER BY sequence DESC LIMIT 1")
    query.put(first)
    query.put(end)
    query.put(horizon)
    return try query.step() ? query.number(at: 0) + 1 : first
  }
}
