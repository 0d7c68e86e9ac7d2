import CSQLite
import Glibc

/// The disk of a play: the files are real, in memory, and all of SQLite's calls pass through here.
///
/// It refuses or fails calls as the play says. It remembers the writes since the last sync, so that a power cut can keep the synced bytes and a torn
/// part of the others.
final class Disk {
  enum Call: Int { case read, write, sync }

  /// The directory of the files.
  private(set) var directory: String
  private let root: String
  private var count = 0
  /// The calls that fail, with the error and the number of times.
  private var faults: [(call: Call, error: Int32, times: Int, after: Int)] = []
  /// Whether the theatre is looking at the files, and not the service.
  private var isUndisturbed = false
  /// The time of a crash: after this many writes and syncs. The contents of the disk at that time are set aside.
  private var crashAfter: (calls: Int, isPowerCut: Bool, chance: Chance)?
  private var keptAside: String?
  private var unsynced: [String: [Write]] = [:]
  /// Whether unsynced writes are remembered. This costs a read for each write.
  var remembersUnsynced = false

  private struct Write {
    let offset: Int
    let bytes: [UInt8]
    /// The bytes before the write.
    let before: [UInt8]
    let sizeBefore: Int
  }

  init() throws(TheatreFailure) {
    root = "/dev/shm/stagedoor-theatre-\(getpid())-\(Disk.next)"
    Disk.next += 1
    directory = root + "/0"
    guard mkdir(root, 0o700) == 0, mkdir(directory, 0o700) == 0 else { throw TheatreFailure("\(root) cannot be made") }
    Disk.install
    Disk.mounted = self
  }

  /// Removes the files.
  func remove() {
    for name in Disk.names(in: root) {
      for file in Disk.names(in: root + "/" + name) { unlink(root + "/" + name + "/" + file) }
      rmdir(root + "/" + name)
    }
    rmdir(root)
    Disk.mounted = nil
  }

  // MARK: Faults

  func injectFault(_ call: Call, error: Int32, times: Int, after: Int = 0) {
    faults.append((call, error, times, after))
  }

  /// The theatre's own reads do not fail.
  func undisturbed<Result, Failure>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    let before = isUndisturbed
    isUndisturbed = true
    defer { isUndisturbed = before }
    return try body()
  }

  func heal() { faults = [] }
  var isWell: Bool { faults.isEmpty }

  func crash(after calls: Int, isPowerCut: Bool, _ chance: Chance) { crashAfter = (calls, isPowerCut, chance) }
  var hasCrashed: Bool { keptAside != nil }

  /// Prepares the disk for the next service: with the files at the time of the crash, or as they are.
  func restart(isPowerCut: Bool, _ chance: Chance) throws(TheatreFailure) {
    let next = if let keptAside { keptAside } else { try setAside(isPowerCut: isPowerCut, chance) }
    for file in Disk.names(in: directory) { unlink(directory + "/" + file) }
    rmdir(directory)
    directory = next
    (keptAside, crashAfter) = (nil, nil)
    unsynced = [:]
  }

  private func setAside(isPowerCut: Bool, _ chance: Chance) throws(TheatreFailure) -> String {
    var chance = chance
    count += 1
    let target = "\(root)/\(count)"
    if mkdir(target, 0o700) != 0 { throw TheatreFailure("\(target) cannot be made") }
    for name in Disk.names(in: directory).sorted() where name != "lock" {
      var bytes = try Disk.contents(of: directory + "/" + name)
      if isPowerCut { lose(unsynced[directory + "/" + name] ?? [], of: &bytes, &chance) }
      try Disk.write(bytes, to: target + "/" + name)
    }
    return target
  }

  /// Each unsynced write is kept, lost, or kept in part: disks write in any order.
  private func lose(_ writes: [Write], of bytes: inout [UInt8], _ chance: inout Chance) {
    for write in writes.reversed() {
      Disk.put(write.before, at: write.offset, into: &bytes)
      if bytes.count > write.sizeBefore { bytes.removeLast(bytes.count - write.sizeBefore) }
    }
    for write in writes {
      switch chance.below(3) {
      case 0: break
      case 1: Disk.put(write.bytes, at: write.offset, into: &bytes)
      default:
        Disk.put(
          Array(write.bytes.prefix(chance.below(write.bytes.count / 512 + 1) * 512)), at: write.offset, into: &bytes)
      }
    }
  }

  private static func put(_ new: [UInt8], at offset: Int, into bytes: inout [UInt8]) {
    if new.isEmpty { return }
    if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
    bytes.replaceSubrange(offset..<offset + new.count, with: new)
  }

  // MARK: SQLite's calls

  /// The error of a call; 0 if it does not fail.
  fileprivate func error(of call: Call) -> Int32 {
    if call != .read, let crash = crashAfter, keptAside == nil {
      if crash.calls == 0 {
        keptAside = try? setAside(isPowerCut: crash.isPowerCut, crash.chance)
        crashAfter = nil
      } else {
        crashAfter?.calls -= 1
      }
    }
    guard !isUndisturbed, let place = faults.firstIndex(where: { $0.call == call }) else { return 0 }
    if faults[place].after > 0 {
      faults[place].after -= 1
      return 0
    }
    faults[place].times -= 1
    let error = faults[place].error
    if faults[place].times <= 0 { faults.remove(at: place) }
    return error
  }

  fileprivate func willWrite(_ file: DiskFile, _ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard remembersUnsynced else { return }
    var size: sqlite3_int64 = 0
    _ = file.methods.pointee.xFileSize(file.handle, &size)
    var before = [UInt8](repeating: 0, count: max(0, min(bytes.count, Int(size) - offset)))
    if !before.isEmpty {
      _ = file.methods.pointee.xRead(file.handle, &before, Int32(before.count), sqlite3_int64(offset))
    }
    unsynced[file.path, default: []].append(
      Write(offset: offset, bytes: Array(bytes), before: before, sizeBefore: Int(size)))
  }

  fileprivate func didSync(_ path: String) { unsynced[path] = nil }

  // MARK: Files

  static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  private static func contents(of path: String) throws(TheatreFailure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw TheatreFailure("\(path) cannot be read") }
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    if pread(descriptor, &bytes, bytes.count, 0) != bytes.count { throw TheatreFailure("\(path) cannot be read") }
    return bytes
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(TheatreFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw TheatreFailure("\(path) cannot be made") }
    defer { close(descriptor) }
    if pwrite(descriptor, bytes, bytes.count, 0) != bytes.count { throw TheatreFailure("\(path) cannot be written") }
  }

  // MARK: Between SQLite and the system

  // A theatre plays on one thread, one play after another.
  nonisolated(unsafe) fileprivate static var mounted: Disk?
  // As above.
  nonisolated(unsafe) private static var next = 0
  // As above.
  nonisolated(unsafe) fileprivate static var files: [UnsafeMutablePointer<sqlite3_file>: DiskFile] = [:]

  private static let install: Void = {
    guard let system = sqlite3_vfs_find("unix") else { return }
    let theatre = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    theatre.initialize(to: system.pointee)
    theatre.pointee.zName = UnsafePointer(strdup("theatre"))
    theatre.pointee.xOpen = { _, name, file, flags, answer in
      guard let system = sqlite3_vfs_find("unix"), let file else { return SQLITE_ERROR }
      let code = system.pointee.xOpen(system, name, file, flags, answer)
      if code == SQLITE_OK, let name, let methods = file.pointee.pMethods {
        let path = String(cString: name)
        Disk.files[file] = DiskFile(path: path, handle: file, methods: methods)
        // The store has repaired a log that is opened again: it has written and synced the log without SQLite.
        if path.hasSuffix("-wal") { Disk.mounted?.didSync(path) }
        file.pointee.pMethods = theatreMethods(over: methods)
      }
      return code
    }
    sqlite3_vfs_register(theatre, 1)
  }()
}

/// The data behind a file of SQLite.
private struct DiskFile {
  let path: String
  let handle: UnsafeMutablePointer<sqlite3_file>
  let methods: UnsafePointer<sqlite3_io_methods>
}

// A theatre plays on one thread.
nonisolated(unsafe) private var made: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

/// The methods of a system file, some of them replaced by ours. There are two kinds of files, so the result is kept.
private func theatreMethods(over system: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
  if let made = made[system] { return made }
  let copy = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
  copy.initialize(to: system.pointee)
  copy.pointee.xRead = { handle, bytes, count, offset in
    guard let handle, let file = Disk.files[handle] else { return SQLITE_ERROR }
    if let failed = failure(of: .read) { return failed }
    return file.methods.pointee.xRead(handle, bytes, count, offset)
  }
  copy.pointee.xWrite = { handle, bytes, count, offset in
    guard let handle, let file = Disk.files[handle] else { return SQLITE_ERROR }
    if let failed = failure(of: .write) { return failed }
    Disk.mounted?.willWrite(file, UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset))
    return file.methods.pointee.xWrite(handle, bytes, count, offset)
  }
  // Memory needs no sync; the file's writes now count as synced.
  copy.pointee.xSync = { handle, _ in
    guard let handle, let file = Disk.files[handle] else { return SQLITE_ERROR }
    if let failed = failure(of: .sync) { return failed }
    Disk.mounted?.didSync(file.path)
    return SQLITE_OK
  }
  copy.pointee.xClose = { handle in
    guard let handle, let file = Disk.files.removeValue(forKey: handle) else { return SQLITE_ERROR }
    return file.methods.pointee.xClose(handle)
  }
  made[system] = UnsafePointer(copy)
  return UnsafePointer(copy)
}

/// SQLite's code for a failing call; `errno` gives the reason.
private func failure(of call: Disk.Call) -> Int32? {
  guard let error = Disk.mounted?.error(of: call), error != 0 else { return nil }
  errno = error
  switch call {
  // SQLite itself uses this code for `EIO`, and calls the file corrupt later.
  case .read: return SQLITE_IOERR | 33 << 8
  case .write: return error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR | 3 << 8
  case .sync: return SQLITE_IOERR | 4 << 8
  }
}

/// The theatre itself could not go on.
package struct TheatreFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
