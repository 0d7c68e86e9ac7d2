package import SceneModel

extension SessionStore {
  /// Makes all of it so, or nothing.
  ///
  /// When it returns, the records are as safe as the durability says, and every read knows them. When it throws, none
  /// of them is there, and the next commit is tried like any other.
  ///
  /// - Parameter now: what is older than the history's age, seen from here, may be forgotten.
  package func commit(_ records: [Record], at now: Instant) throws(StoreError) {
    if records.isEmpty { return }
    if let damage { throw damage }
    let lastEvent = try checkEvents(of: records)
    let database = try database()
    try directory?.refuseWhereGone()
    let sizes: [Int]
    do throws(StoreError) {
      // Nobody will ever read a log that goes with the process.
      sizes = durability == .memory ? records.map(\.roughSize) : try log(records, database)
    } catch {
      failed(error, database)
      throw error
    }
    // Acknowledged from here on: nothing below may throw.
    noteFrames(database)
    for (record, size) in zip(records, sizes) {
      position += 1
      tail.apply(record, at: position, bytes: size)
    }
    logHasPrivate = logHasPrivate || tail.hasPrivate
    lastEventSequence = lastEvent
    self.now = max(self.now, now)
    if tail.count >= settlesAt || tail.bytes >= SessionStore.batchBytes { settleOrPutOff() }
  }

  /// How long the write-ahead log is after a transaction. One that wrote nothing tells nothing: on a connection that was just opened SQLite
  /// has counted none then, and the log may be full.
  func noteFrames(_ database: Database) {
    if database.framesInLog > 0 { acknowledgedFrames = database.framesInLog }
  }

  /// Answers how many bytes each of them has there.
  private func log(_ records: [Record], _ database: Database) throws(StoreError) -> [Int] {
    var sizes: [Int] = []
    sizes.reserveCapacity(records.count)
    try database.transaction { () throws(StoreError) in
      var query = try database.query("INSERT INTO log (position, kind, body) VALUES (?, ?, ?)")
      for (offset, record) in records.enumerated() {
        body.removeAll()
        record.put(into: &body)
        sizes.append(body.bytes.count)
        query.put(position + 1 + Int64(offset))
        query.put(record.kind.rawValue)
        query.put(bytes: body.bytes)
        try query.run()
      }
    }
    return sizes
  }

  /// Their numbers are what a watcher goes on from, so they go up by one, whoever asks. Answers the last.
  private func checkEvents(of records: [Record]) throws(StoreError) -> UInt64 {
    var last = lastEventSequence
    for case .event(let event) in records {
      guard event.sequence == last + 1, event.sequence < UInt64(Ledger.end) else {
        throw StoreError(.other, "event \(event.sequence) does not follow event \(last)")
      }
      last = event.sequence
    }
    return last
  }

  /// The records are in the log, and in memory. Where their rows cannot be written, that is tried again a batch later.
  private func settleOrPutOff() {
    do throws(StoreError) {
      try settle()
    } catch {
      settlesAt = tail.count + SessionStore.batch
    }
  }

  /// What an error means for the connection.
  func failed(_ error: StoreError, _ database: Database) {
    if error.leavesDoubt || database.isInTransaction {
      database.close()
      connection = .doubtful(error)
      // At once: the process may end before anyone asks again, and what was refused may stand in the write-ahead log.
      _ = try? mend(after: error)
    }
  }
}
