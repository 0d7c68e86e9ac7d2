extension SessionStore {
  /// After an error that leaves doubt: nothing that was refused may be found later, nothing that was acknowledged may
  /// be lost, and an fsync that failed may not be believed when it is tried again.
  ///
  /// So the connection goes without touching the files; the write-ahead log is cut to where the last transaction
  /// ended, and written anew; then the file is opened again, and held against what is known.
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
      // It was looked through.
      if directory.isDoubted { return try goOnDamaged(directory) }
      directory.rememberDoubt()
      throw error
    }
  }

  /// SQLite called the file corrupt. That may have been read wrong once, by the disk or on the way from there: so nothing that is in memory is
  /// believed, and the file is opened anew and looked through. Where it is whole, all goes on.
  func lookAgain(_ database: Database) throws(StoreError) -> Database {
    guard let directory else { return database }
    // Before anything else: the process may end while it looks.
    directory.rememberDoubt()
    database.close()
    let error = StoreError(.io, "\(directory.file): could not be read as it was written")
    connection = .doubtful(error)
    return try mend(after: error)
  }

  /// The file was looked through and is damaged. What can be read of it is answered until the next start sets it aside; what it took until then would
  /// go with it.
  private func goOnDamaged(_ directory: StoreDirectory) throws(StoreError) -> Database {
    let damage = StoreError(
      .corrupt,
      "\(directory.file): is damaged, and takes nothing more: it is set aside when stagedoord is started again")
    self.damage = damage
    guard let opened = try? OpenedFile(directory, durability, schema, rules, looksThrough: false) else { throw damage }
    connection = .open(opened.database)
    return opened.database
  }

  /// A header of 32 bytes; for each frame one of 24, and a page.
  private static func lengthOfLog(_ frames: Int64) -> Int64 { frames == 0 ? 0 : 32 + frames * (24 + Schema.pageSize) }

  /// Where nobody knew how long the write-ahead log was, what was refused is taken out by its numbers.
  private func cut(_ database: Database) throws(StoreError) {
    try database.transaction { () throws(StoreError) in
      var query = try database.query("DELETE FROM log WHERE position > ?")
      query.put(position)
      try query.run()
    }
  }

  private func takeOver(_ opened: OpenedFile, _ directory: StoreDirectory) throws(StoreError) {
    let last = try opened.database.number("SELECT max(position) FROM log") ?? 0
    if max(last, opened.ledger.settled) != position {
      throw StoreError(.corrupt, "\(directory.file): has \(last) entries of \(position) that it had taken")
    }
    connection = .open(opened.database)
    directory.rememberFiles()
    // Settling may have been what failed, so what is in rows is asked of the file.
    if opened.position == position {
      ledger = opened.ledger
      tail = opened.tail
      unreadable = opened.unreadable
    }
  }
}
