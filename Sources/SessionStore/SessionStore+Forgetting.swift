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

  /// Those that are over, the oldest first. The others are somebody's still, and there are few.
  private func forgetDeliveries(
    _ database: Database, _ ledger: inout Ledger, _ piece: Int64
  ) throws(StoreError) {
    let open = try database.number("SELECT count(*) FROM delivery WHERE is_open") ?? 0
    let excess = min(max(0, ledger.deliveries - open - history.deliveries), piece)
    if excess > 0 {
      var query = try database.query(
        "DELETE FROM delivery WHERE number IN (SELECT number FROM delivery WHERE NOT is_open ORDER BY number LIMIT ?)")
      query.put(excess)
      try query.run()
      ledger.deliveries -= database.changes
    }
    var query = try database.query(
      """
      DELETE FROM delivery WHERE created < ? AND number IN
        (SELECT number FROM delivery WHERE NOT is_open ORDER BY number LIMIT ?)
      """)
    query.put(horizon)
    query.put(piece - excess)
    try query.run()
    ledger.deliveries -= database.changes
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
