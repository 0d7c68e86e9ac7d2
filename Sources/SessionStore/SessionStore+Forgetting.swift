import SceneModel

/// History is bounded, and forgotten in small parts: at once never more rows than a few times a batch.
extension SessionStore {
  /// - Returns: Whether nothing that is too old is left.
  func forget(_ database: Database, _ ledger: inout Ledger, isIdle: Bool) throws(StoreError) -> Bool {
    // More than the batch can have added, so that the excess decreases even after the limits were lowered.
    let piece = Int64(2 * tail.count + 64)
    let areDeliveriesDone = try forgetDeliveries(database, piece, isIdle: isIdle)
    return try forgetEvents(database, &ledger, piece, isIdle: isIdle) && areDeliveriesDone
  }

  /// Whether nothing that a delivery carries is kept. Its host may open contents for some minutes, and only for a delivery that is known.
  private static let isEmptyHanded = "NOT EXISTS (SELECT 1 FROM baggage WHERE baggage.delivery = delivery.identifier)"

  /// The time before which records are too old.
  private var horizon: Int64 {
    let (horizon, isBeforeTime) = now.microseconds.subtractingReportingOverflow(history.age)
    return isBeforeTime ? .min : horizon
  }

  /// Forgets deliveries that are over, the oldest first. It does not look at the open ones, of which there may be fifty thousand.
  private func forgetDeliveries(_ database: Database, _ piece: Int64, isIdle: Bool) throws(StoreError) -> Bool {
    let over = try database.number("SELECT count(*) FROM delivery INDEXED BY delivery_over WHERE NOT is_open") ?? 0
    let excess = min(max(0, over - history.deliveries), piece)
    let oldest = excess > 0 ? try oldestDeliveries(excess, database) : []
    try remove(oldest, database)
    return try forgetOldDeliveries(database, atMost: piece - Int64(oldest.count), isIdle: isIdle)
  }

  private func remove(_ deliveries: [Int64], _ database: Database) throws(StoreError) {
    if deliveries.isEmpty { return }
    var remove = try database.query("DELETE FROM delivery WHERE number = ?")
    for number in deliveries {
      remove.put(number)
      try remove.run()
    }
  }

  /// The oldest are in front, so a busy service looks at a few, and at more only if all of these are too old. After the clock was set back, newer ones
  /// may stand in front: the idle service looks at more, and behind all that are still in the future.
  private func forgetOldDeliveries(_ database: Database, atMost limit: Int64, isIdle: Bool) throws(StoreError) -> Bool {
    var (last, left) = (Int64.min, limit)
    while left > 0 {
      let page = isIdle ? limit : min(left, 64)
      var (old, count, isEnd): ([Int64], Int64, Bool) = ([], 0, false)
      var find = try database.query(
        """
        SELECT number, created, \(StoredDelivery.privacy) FROM delivery INDEXED BY delivery_over
          WHERE NOT is_open AND number > ? AND \(SessionStore.isEmptyHanded) ORDER BY number LIMIT ?
        """)
      find.put(last)
      find.put(page)
      while try find.step() {
        let created = find.number(at: 1)
        (last, count) = (find.number(at: 0), count + 1)
        if created < horizon {
          old.append(last)
          if find.number(at: 2) != 0 { try database.overwriteDeleted(true) }
        } else if !isIdle || created <= now.microseconds {
          isEnd = true
        }
      }
      try remove(old, database)
      left -= Int64(old.count)
      if isEnd || count < page { return true }
    }
    return false
  }

  /// The oldest deliveries that are over, except the newest of each sender with a token.
  private func oldestDeliveries(_ count: Int64, _ database: Database) throws(StoreError) -> [Int64] {
    var oldest: [Int64] = []
    var firstKept: [Text: Int64] = [:]
    var query = try database.query(
      """
      SELECT number, token IS NOT NULL, \(StoredDelivery.privacy), sender FROM delivery INDEXED BY delivery_over
        WHERE NOT is_open AND \(SessionStore.isEmptyHanded) ORDER BY number
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
