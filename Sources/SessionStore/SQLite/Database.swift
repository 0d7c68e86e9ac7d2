import CSQLite
import Glibc

/// One SQLite connection, and the statements that were prepared on it. Whoever made it is its only owner, on one
/// thread.
final class Database {
  /// What messages call it.
  let name: String
  private let handle: OpaquePointer
  private var isClosed = false
  /// SQLite said that the file is not what it wrote. Who knows whether that is so, or was read so once.
  private(set) var isSuspect = false
  /// Statements that are not in use. One that is in use belongs to its `Query`, so the same text can be run inside
  /// itself.
  private var idle: [StatementText: OpaquePointer] = [:]
  /// How many frames the write-ahead log holds, as SQLite said after the last commit.
  private let frames: UnsafeMutablePointer<Int64>

  /// - Parameter path: `nil` for one in memory.
  init(path: String?) throws(StoreError) {
    Database.forgoStatistics
    name = path ?? "the store in memory"
    var opened: OpaquePointer?
    // What threads there are do not share it. The file is made by the caller, with the rights that it wants.
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
    // A store that is given up is left as it is.
    _ = stagedoor_sqlite3_switch(opened, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    sqlite3_wal_hook(
      opened,
      { context, _, _, count in
        context?.assumingMemoryBound(to: Int64.self).pointee = Int64(count)
        return SQLITE_OK
      }, frames)
  }

  /// SQLite counts its memory under a lock, some thirty times for a delivery, and nobody asks for the sum. Where others have begun
  /// with it before, as in tests, it goes on counting.
  private static let forgoStatistics: Void = { _ = stagedoor_sqlite3_count_memory(0) }()

  deinit {
    close()
    frames.deallocate()
  }

  /// Nothing may be asked of it afterwards.
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

  func takeBack(_ statement: OpaquePointer, _ sql: String) {
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

  /// Runs a statement that has no parameters and whose answer nobody wants.
  func run(_ sql: String) throws(StoreError) {
    var query = try query(sql)
    while try query.step() {}
  }

  /// Runs statements that are needed once.
  func execute(_ script: String) throws(StoreError) {
    forgetSystemError()
    let code = sqlite3_exec(handle, script, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  /// The number that a statement answers.
  func number(_ sql: String) throws(StoreError) -> Int64? {
    var query = try query(sql)
    return try query.step() ? query.number(at: 0) : nil
  }

  /// How many rows the last statement changed.
  var changes: Int64 { Int64(sqlite3_changes(handle)) }

  // MARK: Transactions

  /// All of `body`, or none of it.
  func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    try run("BEGIN IMMEDIATE")
    do throws(StoreError) {
      try body()
      try run("COMMIT")
    } catch {
      // After some errors SQLite has gone back by itself, and says so when it is asked again.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  // MARK: The write-ahead log

  var framesInLog: Int64 { frames.pointee }

  /// Moves what the write-ahead log holds into the file. Nobody reads beside us, so all of it can be.
  func checkpoint(emptyingLog isEmptied: Bool = false) throws(StoreError) {
    var (all, moved): (Int32, Int32) = (0, 0)
    forgetSystemError()
    let code = sqlite3_wal_checkpoint_v2(
      handle, nil, isEmptied ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &all, &moved)
    if code != SQLITE_OK { throw error(code) }
    // What is written next begins the log anew.
    if all == moved { frames.pointee = 0 }
  }

  /// From now on closing moves the write-ahead log into the file, and removes it.
  func letCloseCheckpoint() { _ = stagedoor_sqlite3_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }

  // MARK: What was deleted

  private(set) var overwritesDeleted = false

  /// Whether pages that are given up are written once more, empty. Otherwise only what is deleted within a page that stays is overwritten, since that
  /// page is written anyhow.
  func overwriteDeleted(_ isWanted: Bool) throws(StoreError) {
    if isWanted == overwritesDeleted { return }
    // Prepared anew each time, since preparing is what changes it.
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

/// Before a call whose failure is to be told from what failed earlier: where a commit fails, SQLite does not keep
/// what the system said.
func forgetSystemError() { errno = 0 }

/// The system could not read, since the last call of `forgetSystemError`. SQLite calls a file corrupt where a read of it failed with `EIO`, and
/// `quick_check` answers such a failure like damage; only this tells the two apart.
var aReadFailed: Bool { readFailures.contains(errno) }

/// Those of local disks, and of disks behind a network or another process.
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
    case SQLITE_IOERR: kind = errorNumber == ENOSPC || errorNumber == EDQUOT ? .full : .io
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
      leavesDoubt: code & 0xFF != SQLITE_CANTOPEN && kind == .io || code & 0xFF == SQLITE_IOERR)
  }
}

/// A statement, told apart from the others by its length before its letters are looked at: there are some dozens of them, and each is looked up
/// several times for a delivery.
private struct StatementText: Hashable {
  private let text: String

  init(_ text: String) { self.text = text }

  func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
}
