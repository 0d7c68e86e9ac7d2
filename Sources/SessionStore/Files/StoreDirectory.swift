import Glibc
import SceneModel

/// The directory of the store's files, and the lock that keeps a second process out.
final class StoreDirectory {
  let path: String
  private var lock: Int32
  /// The identities of the open file and of its log.
  private var openFile: FileIdentity?
  private var openLog: FileIdentity?
  /// The directory when both were found in their places.
  private var unchanged: DirectoryState?

  let file: String
  let writeAheadLog: String
  /// The directory of the contents that deliveries carry.
  private var contents: String { path + "/spool" }
  /// The mark that exists when something was found wrong with the file while it was in use: the next opening checks the file.
  private var doubt: String { path + "/stagedoor.db-doubt" }

  /// Makes the directory if it is missing, for its owner only.
  init(_ path: String) throws(StoreError) {
    self.path = path
    file = path + "/stagedoor.db"
    writeAheadLog = file + "-wal"
    try StoreDirectory.make(path)
    try StoreDirectory.refuseShared(path)
    try StoreDirectory.refuseOthers(in: path)
    // SQLite's own locks are lost when any code of this process closes the file, and this code looks at the file before SQLite opens it.
    lock = try StoreDirectory.lock(path)
    removeUnfinishedLog()
  }

  deinit { release() }

  /// Releases the lock.
  func release() {
    guard lock >= 0 else { return }
    // A process that is being started has a copy of the descriptor for a moment; closing ours would leave the lock.
    _ = flock(lock, LOCK_UN)
    close(lock)
    lock = -1
  }

  // MARK: Making the directory

  private static func make(_ path: String) throws(StoreError) {
    var status = stat()
    if stat(path, &status) != 0 {
      let parent = path.split(separator: "/").dropLast().joined(separator: "/")
      if errno == ENOENT, !parent.isEmpty { try make((path.hasPrefix("/") ? "/" : "") + parent) }
      if mkdir(path, 0o700) != 0, errno != EEXIST { throw StoreError(path, "cannot be made", errno) }
      return try restrict(path, to: 0o700)
    }
    if status.st_mode & S_IFMT != S_IFDIR { throw StoreError(.io, "\(path): is no directory") }
  }

  /// Refuses a directory that others can look into: its files may be theirs, or meant for them.
  private static func refuseShared(_ path: String) throws(StoreError) {
    var status = stat()
    if stat(path, &status) != 0 { throw StoreError(path, "cannot be looked at", errno) }
    let isShared = status.st_mode & 0o077 != 0
    if isShared, status.st_uid != geteuid() || !holdsOnlyOurs(path) {
      throw StoreError(
        .io,
        "\(path): is shared with other users; give --state a directory of its own, or keep them out with \"chmod go= \(path)\""
      )
    }
  }

  /// Whether the directory has only our files, or none. Nobody else can miss such a directory, so its mode is narrowed without a message.
  private static func holdsOnlyOurs(_ path: String) -> Bool {
    guard let directory = opendir(path) else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if ![".", "..", "lock", "spool"].contains(name), !name.hasPrefix("stagedoor.db") { return false }
    }
    return true
  }

  /// Sets the mode, whatever the umask is and whoever made the file.
  private static func restrict(_ path: String, to mode: mode_t) throws(StoreError) {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & 0o777 == mode { return }
    if chmod(path, mode) != 0 { throw StoreError(path, "cannot be made its owner's alone", errno) }
  }

  private static func lock(_ directory: String) throws(StoreError) -> Int32 {
    try restrict(directory, to: 0o700)
    let path = directory + "/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if descriptor < 0 { throw StoreError(path, "cannot be opened", errno) }
    var owner = [UInt8](repeating: 0, count: 20)
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let (error, count) = (errno, read(descriptor, &owner, owner.count))
      close(descriptor)
      if error != EWOULDBLOCK { throw StoreError(path, "cannot be locked", error) }
      let who = String(decoding: owner.prefix(max(0, count)), as: UTF8.self)
      throw StoreError(.locked, "\(directory)/stagedoor.db: process \(who.isEmpty ? "unknown" : who) has it")
    }
    // Only a message needs the number, so a full disk is no reason to stop. Truncating to the new length instead of to zero is quicker on some file
    // systems.
    owner = Array("\(getpid())".utf8)
    if pwrite(descriptor, owner, owner.count, 0) == owner.count { _ = ftruncate(descriptor, off_t(owner.count)) }
    _ = fchmod(descriptor, 0o600)
    return descriptor
  }

  // MARK: Checking without changes

  /// Checks whether a store could be opened there, as far as this can be seen while another process has it.
  static func check(_ path: String, _ schema: Schema) throws(StoreError) {
    try make(path)
    try refuseShared(path)
    if access(path, W_OK | X_OK) != 0 { throw StoreError(path, "cannot be written to", errno) }
    try refuseOthers(in: path)
    let file = path + "/stagedoor.db"
    var status = stat()
    // Opening something other than a file might wait, or have an effect. It is set aside later.
    if lstat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 {
      if errno == ENOENT { return }
      throw StoreError(file, "cannot be opened", errno)
    }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    guard read(descriptor, &header, header.count) == header.count else { return }
    func number(at offset: Int) -> Int64 {
      Int64(Int32(truncatingIfNeeded: header[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }))
    }
    // The offsets of SQLite's format.
    let (version, application) = (number(at: 60), number(at: 68))
    if application == Schema.application, version > schema.version { throw .newer(file, version, schema) }
  }

  // MARK: Files that have gone

  /// Records the identities of the files, which were opened just now.
  func rememberFiles() {
    openFile = FileIdentity(file)
    openLog = FileIdentity(writeAheadLog)
    unchanged = nil
  }

  /// Refuses to write when somebody has deleted or moved the file: the writes would be lost with the process.
  func refuseWhereGone() throws(StoreError) {
    // Deleting, moving and replacing a file each change its directory, and one look is cheaper than two.
    let state = DirectoryState(path)
    if state != nil, state == unchanged { return }
    // SQLite makes its log with the first write.
    if openLog == nil { openLog = FileIdentity(writeAheadLog) }
    if let openFile, FileIdentity(file) != openFile { throw gone(file) }
    if let openLog, FileIdentity(writeAheadLog) != openLog { throw gone(writeAheadLog) }
    unchanged = state.flatMap { $0.isSettled ? $0 : nil }
  }

  private func gone(_ path: String) -> StoreError {
    StoreError(.io, "\(path): was deleted, moved or replaced while it was open: put it back, or start the service anew")
  }

  // MARK: The file

  /// Whether the log has entries that the file does not have.
  var hasWriteAheadLog: Bool {
    var status = stat()
    return stat(writeAheadLog, &status) == 0 && status.st_size > 0
  }

  func removeEmptyLog() {
    if !hasWriteAheadLog { unlink(writeAheadLog) }
  }

  enum Content { case nothing, emptyFile, file, somethingElse(String) }

  func content() throws(StoreError) -> Content {
    try StoreDirectory.refuseOthers(in: path)
    var status = stat()
    if stat(file, &status) != 0 {
      let error = errno
      if error != ENOENT { throw StoreError(file, "cannot be looked at", error) }
      return exists(writeAheadLog) ? .somethingElse("it is gone, and its write-ahead log is not") : .nothing
    }
    if status.st_mode & S_IFMT != S_IFREG { return .somethingElse("it is no file") }
    // SQLite would take an empty file for a new one, and delete the log beside it.
    if status.st_size == 0 { return exists(writeAheadLog) ? .somethingElse("it is empty") : .emptyFile }
    return .file
  }

  /// Makes an empty file if there is none. SQLite gives its own files the mode of this one.
  func makeFile() throws(StoreError) {
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { throw StoreError(file, "cannot be made", errno) }
    close(descriptor)
    try restrictFiles()
    try sync()
  }

  func restrictFiles() throws(StoreError) {
    for path in [file, writeAheadLog, reserve] where exists(path) { try StoreDirectory.restrict(path, to: 0o600) }
  }

  /// Syncs the names in the directory to the disk.
  func sync() throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { throw StoreError(path, "cannot be opened", errno) }
    defer { close(descriptor) }
    // Some file systems know no fsync of a directory.
    if fsync(descriptor) != 0, errno != EINVAL { throw StoreError(path, "cannot be synced", errno) }
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// In the place of a file of ours there must be a file or nothing. A link leads to somebody else's file, which is neither written nor given another
  /// mode; opening a pipe or a device would wait; and beside a directory the store may be intact, so a person has to look. Only the store itself is
  /// set aside, whatever it is.
  private static func refuseOthers(in directory: String) throws(StoreError) {
    for name in ["lock"]
      + ["", "-wal", "-journal", "-shm", "-doubt", "-wal-mended", "-reserve"].map({ "stagedoor.db" + $0 })
    {
      let path = "\(directory)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: continue
      case S_IFLNK:
        throw StoreError(.io, "\(path): is a symbolic link; put the file itself there, or link to the directory")
      default:
        if name != "stagedoor.db" {
          throw StoreError(.io, "\(path): is no file; take it away, and start stagedoord again")
        }
      }
    }
  }

  // MARK: The reserve

  private var reserve: String { path + "/stagedoor.db-reserve" }
  private static let reserveLength: off_t = 256 << 10

  /// Keeps some space of the disk for the records with which contents go. If there is none now, a later call tries again.
  func keepReserve() {
    let descriptor = open(reserve, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor < 0 { return }
    defer { close(descriptor) }
    if posix_fallocate(descriptor, 0, StoreDirectory.reserveLength) != 0 { unlink(reserve) }
  }

  /// Returns whether there was a reserve.
  func giveUpReserve() -> Bool { unlink(reserve) == 0 }

  // MARK: Setting aside

  /// Renames the store's files, so that a new store can begin. Returns the new name.
  func setAside(at now: Instant) throws(StoreError) -> String {
    var time = now.rfc3339.filter { $0 != "-" && $0 != ":" }
    // Six digits of a second, so that the names sort.
    if let point = time.firstIndex(of: ".") {
      let digits = time[time.index(after: point)...].dropLast()
      time = "\(time[..<point]).\(digits)\(String(repeating: "0", count: 6 - digits.count))Z"
    }
    var (name, count) = ("\(file)-set-aside-\(time)", 1)
    while exists(name) || exists(name + "-wal") || exists(name + "-spool") {
      count += 1
      name = "\(file)-set-aside-\(time)-\(count)"
    }
    // The contents before their store: the service deletes what its store does not know. A spool that cannot be moved, such as a mounted disk, stays.
    _ = rename(contents, name + "-spool")
    // The log before the store: a store without its log has lost the last acknowledged changes, and this does not show.
    for suffix in ["-wal", "-journal", "-shm", ""] where exists(file + suffix) {
      if rename(file + suffix, name + suffix) != 0 { throw StoreError(file + suffix, "cannot be set aside", errno) }
    }
    try sync()
    return name
  }

  // MARK: Doubt

  var isDoubted: Bool { exists(doubt) }

  /// Whether something was wrong with a file that is no longer there: it was set aside.
  var hasLostFile: Bool { isDoubted && !exists(file) }

  func rememberDoubt() {
    let descriptor = open(doubt, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  func forgetDoubt() { unlink(doubt) }
}

extension StoreError {
  init(_ path: String, _ what: String, _ errorNumber: Int32) {
    let kind: Kind
    switch errorNumber {
    case ENOSPC, EDQUOT, EFBIG: kind = .full
    case EACCES, EPERM, EROFS: kind = .readOnly
    default: kind = .io
    }
    self.init(kind, "\(path): \(what): \(String(cString: strerror(errorNumber)))", leavesDoubt: kind == .io)
  }
}

/// The identity of a file, whatever its name.
private struct FileIdentity: Equatable {
  let device: dev_t
  let inode: ino_t

  init?(_ path: String) {
    var status = stat()
    if stat(path, &status) != 0 { return nil }
    device = status.st_dev
    inode = status.st_ino
  }
}

/// The identity of a directory, and the time at which it last changed. Nobody can set this time.
private struct DirectoryState: Equatable {
  private let device: dev_t
  private let inode: ino_t
  private let seconds, nanoseconds: Int

  init?(_ path: String) {
    var status = stat()
    if stat(path, &status) != 0 { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
    (seconds, nanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
  }

  /// Whether a later change has another time. File systems give changes within some milliseconds the same time; those that keep whole seconds, within
  /// two seconds.
  var isSettled: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let passed = (now.tv_sec - seconds) * 1000 + (now.tv_nsec - nanoseconds) / 1_000_000
    return passed > (nanoseconds % 1_000_000 == 0 ? 3000 : 100)
  }
}
