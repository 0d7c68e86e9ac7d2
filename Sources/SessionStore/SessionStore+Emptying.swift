package import SceneModel

/// The documents in the row of a delivery, as the file records them.
enum KeptDocuments: Int64 {
  case none
  /// The previous content of its session, for a later delivery that may fail as well.
  case previous
  /// All documents; the next batch decides which are spent.
  case all
}

/// A delivery that is over keeps its decision and the digest of its document, and loses its documents: ten thousand deliveries may be kept for a
/// week, with 16 MiB each.
extension SessionStore {
  private struct Spent {
    let number: Int64
    let isPrivate: Bool
    /// Whether a later delivery may fail, so that its session shows the content before this one again.
    let isNeeded: Bool
  }

  /// Empties the rows of spent deliveries, in the order in which they were spent. It empties a part of them, so that nobody waits long; the others
  /// follow with the next batch.
  ///
  /// - Returns: Whether all of them are empty.
  func emptySpent(_ database: Database) throws(StoreError) -> Bool {
    // More than the batch can have added, so that the rest decreases.
    let (rows, pages) = (2 * tail.count + 64, 2 * Int64(tail.bytes) / Schema.pageSize + 1024)
    let spent = try findSpent(rows, database)
    if spent.isEmpty { return true }
    let before = try database.number("PRAGMA freelist_count") ?? 0
    for delivery in spent {
      // Bytes of a private delivery that are deleted in the database are overwritten, which writes each of its pages once more.
      if delivery.isPrivate { try database.overwriteDeleted(true) }
      for statement in delivery.isNeeded ? [SessionStore.emptyingPayload] : SessionStore.emptyingAll {
        try database.run(statement, delivery.number)
      }
      if try database.number("PRAGMA freelist_count") ?? 0 >= before + pages { break }
    }
    // The deliveries before the last of these may have to be looked at now.
    return false
  }

  /// The time after which the next delivery that was handled is spent; `nil` if none keeps its documents.
  package func nextSpent() throws(StoreError) -> Instant? {
    var query = try database().query(
      """
      SELECT deadline FROM delivery INDEXED BY delivery_unspent WHERE NOT is_open AND documents = 2 AND state = 'handled'
        ORDER BY iif(state = 'handled', deadline, -9223372036854775808) LIMIT 1
      """)
    return try query.step() ? Instant(microseconds: query.number(at: 0)) : nil
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

  /// The same condition as `StoredDelivery.isSpent`, and as the index.
  private static let findingSpent = """
    SELECT number, \(StoredDelivery.privacy), state IN ('failed', 'cancelled') AND EXISTS (
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
    // The delivery before it may no longer be needed: the next batch looks.
    """
    UPDATE delivery SET documents = 2
      WHERE documents = 1 AND identifier = (SELECT previous_by FROM delivery WHERE number = ?)
    """,
  ]
}
