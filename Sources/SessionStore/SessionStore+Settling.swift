package import SceneModel

extension SessionStore {
  /// How many entries only the log has.
  package var unsettledCount: Int { tail.count }

  /// Writes what only the log has to its rows, and forgets what history need not keep. `commit` does it when there is
  /// enough; an owner who has nothing else to do may do it before. Nobody's answer depends on it.
  package func settle() throws(StoreError) {
    if tail.count > 0 || !unreadable.isEmpty { _ = try write() }
  }

  /// Answers whether nothing is left to do.
  private func write() throws(StoreError) -> Bool {
    let database = try database()
    // The file was looked through just now, or before: it is set aside as it is.
    if let damage { throw damage }
    var (settled, isDone) = (ledger, true)
    // What is written behind needs no fsync of its own: the log has it, and the next commit's takes it along.
    if durability == .full { OpenedFile.setSynchronous(database, isFull: false) }
    do throws(StoreError) {
      try database.transaction { () throws(StoreError) in
        if tail.hasPrivate { try database.overwriteDeleted(true) }
        try tail.writeSessions(database)
        try tail.writeDeliveries(database, &settled, at: now)
        isDone = try emptySpent(database)
        try tail.writeEvents(database)
        try tail.writePreferences(database)
        try tail.writeOwed(database)
        try tail.writeBaggage(database)
        settled.lastEvent = Int64(lastEventSequence)
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
    // Pages with what was private a moment ago may stand in the log since they were written to rows.
    logHasPrivate = logHasPrivate || database.overwritesDeleted
    try? database.overwriteDeleted(false)
    noteFrames(database)
    ledger = settled
    tail = Tail()
    unreadable = []
    settlesAt = SessionStore.batch
    try checkpointIfLong(database)
    database.releaseMemory()
    return isDone
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

  /// Frames of the write-ahead log, of 4 KiB, before they are moved into the file. Many of them are the same page,
  /// which is moved once; more of them would take longer to read after a crash.
  private static let longLog: Int64 = 1000

  private func checkpointIfLong(_ database: Database) throws(StoreError) {
    if database.framesInLog >= SessionStore.longLog { try checkpoint(database) }
  }

  /// For an owner who has nothing else to do: what only the log has goes to its rows, what is too old goes, and the file has everything.
  ///
  /// - Returns: whether nothing is left to do. Much that is over goes in pieces, so that nobody waits long: then another call does the next.
  @discardableResult
  package func rest(at now: Instant) throws(StoreError) -> Bool {
    self.now = max(self.now, now)
    let isDone = try write()
    // It is as large as the largest entry was, and a payload may be 16 MiB.
    body = LogBodyWriter()
    let database = try database()
    if database.framesInLog > 0 || logHasPrivate { try checkpoint(database, emptyingLog: true) }
    return isDone
  }

  private func checkpoint(_ database: Database, emptyingLog isEmptied: Bool = false) throws(StoreError) {
    // The log keeps its bytes until others are written over them, and its length.
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
