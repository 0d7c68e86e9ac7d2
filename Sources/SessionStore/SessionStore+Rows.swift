package import SceneModel

extension SessionStore {
  /// Writes the entries that only the log has to their rows, and forgets history beyond the limits. `commit` does this when there are enough entries;
  /// an idle owner may do it earlier. No answer depends on it.
  package func writeRows() throws(StoreError) {
    if tail.count > 0 || !unreadable.isEmpty { _ = try write() }
  }

  /// Returns whether nothing is left to do.
  private func write(isIdle: Bool = false) throws(StoreError) -> Bool {
    let database = try database()
    // The file was checked, just now or before: it is set aside as it is.
    if let damage { throw damage }
    var (settled, isDone) = (ledger, true)
    do throws(StoreError) {
      // These writes need no fsync of their own: the log has them, and the next commit's fsync includes them.
      if durability == .full { OpenedFile.setSynchronous(database, isFull: false) }
      defer { if durability == .full { OpenedFile.setSynchronous(database, isFull: true) } }
      try database.transaction { () throws(StoreError) in
        if tail.hasPrivate { try database.overwriteDeleted(true) }
        try tail.writeSessions(database)
        try tail.writeDeliveries(database, at: now)
        isDone = try emptySpent(database)
        try tail.writeEvents(database)
        try tail.writePreferences(database)
        try tail.writeOwed(database)
        try tail.writeBaggage(database)
        settled.lastEvent = Int64(lastEventSequence)
        isDone = try forget(database, &settled, isIdle: isIdle) && isDone
        try removeLog(database)
        settled.settled = position
        try settled.write(database)
      }
    } catch {
      failed(error, database)
      throw error
    }
    // Pages with private content of a moment ago may be in the log since they were written to rows.
    logHasPrivate = logHasPrivate || database.overwritesDeleted
    try? database.overwriteDeleted(false)
    noteFrames(database)
    ledger = settled
    tail = Tail()
    unreadable = []
    writesRowsAt = SessionStore.fullBatch
    try checkpointIfLong(database)
    database.releaseMemory()
    return isDone
  }

  /// Removes the entries that the rows have now. Entries that could not be read stay, each in a row of its own.
  private func removeLog(_ database: Database) throws(StoreError) {
    try database.run(SessionStore.removingLog, ledger.settled)
    for entry in unreadable { try addRow(entry.position, entry.kind, database) { $0.put(bytes: entry.body) } }
  }

  static let removingLog = "DELETE FROM log WHERE position > ?"

  /// The frames of the write-ahead log, of 4 KiB each, before they are moved into the file. Many of them are the same page, which is moved once; more
  /// of them would take longer to read after a crash.
  private static let longLog: Int64 = 1000

  private func checkpointIfLong(_ database: Database) throws(StoreError) {
    if database.framesInLog >= SessionStore.longLog { try checkpoint(database) }
  }

  /// For an idle owner: writes the entries that only the log has to their rows, forgets old history, and moves everything into the file.
  ///
  /// - Returns: Whether nothing is left to do. Much history is deleted in parts, so that nobody waits long; another call does the next part.
  @discardableResult
  package func rest(at now: Instant) throws(StoreError) -> Bool {
    self.now = now
    let isDone = try write(isIdle: true)
    directory?.keepReserve()
    // The body is as large as the largest row so far, and a payload may be 16 MiB.
    body = LogBodyWriter()
    let database = try database()
    if database.framesInLog > 0 || logHasPrivate { try checkpoint(database, emptyingLog: true) }
    return isDone
  }

  private func checkpoint(_ database: Database, emptyingLog isEmptied: Bool = false) throws(StoreError) {
    // The log keeps its length, and its bytes until others overwrite them.
    let isEmptied = isEmptied && (logHasPrivate || database.framesInLog > SessionStore.longLog)
    do throws(StoreError) {
      try database.checkpoint(emptyingLog: isEmptied)
      if isEmptied { logHasPrivate = false }
      acknowledgedFrames = database.framesInLog
    } catch {
      failed(error, database)
      throw error
    }
  }
}
