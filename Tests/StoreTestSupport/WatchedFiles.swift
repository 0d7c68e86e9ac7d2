import CSQLite
import Glibc

/// Sees the calls of SQLite to its files before the system does.
package protocol FileWatcher: AnyObject {
  /// The error with which a call fails; 0 if the system carries the call out.
  func error(of call: WatchedFile.Call, _ path: String) -> Int32
  func didOpen(_ path: String)
  func willWrite(_ bytes: UnsafeRawBufferPointer, at offset: Int, to file: WatchedFile)
  func didSync(_ path: String)
}

extension FileWatcher {
  package func didOpen(_ path: String) {}
  package func willWrite(_ bytes: UnsafeRawBufferPointer, at offset: Int, to file: WatchedFile) {}
  package func didSync(_ path: String) {}
}

/// A file that SQLite has open, and what the system does with it.
package struct WatchedFile {
  package enum Call: Sendable { case open, read, write, sync }

  package let path: String
  fileprivate let handle: UnsafeMutablePointer<sqlite3_file>
  fileprivate let methods: UnsafePointer<sqlite3_io_methods>

  /// The bytes that are there, without a look of the watcher.
  package func bytes(_ count: Int, at offset: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, min(count, size - offset)))
    if !bytes.isEmpty { _ = methods.pointee.xRead(handle, &bytes, Int32(bytes.count), sqlite3_int64(offset)) }
    return bytes
  }

  package var size: Int {
    var size: sqlite3_int64 = 0
    _ = methods.pointee.xFileSize(handle, &size)
    return Int(size)
  }

  // MARK: Between SQLite and the system

  /// The watcher of all files of this process that are opened from now on, as long as it lives.
  package static func show(to watcher: some FileWatcher) {
    install
    locked { self.watcher = watcher }
  }

  // It is only read and written while the mutex is held.
  nonisolated(unsafe) private static weak var watcher: (any FileWatcher)?
  // As above.
  nonisolated(unsafe) private static var files: [UnsafeMutablePointer<sqlite3_file>: WatchedFile] = [:]
  // As above.
  nonisolated(unsafe) private static var made: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] =
    [:]
  // It is only locked and unlocked, which every thread may do.
  nonisolated(unsafe) private static let mutex: UnsafeMutablePointer<pthread_mutex_t> = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    return mutex
  }()

  static func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Stands between SQLite and the system, once for the process.
  private static let install: Void = {
    guard let system = sqlite3_vfs_find("unix") else { fatalError("SQLite has no file system") }
    let watched = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    watched.initialize(to: system.pointee)
    watched.pointee.zName = UnsafePointer(strdup("watched"))
    watched.pointee.xOpen = { _, name, file, flags, answer in
      guard let system = sqlite3_vfs_find("unix"), let file else { return SQLITE_ERROR }
      let path = name.map { String(cString: $0) }
      if let path, let failed = WatchedFile.failure(of: .open, path) { return failed }
      let code = system.pointee.xOpen(system, name, file, flags, answer)
      if code == SQLITE_OK, let path, let methods = file.pointee.pMethods {
        WatchedFile.locked { WatchedFile.files[file] = WatchedFile(path: path, handle: file, methods: methods) }
        file.pointee.pMethods = WatchedFile.watchedMethods(over: methods)
        WatchedFile.seer?.didOpen(path)
      }
      return code
    }
    sqlite3_vfs_register(watched, 1)
  }()

  private static var seer: (any FileWatcher)? { locked { watcher } }

  private static func of(_ handle: UnsafeMutablePointer<sqlite3_file>?) -> WatchedFile? {
    handle.flatMap { handle in WatchedFile.locked { files[handle] } }
  }

  /// The system's methods of a file, with four replaced by ours. There are two kinds of files, so the results are kept.
  private static func watchedMethods(
    over system: UnsafePointer<sqlite3_io_methods>
  ) -> UnsafePointer<sqlite3_io_methods> {
    if let made = WatchedFile.locked({ made[system] }) { return made }
    let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    copy.initialize(to: system.pointee)
    copy.pointee.xRead = { handle, bytes, count, offset in
      guard let file = WatchedFile.of(handle) else { return SQLITE_ERROR }
      return WatchedFile.failure(of: .read, file.path) ?? file.methods.pointee.xRead(handle, bytes, count, offset)
    }
    copy.pointee.xWrite = { handle, bytes, count, offset in
      guard let file = WatchedFile.of(handle) else { return SQLITE_ERROR }
      if let failed = WatchedFile.failure(of: .write, file.path) { return failed }
      WatchedFile.seer?.willWrite(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset), to: file)
      return file.methods.pointee.xWrite(handle, bytes, count, offset)
    }
    copy.pointee.xSync = { handle, flags in
      guard let file = WatchedFile.of(handle) else { return SQLITE_ERROR }
      if let failed = WatchedFile.failure(of: .sync, file.path) { return failed }
      WatchedFile.seer?.didSync(file.path)
      return file.methods.pointee.xSync(handle, flags)
    }
    copy.pointee.xClose = { handle in
      guard let handle, let file = WatchedFile.locked({ WatchedFile.files.removeValue(forKey: handle) }) else {
        return SQLITE_ERROR
      }
      return file.methods.pointee.xClose(handle)
    }
    WatchedFile.locked { made[system] = UnsafePointer(copy) }
    return UnsafePointer(copy)
  }

  /// SQLite's code for a call that fails; `errno` gives the reason.
  private static func failure(of call: Call, _ path: String) -> Int32? {
    guard let error = seer?.error(of: call, path), error != 0 else { return nil }
    errno = error
    // SQLite defines these in macros that Swift cannot see. It has a code of its own for `EIO`, and later calls the file corrupt.
    return switch call {
    case .open: SQLITE_CANTOPEN
    case .read: SQLITE_IOERR | (error == EIO ? 33 : 1) << 8
    case .write: error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR | 3 << 8
    case .sync: SQLITE_IOERR | 4 << 8
    }
  }
}
