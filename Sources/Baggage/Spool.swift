import DBus
import Glibc
import SceneModel

/// The directory of the contents: `spool/<delivery>/<number>`, and `spool/snapshots/<session>.<type>`.
///
/// No link in it is followed. It is opened anew for each action, so a spool that somebody has removed is made again.
struct Spool: Sendable {
  /// The directory that contains the spool.
  let parent: String
  /// Whether bytes are on the disk before anyone hears that they are kept.
  let isSynced: Bool

  static let snapshots = "snapshots"

  var path: String { parent + "/spool" }

  var exists: Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  // MARK: Directories

  /// The spool itself; `nil` if it does not exist and should not be made.
  private func root(isMade: Bool) throws(InterchangeError) -> OwnedFileDescriptor? {
    let number = Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if number < 0 { throw InterchangeError(.storageFailed, parent, "cannot be opened", errno) }
    return try directory("spool", in: OwnedFileDescriptor(owning: number), isMade: isMade)
  }

  private func directory(_ name: String, isMade: Bool) throws(InterchangeError) -> OwnedFileDescriptor? {
    guard let root = try root(isMade: isMade) else { return nil }
    return try directory(name, in: root, isMade: isMade)
  }

  private func directory(
    _ name: String, in parent: OwnedFileDescriptor, isMade: Bool
  ) throws(InterchangeError) -> OwnedFileDescriptor? {
    if let there = try Spool.open(name, in: parent) { return there }
    if !isMade { return nil }
    let (result, error) = parent.withRawValue { (mkdirat($0, name, 0o700), errno) }
    if result != 0, error != EEXIST { throw InterchangeError(.storageFailed, name, "cannot be made", error) }
    try sync(parent, name)
    guard let made = try Spool.open(name, in: parent) else {
      throw InterchangeError(.storageFailed, name, "cannot be opened", ENOENT)
    }
    return made
  }

  private static func open(_ name: String, in parent: OwnedFileDescriptor) throws(InterchangeError)
    -> OwnedFileDescriptor?
  {
    let (number, error) = parent.withRawValue {
      (openat($0, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), errno)
    }
    if number >= 0 { return OwnedFileDescriptor(owning: number) }
    if error == ENOENT { return nil }
    throw InterchangeError(.storageFailed, "\(name) in the spool", "cannot be opened as a directory", error)
  }

  private func sync(_ descriptor: OwnedFileDescriptor, _ name: String) throws(InterchangeError) {
    if !isSynced { return }
    let (result, error) = descriptor.withRawValue { (fsync($0), errno) }
    // Some file systems know no fsync of a directory.
    if result != 0, error != EINVAL { throw InterchangeError(.storageFailed, name, "cannot be synced", error) }
  }

  // MARK: Writing

  /// A file that is being written. It gets its own name once it is complete.
  struct Unfinished: Sendable {
    let file: OwnedFileDescriptor
    fileprivate let directory: OwnedFileDescriptor
    fileprivate let temporaryName: String
    let name: String
  }

  /// - Parameter number: A number that no other unfinished file has.
  func begin(_ name: String, in directory: String, _ number: UInt64) throws(InterchangeError) -> Unfinished {
    guard let directory = try self.directory(directory, isMade: true) else {
      preconditionFailure("a directory that was to be made is not there")
    }
    let temporaryName = "unfinished-\(number)"
    // Nobody writes to it by mistake. A program of the same user that has a descriptor could change the mode, so a sandboxed one gets none.
    let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let (file, error) = directory.withRawValue { parent in
      // A file that an earlier service has left may have the same name, and is read-only.
      unlinkat(parent, temporaryName, 0)
      return (openat(parent, temporaryName, flags, 0o400), errno)
    }
    if file < 0 { throw InterchangeError(.storageFailed, "the spool", "no file can be made", error) }
    return Unfinished(
      file: OwnedFileDescriptor(owning: file), directory: directory, temporaryName: temporaryName, name: name)
  }

  /// What was written to the file so far is on the disk when this returns.
  func sync(_ unfinished: Unfinished) throws(InterchangeError) { try sync(unfinished.file, "the spool") }

  func finish(_ unfinished: Unfinished) throws(InterchangeError) {
    try sync(unfinished.file, "the spool")
    let (result, error) = unfinished.directory.withRawValue {
      (renameat($0, unfinished.temporaryName, $0, unfinished.name), errno)
    }
    if result != 0 { throw InterchangeError(.storageFailed, "the spool", "the file cannot be renamed", error) }
    try sync(unfinished.directory, "the spool")
  }

  /// Removes the file, and the directory that was made for it alone.
  func abandon(_ unfinished: Unfinished, in directory: String) {
    unfinished.directory.withRawValue { _ = unlinkat($0, unfinished.temporaryName, 0) }
    removeIfEmpty(directory)
  }

  // MARK: Reading

  /// Returns a new descriptor of a file, and its size; `nil` if there is no such file.
  func open(_ name: String, in directory: String) throws(InterchangeError) -> (OwnedFileDescriptor, Int64)? {
    guard let directory = try self.directory(directory, isMade: false) else { return nil }
    let (number, error) = directory.withRawValue {
      (openat($0, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), errno)
    }
    if number < 0 {
      if error == ENOENT || error == ELOOP { return nil }
      throw InterchangeError(.storageFailed, "the spool", "the file cannot be opened", error)
    }
    let file = OwnedFileDescriptor(owning: number)
    guard let status = file.status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    Source.waits(true, file)
    return (file, Int64(status.st_size))
  }

  // MARK: Removing

  func remove(_ name: String, in directory: String) throws(InterchangeError) {
    guard let directory = try self.directory(directory, isMade: false) else { return }
    try Spool.remove(Array(name.utf8CString), in: directory)
  }

  func removeIfEmpty(_ directory: String) { rmdir("\(path)/\(directory)") }

  /// Removes the directory of a delivery with its contents.
  func remove(_ directory: String) throws(InterchangeError) {
    if let root = try root(isMade: false) { try Spool.remove(Array(directory.utf8CString), in: root) }
  }

  /// Removes anything with a name: of a link the link itself, of a directory everything in it.
  private static func remove(
    _ name: [CChar], in parent: OwnedFileDescriptor, depth: Int = 0
  ) throws(InterchangeError) {
    let (result, error) = parent.withRawValue { (unlinkat($0, name, 0), errno) }
    if result == 0 || error == ENOENT { return }
    // Limits the descriptors for a directory that somebody has nested without end.
    guard error == EISDIR, depth < 16 else {
      throw InterchangeError(.storageFailed, "the spool", "a file cannot be removed", error)
    }
    let (number, failure) = parent.withRawValue {
      (openat($0, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), errno)
    }
    if number < 0 { throw InterchangeError(.storageFailed, "the spool", "a directory cannot be opened", failure) }
    let directory = OwnedFileDescriptor(owning: number)
    for name in try names(in: directory) { try remove(name, in: directory, depth: depth + 1) }
    let (removed, reason) = parent.withRawValue { (unlinkat($0, name, AT_REMOVEDIR), errno) }
    if removed != 0, reason != ENOENT {
      throw InterchangeError(.storageFailed, "the spool", "a directory cannot be removed", reason)
    }
  }

  /// The names in a directory, each with its NUL.
  private static func names(in directory: OwnedFileDescriptor) throws(InterchangeError) -> [[CChar]] {
    let (copy, error) = directory.withRawValue { (openat($0, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), errno) }
    guard copy >= 0, let stream = fdopendir(copy) else {
      let error = copy < 0 ? error : errno
      if copy >= 0 { close(copy) }
      throw InterchangeError(.storageFailed, "the spool", "a directory cannot be read", error)
    }
    defer { closedir(stream) }
    var names: [[CChar]] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
      }
      if name != [46, 0], name != [46, 46, 0] { names.append(name) }
    }
    return names
  }

  // MARK: Sweeping

  /// Removes everything that belongs to no delivery of `kept`: files that a crashed service had begun or had not yet freed. What cannot be removed
  /// keeps nothing else; the first of it is the error.
  func sweep(keeping kept: Set<UniqueIdentifier>) throws(InterchangeError) {
    guard let root = try root(isMade: false) else { return }
    var failure: InterchangeError?
    for name in try Spool.names(in: root) where Spool.text(name) != Spool.snapshots {
      do throws(InterchangeError) { try sweep(name, in: root, kept) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func sweep(
    _ name: [CChar], in root: OwnedFileDescriptor, _ kept: Set<UniqueIdentifier>
  ) throws(InterchangeError) {
    guard let text = Spool.text(name), let delivery = UniqueIdentifier(Text(text)), delivery.description == text,
      kept.contains(delivery), Spool.status(of: name, in: root)?.isDirectory ?? true
    else { return try Spool.remove(name, in: root) }
    guard let directory = try Spool.open(text, in: root) else { return }
    for name in try Spool.names(in: directory) where !Spool.isKeptFile(name, in: directory) {
      try Spool.remove(name, in: directory)
    }
  }

  private static func isKeptFile(_ name: [CChar], in directory: OwnedFileDescriptor) -> Bool {
    guard let text = text(name), let number = Int(text), number >= 0, "\(number)" == text else { return false }
    return status(of: name, in: directory)?.isFile ?? false
  }

  private static func status(of name: [CChar], in directory: OwnedFileDescriptor) -> stat? {
    var status = stat()
    return directory.withRawValue { fstatat($0, name, &status, AT_SYMLINK_NOFOLLOW) } == 0 ? status : nil
  }

  private static func text(_ name: [CChar]) -> String? {
    String(validating: name.dropLast().lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  // MARK: Snapshots

  struct SnapshotFile {
    let name: String
    let size: Int
    /// The time of writing, in nanoseconds.
    let written: Int64
  }

  /// The files of snapshots. Everything else in their directory is removed.
  func snapshotFiles() throws(InterchangeError) -> [SnapshotFile] {
    guard let directory = try directory(Spool.snapshots, isMade: false) else { return [] }
    var files: [SnapshotFile] = []
    for name in try Spool.names(in: directory) {
      guard let text = Spool.text(name), SnapshotName(text) != nil,
        let status = Spool.status(of: name, in: directory), status.isFile
      else {
        // What cannot be removed is no snapshot, and harms none.
        try? Spool.remove(name, in: directory)
        continue
      }
      let written = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
      files.append(SnapshotFile(name: text, size: Int(status.st_size), written: written))
    }
    return files
  }
}

extension stat {
  fileprivate var isFile: Bool { st_mode & S_IFMT == S_IFREG }
  fileprivate var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}
