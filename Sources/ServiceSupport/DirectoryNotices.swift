import DBus
import Glibc

/// The kernel's notices about directories, which may not exist yet: about files in them that come, go and are written, and about the
/// directories themselves. There is no notice about the target of a symbolic link: name the target's directory too.
///
/// For a missing directory, this watches its nearest existing ancestor, which reports when the next directory on the path comes. For a symbolic link
/// on the path, this also watches the directory that has the link.
package struct DirectoryNotices {
  /// Readable while there are notices.
  package let descriptor: Int32
  private let owner: OwnedFileDescriptor
  /// Files with other names do not count.
  private let isWanted: @Sendable (String) -> Bool
  /// The key is the kernel's number of a watch.
  private var watches: [Int32: Watch] = [:]

  private struct Watch {
    var mask: UInt32 = 0
    /// The missing directories that may appear in this one, and the links that may change.
    var awaited: Set<String> = []

    var hasFiles: Bool { mask & DirectoryNotices.files == DirectoryNotices.files }
  }

  /// `nil` if the kernel allows no other; `errno` says why.
  package init?(where isWanted: @escaping @Sendable (String) -> Bool) {
    self.isWanted = isWanted
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    if descriptor < 0 { return nil }
    owner = OwnedFileDescriptor(owning: descriptor)
  }

  // MARK: Watching

  /// Watches these directories, and no others from now on. Later changes are reported, so read the directories after this call. Returns the
  /// directories that cannot be watched, with the reason.
  package mutating func watch(_ directories: [String]) -> [String] {
    let before = watches
    watches = [:]
    var problems: [String] = []
    for directory in directories { watch(directory, &problems) }
    for number in before.keys where watches[number] == nil { inotify_rm_watch(descriptor, number) }
    return problems
  }

  /// Each directory on the path is watched before the next one is looked for, so a change between these is reported.
  private mutating func watch(_ directory: String, _ problems: inout [String]) {
    var path = "/"
    var rest = directory.split(separator: "/")
    var links = 0
    add(path, Self.itself, &problems)
    while !rest.isEmpty {
      let name = String(rest.removeFirst())
      let next = path == "/" ? "/\(name)" : "\(path)/\(name)"
      if links < LinkTarget.most, LinkTarget.of(next) != nil {
        links += 1
        add(path, Self.changes, awaiting: name, &problems)
        // The link may have changed before that.
        if let target = LinkTarget.of(next) {
          if target.hasPrefix("/") { path = "/" }
          rest = target.split(separator: "/") + rest
          continue
        }
      }
      if !add(next, Self.itself, &problems) {
        add(path, Self.arrivals, awaiting: name, &problems)
        // It may have come before that.
        if !add(next, Self.itself, &problems) { return }
      }
      path = next
    }
    add(path, Self.files, &problems)
  }

  /// A directory is watched once, even if several paths reach it, and the kernel adds the mask to earlier ones. Returns whether there may be a
  /// directory at the path.
  @discardableResult
  private mutating func add(
    _ path: String, _ mask: UInt32, awaiting name: String? = nil, _ problems: inout [String]
  ) -> Bool {
    let number = inotify_add_watch(descriptor, path, mask | UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD))
    if number < 0 {
      if [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(errno) { return false }
      let problem = "\(path): \(String(cString: strerror(errno)))"
      // A directory that others may pass and not list is not watched, and those in it are.
      if errno != EACCES, !problems.contains(problem) { problems.append(problem) }
      return true
    }
    watches[number, default: Watch()].mask |= mask
    if let name { watches[number]?.awaited.insert(name) }
    return true
  }

  private static let itself = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
  private static let arrivals = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
  private static let changes = arrivals | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE)
  private static let files = changes | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB)

  // MARK: Hearing

  /// Reads the waiting notices, and returns whether one of them matters.
  package func take() -> Bool {
    var matters = false
    var buffer = [UInt64](repeating: 0, count: 8 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return matters }
      buffer.withUnsafeBytes { bytes in
        var rest = bytes[..<count]
        while let event = Event(from: &rest) { matters = matters || self.matters(event) }
      }
    }
  }

  private func matters(_ event: Event) -> Bool {
    // Some notices are lost, and any of these may have mattered.
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
    guard let watch = watches[event.watch] else { return false }
    let isItself = event.mask & (Self.itself | UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)) != 0
    return isItself || watch.awaited.contains(event.name) || watch.hasFiles && isWanted(event.name)
  }

  /// The kernel's format: number, mask, cookie, length of the name, the name and zeros.
  private struct Event {
    let watch: Int32
    let mask: UInt32
    let name: String

    init?(from rest: inout Slice<UnsafeRawBufferPointer>) {
      let header = MemoryLayout<inotify_event>.size
      if rest.count < header { return nil }
      let bytes = UnsafeRawBufferPointer(rebasing: rest)
      watch = bytes.loadUnaligned(fromByteOffset: 0, as: Int32.self)
      mask = bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
      let length = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
      name = String(decoding: bytes[header..<header + length].prefix { $0 != 0 }, as: UTF8.self)
      rest = rest.dropFirst(header + length)
    }
  }
}
