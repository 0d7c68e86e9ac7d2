import SceneModel

extension SessionStore {
  /// Writes what only the log has to its rows, and forgets what history need not keep. `commit` does it when there is enough; an
  /// owner who has nothing else to do may do it before. Nobody's answer depends on it.
  package func settle() throws(StoreError) {
    if tail.count == 0, unreadable.isEmpty { return }
    let database = try database()
    var settled = ledger
    // What is written behind needs no fsync of its own: the log has it, and the next commit's takes it along.
    if durability == .full { OpenedFile.setSynchronous(database, isFull: false) }
    do throws(StoreError) {
      try database.transaction { () throws(StoreError) in
        try writeSessions(database, &settled)
        try writeDeliveries(database, &settled)
        try writeEvents(database, &settled)
        try writePreferences(database)
        try writeOwed(database)
        try forget(database, &settled)
        try removeLog(database)
        settled.settled = position
        try settled.write(database)
      }
    } catch {
      if durability == .full { OpenedFile.setSynchronous(database, isFull: true) }
      failed(error, database)
      throw error
    }
    if durability == .full { OpenedFile.setSynchronous(database, isFull: true) }
    acknowledgedFrames = database.framesInLog
    ledger = settled
    tail = Tail()
    unreadable = []
    settlesAt = SessionStore.batch
    try checkpointIfLong(database)
    database.releaseMemory()
  }

  /// Frames of the write-ahead log, of 4 KiB, before they are moved into the file. Many of them are the same page, which is moved
  /// once; more of them would take longer to read after a crash.
  private static let longLog: Int64 = 1000

  private func checkpointIfLong(_ database: Database) throws(StoreError) {
    if database.framesInLog < SessionStore.longLog { return }
    do throws(StoreError) {
      try database.checkpoint()
      acknowledgedFrames = database.framesInLog
    } catch {
      failed(error, database)
      throw error
    }
  }

  // MARK: Rows

  private func writeSessions(_ database: Database, _ ledger: inout Ledger) throws(StoreError) {
    for (identifier, change) in tail.sessions {
      switch change {
      case .whole(let session): try write(session, database, &ledger)
      case .activated(let activation):
        // What is NULL stays; the flag is taken out and put in again.
        var query = try database.query(
          """
          UPDATE session SET last_activated = ?, user_activity = ifnull(?, user_activity),
            opened_content = ifnull(?, opened_content),
            flags = flags & ~ifnull(?, 0) | ifnull(?, 0) WHERE identifier = ?
          """)
        let flag = SessionFlags.isPrivate.rawValue
        query.put(activation.instant)
        query.put(activation.userActivity)
        query.put(activation.openedContent)
        query.put(activation.isPrivate.map { _ in flag })
        query.put(activation.isPrivate.map { $0 ? flag : 0 })
        query.put(identifier)
        try query.run()
      case .gone: ledger.sessions -= try delete("session", identifier, database)
      }
    }
  }

  private func write(_ session: Session, _ database: Database, _ ledger: inout Ledger) throws(StoreError) {
    // Most of those that changed are there, and no index has what can change.
    var update = try database.query(
      """
      UPDATE session SET role = ?, configuration = ?, state = ?, flags = ?, last_activated = ?, title = ?,
        user_activity = ?, restoration_activity = ?, opened_content = ?, user_info = ?, can_activate = ?,
        prefers_to_activate = ? WHERE identifier = ? AND application = ? AND created = ?
      """)
    session.putChanging(into: &update)
    update.put(session.identifier)
    update.put(session.application)
    update.put(session.created)
    try update.run()
    if database.changes > 0 { return }
    ledger.sessions -= try delete("session", session.identifier, database)
    var insert = try database.query(
      "INSERT INTO session (\(Session.columns)) VALUES (\(SessionStore.parameters(of: Session.columns)))")
    session.put(into: &insert)
    try insert.run()
    ledger.sessions += 1
  }

  private func writeDeliveries(_ database: Database, _ ledger: inout Ledger) throws(StoreError) {
    for (identifier, change) in tail.deliveries {
      switch change {
      case .whole(let delivery, let number):
        ledger.deliveries -= try delete("delivery", identifier, database)
        let columns = "number, \(StoredDelivery.columns)"
        var query = try database.query(
          "INSERT INTO delivery (\(columns)) VALUES (\(SessionStore.parameters(of: columns)))")
        query.put(number)
        delivery.put(into: &query)
        try query.run()
        ledger.deliveries += 1
      case .progress(let progress):
        var query = try database.query(
          """
          UPDATE delivery SET state = ?, is_open = ?, session = ?, outcome = ?, attempt = ?, departures = ?, error = ?,
            message = ? WHERE identifier = ?
          """)
        progress.put(into: &query)
        query.put(identifier)
        try query.run()
      }
    }
  }

  private func writeEvents(_ database: Database, _ ledger: inout Ledger) throws(StoreError) {
    for event in tail.events {
      var query = try database.query("INSERT OR REPLACE INTO event (\(StoredEvent.columns)) VALUES (?, ?, ?, ?, ?)")
      event.put(into: &query)
      try query.run()
    }
    ledger.lastEvent = Int64(lastEventSequence)
  }

  private func writePreferences(_ database: Database) throws(StoreError) {
    for (type, application) in tail.preferences {
      var query = try database.query(
        application == nil
          ? "DELETE FROM preference WHERE type = ?"
          : "INSERT OR REPLACE INTO preference (type, application) VALUES (?, ?)")
      query.put(type)
      if let application { query.put(application) }
      try query.run()
    }
  }

  private func writeOwed(_ database: Database) throws(StoreError) {
    for (key, number) in tail.owed {
      var query = try database.query(
        number == nil
          ? "DELETE FROM owed WHERE application = ? AND session = ?"
          : "INSERT OR REPLACE INTO owed (application, session, number) VALUES (?, ?, ?)")
      query.put(key.application)
      query.put(key.session)
      if let number { query.put(number) }
      try query.run()
    }
  }

  // MARK: Statements

  private func delete(
    _ table: String, _ identifier: UniqueIdentifier, _ database: Database
  ) throws(StoreError) -> Int64 {
    var query = try database.query("DELETE FROM \(table) WHERE identifier = ?")
    query.put(identifier)
    try query.run()
    return database.changes
  }

  private static func parameters(of columns: String) -> String {
    columns.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
  }

  /// What rows have now; what nobody could read stays for whoever can.
  private func removeLog(_ database: Database) throws(StoreError) {
    var from = ledger.settled
    for to in unreadable + [position + 1] {
      var query = try database.query("DELETE FROM log WHERE position > ? AND position < ?")
      query.put(from)
      query.put(to)
      try query.run()
      from = to
    }
  }
}
