package import SceneModel

extension SessionStore {
  /// Stores all records, or none.
  ///
  /// When it returns, the records are as safe as the durability promises, and every read sees them. When it throws, none of them is stored, and the
  /// next commit is tried like any other.
  ///
  /// - Parameter now: The present time. Records older than the history's age may be forgotten.
  package func commit(_ records: [Record], at now: Instant) throws(StoreError) {
    if records.isEmpty { return }
    if let damage { throw damage }
    let lastEvent = try checkEvents(of: records)
    var sizes: [Int]?
    do throws(StoreError) {
      sizes = try log(records)
    } catch {
      let mayUseReserve = error.kind == .full && records.contains(where: \.freesSpace)
      guard mayUseReserve, directory?.giveUpReserve() ?? false else { throw error }
      return try commit(records, at: now)
    }
    // Acknowledged from here on: no code below may throw.
    for (place, record) in records.enumerated() {
      position += 1
      tail.apply(record, at: position, bytes: sizes?[place] ?? record.roughSize)
    }
    logHasPrivate = logHasPrivate || tail.hasPrivate
    lastEventSequence = lastEvent
    self.now = now
    if tail.count >= writesRowsAt.count || tail.bytes >= writesRowsAt.bytes { writeRowsOrPutOff() }
  }

  /// The length of the write-ahead log after a transaction. A transaction that wrote nothing gives no length: on a connection that was just opened
  /// SQLite has counted none yet, and the log may be full.
  func noteFrames(_ database: Database) {
    guard database.framesInLog > 0 else { return }
    acknowledgedFrames = database.framesInLog
    logIsNew = false
  }

  /// Returns the bytes of each entry; `nil` in memory: nobody will ever read a log that ends with the process.
  private func log(_ records: [Record]) throws(StoreError) -> [Int]? {
    let database = try database()
    if durability == .memory { return nil }
    try directory?.refuseWhereGone()
    do throws(StoreError) {
      let sizes = try log(records, database)
      noteFrames(database)
      return sizes
    } catch {
      failed(error, database)
      throw error
    }
  }

  /// Returns the bytes of each entry. Short entries share a row, and one statement is a transaction. Long entries have a row each.
  private func log(_ records: [Record], _ database: Database) throws(StoreError) -> [Int] {
    if logIsNew {
      try database.beginLog(schema.version)
      logIsNew = false
    }
    if records.count == 1 { return [try log(records[0], at: position + 1, database)] }
    body.removeAll()
    var sizes: [Int] = []
    sizes.reserveCapacity(records.count)
    for record in records where body.bytes.count <= SessionStore.longRow { sizes.append(body.put(record)) }
    if body.bytes.count <= SessionStore.longRow {
      let last = position + Int64(records.count)
      try addRow(last, LogEntry.several, database) { $0.put(bytes: body.bytes) }
      return sizes
    }
    sizes.removeAll()
    try database.transaction { () throws(StoreError) in
      for (record, place) in zip(records, (position + 1)...) { sizes.append(try log(record, at: place, database)) }
    }
    return sizes
  }

  private static let longRow = 1 << 20

  private func log(_ record: Record, at position: Int64, _ database: Database) throws(StoreError) -> Int {
    body.removeAll()
    record.put(into: &body)
    try addRow(position, record.kind.rawValue, database) { $0.put(bytes: body.bytes) }
    return body.bytes.count
  }

  func addRow(
    _ position: Int64, _ kind: Int64, _ database: Database, putBody: (inout Query) -> Void
  ) throws(StoreError) {
    var query = try database.query("INSERT INTO log (position, kind, body) VALUES (?, ?, ?)")
    query.put(position)
    query.put(kind)
    putBody(&query)
    try query.run()
  }

  /// Watchers continue from these numbers, so the numbers increase by one. Returns the last.
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

  /// The records are in the log and in memory. If their rows cannot be written, a later batch tries again.
  private func writeRowsOrPutOff() {
    do throws(StoreError) {
      try writeRows()
    } catch {
      writesRowsAt = (tail.count + SessionStore.batch, tail.bytes + SessionStore.batchBytes)
    }
  }

  /// The consequence of an error for the connection.
  func failed(_ error: StoreError, _ database: Database) {
    if error.leavesDoubt || database.isInTransaction {
      database.close()
      connection = .doubtful(error)
      // At once: the process may end before anyone asks again, and the refused transaction may stand in the write-ahead log.
      _ = try? mend(after: error)
    }
  }
}

extension Record {
  /// Whether the files of contents go when it is stored. On a full disk nothing else would make space.
  fileprivate var freesSpace: Bool { if case .baggageReleased = self { true } else { false } }
}
