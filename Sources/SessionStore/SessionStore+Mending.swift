extension SessionStore {
  /// Repairs the connection after an error that leaves doubt: no refused change may be found later, no acknowledged change may be lost, and a
  /// repeated fsync may not be believed.
  ///
  /// So the connection is closed without touching the files. The write-ahead log is cut after the last successful transaction, and written anew. Then the
  /// file is opened again, and compared with the known state.
  func mend(after error: StoreError) throws(StoreError) -> Database {
    guard let directory else { throw error }
    do throws(StoreError) {
      try directory.mendWriteAheadLog(length: acknowledgedFrames.map(SessionStore.lengthOfLog))
      let opened = try OpenedFile(directory, durability, schema, rules)
      if acknowledgedFrames == nil, opened.position > position { try cut(opened.database) }
      try takeOver(opened, directory)
      return opened.database
    } catch {
      guard error.kind == .corrupt else { throw error }
      // The file was checked.
      if directory.isDoubted { return try goOnDamaged(directory) }
      directory.rememberDoubt()
      throw error
    }
  }

  /// SQLite has called the file corrupt. The disk or the way from it may have caused one wrong read, so nothing in memory is trusted: the file is
  /// opened anew and checked. If it is intact, everything continues.
  func lookAgain(_ database: Database) throws(StoreError) -> Database {
    guard let directory else { return database }
    // Before anything else, because the process may end during the check.
    directory.rememberDoubt()
    database.close()
    let error = StoreError(.io, "\(directory.file): could not be read as it was written")
    connection = .doubtful(error)
    return try mend(after: error)
  }

  /// The file was checked and is damaged. The store answers what it can read until the next start sets the file aside. It takes no more records,
  /// which would be set aside too.
  private func goOnDamaged(_ directory: StoreDirectory) throws(StoreError) -> Database {
    let damage = StoreError(
      .corrupt,
      "\(directory.file): is damaged, and takes nothing more: it is set aside when stagedoord is started again")
    self.damage = damage
    guard let opened = try? OpenedFile(directory, durability, schema, rules, looksThrough: false) else { throw damage }
    connection = .open(opened.database)
    return opened.database
  }

  /// A header of 32 bytes, and for each frame a header of 24 bytes and a page.
  private static func lengthOfLog(_ frames: Int64) -> Int64 { frames == 0 ? 0 : 32 + frames * (24 + Schema.pageSize) }

  /// If the length of the write-ahead log was unknown, the refused entries are removed by their numbers.
  private func cut(_ database: Database) throws(StoreError) {
    try database.transaction { () throws(StoreError) in try database.run(SessionStore.removingLog, position) }
  }

  private func takeOver(_ opened: OpenedFile, _ directory: StoreDirectory) throws(StoreError) {
    let last = try opened.database.number("SELECT max(position) FROM log") ?? 0
    if max(last, opened.ledger.settled) != position {
      throw StoreError(.corrupt, "\(directory.file): has \(last) entries of \(position) that it had taken")
    }
    connection = .open(opened.database)
    directory.rememberFiles()
    // Settling may have failed, so the file tells what the rows have.
    if opened.position == position {
      ledger = opened.ledger
      tail = opened.tail
      unreadable = opened.unreadable
    }
  }
}
