import CSQLite
import Glibc
import SceneModel

/// One SQLite connection with its prepared statements. Its maker is the only owner, on one thread.
final class Database {
  /// The name in messages.
  let name: String
  private let handle: OpaquePointer
  private var isClosed = false
  /// Whether SQLite has reported that the file differs from what it wrote. This may be so, or may be one wrong read.
  private(set) var isSuspect = false
  /// Statements that are not in use. A statement in use belongs to its `Query`, so that the same text can run inside itself.
  private var idle: [StatementText: OpaquePointer] = [:]
  /// The number of frames in the write-ahead log, as SQLite reported after the last commit.
  private let frames: UnsafeMutablePointer<Int64>

  /// - Parameter path: `nil` for a database in memory.
  init(path: String?) throws(StoreError) {
    Database.forgoStatistics
    name = path ?? "the store in memory"
    var opened: OpaquePointer?
    // No two threads share the connection. The caller makes the file, with the mode that it needs.
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (path == nil ? SQLITE_OPEN_MEMORY : 0)
    forgetSystemError()
    let code = sqlite3_open_v2(path ?? ":memory:", &opened, flags, nil)
    guard let opened else { throw StoreError(.other, "\(name): out of memory") }
    guard code == SQLITE_OK else {
      let error = StoreError(code, opened, name)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    frames = .allocate(capacity: 1)
    frames.initialize(to: 0)
    _ = stagedoor_sqlite3_switch(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
    // A store that is given up stays as it is.
    _ = stagedoor_sqlite3_switch(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    sqlite3_wal_hook(
      opened,
      { context, _, _, count in
        context?.assumingMemoryBound(to: Int64.self).pointee = Int64(count)
        return SQLITE_OK
      }, frames)
  }

  /// SQLite counts its memory under a lock, some thirty times for a delivery, and nobody reads the sum. If other code has used SQLite before, as in
  /// tests, it continues to count.
  private static let forgoStatistics: Void = { _ = stagedoor_sqlite3_count_memory(0) }()

  deinit {
    close()
    frames.deallocate()
  }

  /// The database cannot be used afterwards.
  func close() {
    if isClosed { return }
    isClosed = true
    for statement in idle.values { sqlite3_finalize(statement) }
    idle = [:]
    sqlite3_close_v2(handle)
  }

  // MARK: Statements

  func query(_ sql: String) throws(StoreError) -> Query {
    if let statement = idle.removeValue(forKey: StatementText(sql)) { return Query(owning: statement, sql, self) }
    var prepared: OpaquePointer?
    forgetSystemError()
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let prepared else { throw error(code) }
    return Query(owning: prepared, sql, self)
  }

  func putBack(_ statement: OpaquePointer, _ sql: String) {
    if isClosed {
      sqlite3_finalize(statement)
      return
    }
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
    if idle.updateValue(statement, forKey: StatementText(sql)) != nil {
      preconditionFailure("a statement was lent twice: \(sql)")
    }
  }

  /// Runs a statement without parameters and results.
  func run(_ sql: String) throws(StoreError) {
    var query = try query(sql)
    while try query.step() {}
  }

  /// Runs a statement with one parameter, and without results.
  func run(_ sql: String, _ number: Int64) throws(StoreError) {
    var query = try query(sql)
    query.put(number)
    try query.run()
  }

  func run(_ sql: String, _ identifier: UniqueIdentifier) throws(StoreError) {
    var query = try query(sql)
    query.put(identifier)
    try query.run()
  }

  /// Runs statements once.
  func execute(_ script: String) throws(StoreError) {
    forgetSystemError()
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  /// The number that a statement returns.
  func number(_ sql: String) throws(StoreError) -> Int64? {
    var query = try query(sql)
    return try query.step() ? query.number(at: 0) : nil
  }

  /// The number of rows that the last statement changed.
  var changes: Int64 { Int64(sqlite3_changes(handle)) }

  // MARK: Transactions

  /// Carries out all of `body`, or nothing of it.
  func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      try body()
      try run("COMMIT")
    } catch {
      // After some errors SQLite has rolled back by itself, and reports this.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  // MARK: The write-ahead log

  var framesInLog: Int64 { frames.pointee }

  /// Writes the header of a new write-ahead log, and a first frame that changes nothing, without a sync: the next commit syncs all of them together.
  ///
  /// SQLite itself syncs the header of a log before the frames of the first commit, since a used log may have old frames behind the new header. A new
  /// log has none, so the commit would wait for the disk twice for nothing.
  func beginLog(_ version: Int64) throws(StoreError) {
    try execute("PRAGMA synchronous = OFF")
    // A disk that refuses this also refuses the commit, which reports the error.
    try? execute("PRAGMA user_version = \(version)")
    try execute("PRAGMA synchronous = FULL")
  }

  /// Moves the write-ahead log into the file. Nobody else reads, so all of it can be moved.
  func checkpoint(emptyingLog isEmptied: Bool = false) throws(StoreError) {
    var (all, moved): (Int32, Int32) = (0, 0)
    forgetSystemError()
    let code = sqlite3_wal_checkpoint_v2(
      handle, nil, isEmptied ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &all, &moved)
    if code != SQLITE_OK { throw error(code) }
    // The next write begins the log anew.
    if all == moved { frames.pointee = 0 }
  }

  /// From now on closing moves the write-ahead log into the file, and removes the log.
  func letCloseCheckpoint() { _ = stagedoor_sqlite3_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }

  // MARK: Deleted bytes

  private(set) var overwritesDeleted = false

  /// Sets whether released pages are overwritten with one more write. Otherwise only bytes that are deleted within a remaining page are overwritten,
  /// because that page is written anyway.
  func overwriteDeleted(_ isWanted: Bool) throws(StoreError) {
    if isWanted == overwritesDeleted { return }
    // Preparing the statement is what changes the setting, so it is prepared anew each time.
    try execute("PRAGMA secure_delete = \(isWanted ? "ON" : "FAST")")
    overwritesDeleted = isWanted
  }

  // MARK: Memory and errors

  var isReadOnly: Bool { sqlite3_db_readonly(handle, nil) == 1 }

  func releaseMemory() { sqlite3_db_release_memory(handle) }

  func error(_ code: Int32) -> StoreError {
    let error = StoreError(code, handle, name)
    if error.kind == .corrupt { isSuspect = true }
    return error
  }
}

/// Called before a call whose failure must be told from earlier failures: when a commit fails, SQLite does not keep the system's error.
func forgetSystemError() { errno = 0 }

/// Whether the system has failed to read since the last call of `forgetSystemError`. SQLite calls a file corrupt after a read failed with `EIO`, and
/// `quick_check` reports such a failure like damage; only this tells the two apart.
var aReadFailed: Bool { readFailures.contains(errno) }

/// The errors of local disks, and of disks behind a network or another process.
private let readFailures: Set<Int32> = [
  EIO, ENXIO, ERANGE, ENODEV, ENOMEM, ESTALE, ETIMEDOUT, EREMOTEIO, ENOTCONN, ECONNABORTED, ESHUTDOWN, EHOSTDOWN,
]

extension StoreError {
  fileprivate init(_ code: Int32, _ handle: OpaquePointer, _ name: String) {
    let errorNumber = errno != 0 ? errno : sqlite3_system_errno(handle)
    var reason = String(cString: sqlite3_errmsg(handle))
    let kind: Kind
    switch code & 0xFF {
    case SQLITE_FULL: kind = .full
    case SQLITE_IOERR: kind = [ENOSPC, EDQUOT, EFBIG].contains(errorNumber) ? .full : .io
    case SQLITE_READONLY, SQLITE_PERM: kind = .readOnly
    case SQLITE_CANTOPEN: kind = errorNumber == EACCES || errorNumber == EPERM || errorNumber == EROFS ? .readOnly : .io
    case SQLITE_BUSY: kind = .locked
    case SQLITE_CORRUPT, SQLITE_NOTADB: kind = aReadFailed ? .io : .corrupt
    default: kind = .other
    }
    if kind == .locked { reason = "another process has it" }
    if kind == .io, code & 0xFF != SQLITE_CANTOPEN { reason = String(cString: sqlite3_errstr(SQLITE_IOERR)) }
    let ofSystem = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN || kind == .io
    if ofSystem, errorNumber != 0 { reason += " (\(String(cString: strerror(errorNumber))))" }
    self.init(
      kind, "\(name): \(reason)",
      // What was not written for lack of space leaves the frames before it as they were, whichever of two codes SQLite gives it.
      leavesDoubt: code & 0xFF != SQLITE_CANTOPEN && kind == .io
        || code & 0xFF == SQLITE_IOERR && !(code == stagedoor_sqlite3_ioerr_write && kind == .full))
  }
}

/// The text of a statement. Its length is compared before its letters: there are some dozens of statements, and each delivery looks up several.
private struct StatementText: Hashable {
  private let text: String

  init(_ text: String) { self.text = text }

  func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
