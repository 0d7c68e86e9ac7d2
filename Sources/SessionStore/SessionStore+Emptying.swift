import SceneModel

/// Which documents the row of a delivery has, as the file has it.
enum KeptDocuments: Int64 {
  case none
  /// What its session showed before, for a later delivery that may fail as well.
  case previous
  /// What is spent of these is looked at by the next batch.
  case all
}

/// What is over keeps its decision and the digest of its document. Its documents go: ten thousand deliveries may be kept for a week, of 16 MiB each.
extension SessionStore {
  private struct Spent {
    let number: Int64
    let isPrivate: Bool
    /// A later delivery may fail, and its session show again what this one found.
    let isNeeded: Bool
  }

  /// Empties the rows of deliveries that are spent, those that were spent first. A piece of them, so that nobody waits long for it; the rest follows
  /// with the next batch.
  ///
  /// - Returns: whether all of them are.
  func emptySpent(_ database: Database) throws(StoreError) -> Bool {
    // More than the batch can have added, so that what is left gets less.
    let (rows, pages) = (2 * tail.count + 64, 2 * Int64(tail.bytes) / Schema.pageSize + 1024)
    let spent = try findSpent(rows, database)
    if spent.isEmpty { return true }
    let before = try database.number("PRAGMA freelist_count") ?? 0
    for delivery in spent {
      // What is deleted in the database of a private delivery is overwritten, at the cost of writing each of its pages once more.
      if delivery.isPrivate { try database.overwriteDeleted(true) }
      for statement in delivery.isNeeded ? [SessionStore.emptyingPayload] : SessionStore.emptyingAll {
        var query = try database.query(statement)
        query.put(delivery.number)
        try query.run()
      }
      if try database.number("PRAGMA freelist_count") ?? 0 >= before + pages { break }
    }
    // What the last of these stood on may have to be looked at now.
    return false
  }

  private func findSpent(_ limit: Int, _ database: Database) throws(StoreError) -> [Spent] {
    var spent: [Spent] = []
    var query = try database.query(SessionStore.findingSpent)
    query.put(now)
    query.put(Int64(limit))
    while try query.step() {
      spent.append(
        Spent(number: query.number(at: 0), isPrivate: query.number(at: 1) != 0, isNeeded: query.number(at: 2) != 0))
    }
    return spent
  }

  /// As `StoredDelivery.isSpent` has it, and as the index has it.
  private static let findingSpent = """
    SELECT number, is_private, state IN ('failed', 'cancelled') AND EXISTS (
        SELECT 1 FROM delivery AS later INDEXED BY delivery_standing
          WHERE later.previous_by = delivery.identifier AND later.identifier <> delivery.identifier
            AND later.previous_by IS NOT NULL AND later.documents > 0)
      FROM delivery INDEXED BY delivery_unspent
      WHERE NOT is_open AND documents = 2 AND iif(state = 'handled', deadline, -9223372036854775808) < ?
      ORDER BY iif(state = 'handled', deadline, -9223372036854775808) LIMIT ?
    """

  private static let emptyingPayload = "UPDATE delivery SET payload = '', documents = 1 WHERE number = ?"

  private static let emptyingAll = [
    """
    UPDATE delivery SET payload = '', previous_activity = NULL, previous_content = '', previous_title = '', documents = 0
      WHERE number = ?
    """,
    // What it stood on may be needed no more: the next batch looks.
    """
    UPDATE delivery SET documents = 2
      WHERE documents = 1 AND identifier = (SELECT previous_by FROM delivery WHERE number = ?)
    """,
  ]
}
