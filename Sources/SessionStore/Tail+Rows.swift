import SceneModel

/// Writes the tail to rows.
extension Tail {
  // MARK: Sessions

  func writeSessions(_ database: Database) throws(StoreError) {
    // In the order of the index, so that each of its pages is read once.
    for (identifier, change) in sessions.sorted(by: { $0.key < $1.key }) {
      switch change {
      case .whole(let session): try Tail.write(session, database)
      case .activated(let activation): try Tail.write(activation, database)
      case .gone: try Tail.removeSession(identifier, database)
      }
    }
  }

  private static func write(_ session: Session, _ database: Database) throws(StoreError) {
    // Most changed sessions exist, and usually their keys have not changed.
    guard let row = try SessionKeys.Row(of: session, database) else {
      try removeSession(session.identifier, database)
      var insert = try database.query(addingSession)
      session.put(into: &insert)
      insert.put(session.shownKey)
      try insert.run()
      try SessionKeys.addConditions(of: session, database)
      return
    }
    if row.isPrivate { try database.overwriteDeleted(true) }
    var update = try database.query(changingSession)
    session.putChanging(into: &update)
    update.put(row.number)
    try update.run()
    try row.file(session, database)
  }

  private static func removeSession(_ identifier: UniqueIdentifier, _ database: Database) throws(StoreError) {
    try database.run(SessionKeys.removingConditions, identifier)
    try database.run("DELETE FROM session WHERE identifier = ?", identifier)
  }

  private static func write(_ activation: SessionActivation, _ database: Database) throws(StoreError) {
    if activation.showsTheSame {
      var query = try database.query(bringingSession)
      query.put(activation.instant)
      query.put(activation.shownBy)
      query.put(activation.session)
      return try query.run()
    }
    var query = try database.query(activatingSession)
    let flag = SessionFlags.isPrivate.rawValue
    query.put(activation.instant)
    query.put(activation.userActivity)
    query.put(activation.openedContent)
    query.put(activation.title)
    query.put(activation.shownBy)
    query.put(activation.isPrivate.map { _ in flag })
    query.put(activation.isPrivate.map { $0 ? flag : 0 })
    query.put(activation.session)
    try query.run()
    try SessionKeys.file(activation, database)
  }

  private static let addingSession =
    "INSERT INTO session (\(Session.columns), shown_key) VALUES (\(places(for: Session.columns)), ?)"

  private static let changingSession = """
    UPDATE session SET role = ?, configuration = ?, state = ?, flags = ?, last_activated = ?, title = ?,
      user_activity = ?, restoration_activity = ?, opened_content = ?, user_info = ?, can_activate = ?,
      prefers_to_activate = ?, shown_by = ? WHERE number = ?
    """

  private static let bringingSession =
    "UPDATE session SET last_activated = ?, shown_by = ifnull(?, shown_by) WHERE identifier = ?"

  /// A NULL leaves the old value. The flag is taken out and put in again.
  private static let activatingSession = """
    UPDATE session SET last_activated = ?, user_activity = ifnull(?, user_activity),
      opened_content = ifnull(?, opened_content), title = ifnull(?, title), shown_by = ifnull(?, shown_by),
      flags = flags & ~ifnull(?, 0) | ifnull(?, 0) WHERE identifier = ?
    """

  // MARK: Deliveries

  func writeDeliveries(_ database: Database, at now: Instant) throws(StoreError) {
    var added: [(number: Int64, identifier: UniqueIdentifier)] = []
    for (identifier, change) in deliveries {
      switch change {
      case .whole(_, let number): added.append((number, identifier))
      case .changed(let progress, let previous):
        // The whole row is written anew, and the pages of its documents are released.
        if try Tail.isPrivate(Tail.findingPrivateDelivery, identifier, database) { try database.overwriteDeleted(true) }
        var query = try database.query(Tail.changingDelivery)
        progress.put(into: &query)
        progress.putEnd(into: &query)
        query.put(progress.deadline?.microseconds)
        query.put(identifier)
        try query.run()
        if let previous { try Tail.write(previous, of: identifier, database) }
      }
    }
    // In order, so that they share pages. The names are sorted, because the deliveries themselves are large.
    added.sort { $0.number < $1.number }
    try Tail.addingDeliveries.add(added, to: database) { (one, query) throws(StoreError) in
      guard case .whole(var delivery, _) = deliveries[one.identifier] else {
        preconditionFailure("a delivery that is added is whole")
      }
      let isSpent = delivery.isSpent(at: now)
      if isSpent { delivery.forgetDocuments() }
      let documents: KeptDocuments = isSpent && !delivery.cameToNothing ? .none : .all
      query.put(one.number)
      query.put(documents.rawValue)
      delivery.put(into: &query)
    } removing: { (one) throws(StoreError) in
      try database.run("DELETE FROM delivery WHERE identifier = ?", one.identifier)
    }
  }

  private static let findingPrivateDelivery = "SELECT \(StoredDelivery.privacy) FROM delivery WHERE identifier = ?"

  private static let addingDeliveries = Adding("delivery", "number, documents, \(StoredDelivery.columns)")

  private static let changingDelivery = """
    UPDATE delivery SET state = ?, is_open = ?, session = ?, outcome = ?, attempt = ?, departures = ?, error = ?,
      message = ?, ended = ?, deadline = ifnull(?, deadline), documents = \(KeptDocuments.all.rawValue) WHERE identifier = ?
    """

  private static func write(
    _ previous: PreviouslyShown, of delivery: UniqueIdentifier, _ database: Database
  ) throws(StoreError) {
    try database.run(releasingPrevious, delivery)
    var query = try database.query(changingPrevious)
    previous.put(into: &query)
    query.put(delivery)
    try query.run()
  }

  /// The delivery before it may be looked at again.
  private static let releasingPrevious = """
    UPDATE delivery SET documents = \(KeptDocuments.all.rawValue) WHERE documents = \(KeptDocuments.previous.rawValue)
      AND identifier = (SELECT previous_by FROM delivery WHERE identifier = ?)
    """

  private static let changingPrevious =
    "UPDATE delivery SET (\(PreviouslyShown.columns)) = (\(places(for: PreviouslyShown.columns))) WHERE identifier = ?"

  // MARK: Baggage

  func writeBaggage(_ database: Database) throws(StoreError) {
    var added: [KeptBaggage] = []
    for (delivery, kept) in baggage {
      // Removes an existing row: new contents replace it.
      if try Tail.isPrivate(Tail.findingPrivateBaggage, delivery, database) { try database.overwriteDeleted(true) }
      try database.run("DELETE FROM baggage WHERE delivery = ?", delivery)
      if let kept { added.append(kept) }
    }
    added.sort { $0.number < $1.number }
    for kept in added {
      var query = try database.query(Tail.addingBaggage)
      query.put(kept.number)
      query.put(Int64(kept.baggage.keptBytes))
      kept.baggage.put(into: &query)
      try query.run()
    }
  }

  private static let findingPrivateBaggage = "SELECT is_private FROM baggage WHERE delivery = ?"

  private static let addingBaggage =
    "INSERT INTO baggage (number, bytes, \(Baggage.columns)) VALUES (?, ?, \(places(for: Baggage.columns)))"

  // MARK: The rest

  func writeEvents(_ database: Database) throws(StoreError) {
    try Tail.addingEvents.add(events, to: database) { (event, query) in
      event.put(into: &query)
    } removing: { (event) throws(StoreError) in
      try database.run("DELETE FROM event WHERE sequence = ?", Int64(event.sequence))
    }
  }

  private static let addingEvents = Adding("event", StoredEvent.columns)

  func writePreferences(_ database: Database) throws(StoreError) {
    for (type, application) in preferences {
      var query = try database.query(
        application == nil
          ? "DELETE FROM preference WHERE type = ?"
          : "INSERT OR REPLACE INTO preference (type, application) VALUES (?, ?)")
      query.put(type)
      if let application { query.put(application) }
      try query.run()
    }
  }

  func writeOwed(_ database: Database) throws(StoreError) {
    for (key, number) in owed {
      var query = try database.query(
        number == nil
          ? "DELETE FROM owed WHERE application = ? AND session = ?"
          : Tail.addingOwed)
      query.put(key.application)
      query.put(key.session)
      if let number { query.put(number) }
      try query.run()
    }
  }

  // Not `OR REPLACE`, which would remove the existing row without its trigger.
  private static let addingOwed = """
    INSERT INTO owed (application, session, number) VALUES (?, ?, ?)
      ON CONFLICT (application, session) DO UPDATE SET number = excluded.number
    """

  private static func isPrivate(
    _ sql: String, _ identifier: UniqueIdentifier, _ database: Database
  ) throws(StoreError) -> Bool {
    var query = try database.query(sql)
    query.put(identifier)
    return try query.step() && query.number(at: 0) != 0
  }

  /// A question mark for each column.
  fileprivate static func places(for columns: String) -> String {
    columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
  }
}

/// Adds rows to a table, several with one statement: SQLite opens the table and its indexes once for each statement, which takes as long as adding a
/// row.
private struct Adding {
  private static let rowsAtOnce = 8
  private let one: String
  private let several: String

  init(_ table: String, _ columns: String) {
    let row = "(\(Tail.places(for: columns)))"
    one = "INSERT OR IGNORE INTO \(table) (\(columns)) VALUES \(row)"
    several = one + String(repeating: ", \(row)", count: Adding.rowsAtOnce - 1)
  }

  /// - Parameter remove: Removes the row that is there already.
  func add<Row>(
    _ rows: [Row], to database: Database, put: (Row, inout Query) throws(StoreError) -> Void,
    removing remove: (Row) throws(StoreError) -> Void
  ) throws(StoreError) {
    var rest = rows[...]
    while !rest.isEmpty {
      let next = rest.prefix(rest.count < Adding.rowsAtOnce ? 1 : Adding.rowsAtOnce)
      rest = rest.dropFirst(next.count)
      try add(next, to: database, put)
      // A row hardly ever exists, so its existence is not checked first.
      if database.changes == next.count { continue }
      for row in next { try remove(row) }
      try add(next, to: database, put)
    }
  }

  private func add<Row>(
    _ rows: ArraySlice<Row>, to database: Database, _ put: (Row, inout Query) throws(StoreError) -> Void
  ) throws(StoreError) {
    var query = try database.query(rows.count == 1 ? one : several)
    for row in rows { try put(row, &query) }
    try query.run()
  }
}
