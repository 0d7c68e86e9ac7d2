import CSQLite
import Glibc

/// Makes SQLite's reads, writes and syncs of the files of one directory fail.
package enum DiskFaults {
  package enum Call: Sendable { case open, read, write, sync }

  fileprivate struct Fault {
    let directory: String
    let calls: Set<Call>
    let error: Int32
    /// How many calls succeed first.
    var after: Int
    /// How many calls fail then.
    var count: Int
  }

  /// What belongs to a file of SQLite's.
  fileprivate struct File {
    let path: String
    let methods: UnsafePointer<sqlite3_io_methods>
  }

  // The four variables below are only accessed while the mutex is held.
  nonisolated(unsafe) fileprivate static var faults: [Fault] = []
  // As above.
  nonisolated(unsafe) fileprivate static var watchers: [String: () -> Void] = [:]
  // As above.
  nonisolated(unsafe) fileprivate static var reads: [String: Int] = [:]
  // As above.
  nonisolated(unsafe) fileprivate static var files: [UnsafeMutablePointer<sqlite3_file>: File] = [:]
  // It is only locked and unlocked, which every thread may do.
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    return mutex
  }()

  fileprivate static func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// - Returns: Whether a call failed.
  @discardableResult
  package static func during(
    _ calls: Set<Call>, in directory: String, error: Int32, after: Int = 0, count: Int = .max,
    _ body: () throws -> Void
  ) rethrows -> Bool {
    begin(calls, in: directory, error: error, after: after, count: count)
    defer { end(in: directory) }
    try body()
    return locked { faults.contains { $0.directory == directory && $0.count < count } }
  }

  /// Begins faults that last, for tests that run other code meanwhile.
  package static func begin(
    _ calls: Set<Call>, in directory: String, error: Int32, after: Int = 0, count: Int = .max
  ) {
    locked { faults.append(Fault(directory: directory, calls: calls, error: error, after: after, count: count)) }
  }

  package static func end(in directory: String) { locked { faults.removeAll { $0.directory == directory } } }

  /// Calls `look` before each write that `body` makes.
  package static func beforeEachWrite(
    in directory: String, _ look: @escaping () -> Void, during body: () throws -> Void
  ) rethrows {
    locked { watchers[directory] = look }
    defer { locked { watchers[directory] = nil } }
    try body()
  }

  /// How many reads of files in the directory `body` makes.
  package static func reads(in directory: String, _ body: () throws -> Void) rethrows -> Int {
    locked { reads[directory] = 0 }
    try body()
    return locked { reads.removeValue(forKey: directory) ?? 0 }
  }

  /// Installs itself between SQLite and the system, once for all tests.
  package static let install: Void = {
    guard let system = sqlite3_vfs_find(nil) else { fatalError("SQLite has no file system") }
    let faulty = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    faulty.initialize(to: system.pointee)
    faulty.pointee.zName = UnsafePointer(strdup("faulty"))
    faulty.pointee.xOpen = { _, name, file, flags, answer in
      guard let system = sqlite3_vfs_find("unix"), let file else { return SQLITE_ERROR }
      if let name, fails(.open, String(cString: name)) { return SQLITE_CANTOPEN }
      let code = system.pointee.xOpen(system, name, file, flags, answer)
      if code == SQLITE_OK, let name, let methods = file.pointee.pMethods {
        let path = String(cString: name)
        locked { files[file] = File(path: path, methods: methods) }
        file.pointee.pMethods = faultyMethods(over: methods)
      }
      return code
    }
    sqlite3_vfs_register(faulty, 1)
  }()
}

// MARK: - A file's methods

/// The system's methods of a file, with four replaced by ours. There are two kinds of files, so the results are kept.
private func faultyMethods(over system: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
  DiskFaults.locked {
    if let made = made[system] { return made }
    let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    copy.initialize(to: system.pointee)
    copy.pointee.xRead = { file, bytes, count, offset in
      guard let file, let methods = methods(file, for: .read) else {
        return errno == EIO ? failedByDisk : failedRead
      }
      return methods.pointee.xRead(file, bytes, count, offset)
    }
    copy.pointee.xWrite = { file, bytes, count, offset in
      guard let file, let methods = methods(file, for: .write) else {
        return errno == ENOSPC ? SQLITE_FULL : failedWrite
      }
      return methods.pointee.xWrite(file, bytes, count, offset)
    }
    copy.pointee.xSync = { file, flags in
      guard let file, let methods = methods(file, for: .sync) else { return failedSync }
      return methods.pointee.xSync(file, flags)
    }
    copy.pointee.xClose = { file in
      guard let file, let one = DiskFaults.locked({ DiskFaults.files.removeValue(forKey: file) }) else {
        return SQLITE_ERROR
      }
      return one.methods.pointee.xClose(file)
    }
    made[system] = UnsafePointer(copy)
    return UnsafePointer(copy)
  }
}

// Only accessed while the mutex is held.
nonisolated(unsafe) private var made: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

// SQLite defines these in macros that Swift cannot see.
private let failedRead: Int32 = SQLITE_IOERR | 1 << 8
/// SQLite's code for `EIO`, which it later calls corrupt.
private let failedByDisk: Int32 = SQLITE_IOERR | 33 << 8
private let failedWrite: Int32 = SQLITE_IOERR | 3 << 8
private let failedSync: Int32 = SQLITE_IOERR | 4 << 8

/// The system's methods; `nil` if the call must fail, and `errno` says why.
private func methods(
  _ file: UnsafeMutablePointer<sqlite3_file>, for call: DiskFaults.Call
) -> UnsafePointer<sqlite3_io_methods>? {
  guard let one = DiskFaults.locked({ DiskFaults.files[file] }) else { return nil }
  return fails(call, one.path) ? nil : one.methods
}

/// Whether the call must fail; `errno` says why.
private func fails(_ call: DiskFaults.Call, _ path: String) -> Bool {
  if call == .write { DiskFaults.locked { DiskFaults.watchers.first { path.hasPrefix($0.key) }?.value }?() }
  let error: Int32 = DiskFaults.locked {
    if call == .read {
      for directory in DiskFaults.reads.keys where path.hasPrefix(directory) {
        DiskFaults.reads[directory, default: 0] += 1
      }
    }
    for index in DiskFaults.faults.indices {
      let fault = DiskFaults.faults[index]
      guard path.hasPrefix(fault.directory), fault.calls.contains(call) else { continue }
      if fault.after > 0 {
        DiskFaults.faults[index].after -= 1
      } else if fault.count > 0 {
        DiskFaults.faults[index].count -= 1
        return fault.error
      }
    }
    return 0
  }
  if error != 0 { errno = error }
  return error != 0
}
