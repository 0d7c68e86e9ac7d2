import Glibc

/// The kernel's notices about directories, which may not exist yet: about files in them that come, go and are written, and about the
/// directories themselves. There is no notice about the target of a symbolic link: name the target's directory too.
///
/// For a missing directory, this watches its nearest existing ancestor, which reports when the next directory on the path comes.
package struct DirectoryNotices {
  /// Readable while there are notices.
  package let descriptor: Int32
  /// Watched from the next ``watch()`` on.
  package var directories: [String]
  /// Files with other names do not count.
  private let isWanted: @Sendable (String) -> Bool
  /// The key is the kernel's number of a watch.
  private var watches: [Int32: Watch] = [:]

  private struct Watch: Equatable {
    var path: String
    var mask: UInt32
    /// The missing directories that may appear in this one.
    var awaited: Set<String> = []
    var hasFiles = false
  }

  /// `nil` if the kernel allows no other; `errno` says why.
  package init?(of directories: [String], where isWanted: @escaping @Sendable (String) -> Bool) {
    self.directories = directories
    self.isWanted = isWanted
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    if descriptor < 0 { return nil }
  }

  // MARK: Watching

  /// Watches the directories that exist now. Later changes are reported, so read the directories after this call. Returns the directories
  /// that cannot be watched, with the reason.
  package mutating func watch() -> [String] {
    var problems: [String] = []
    // A change between looking and watching is not reported, so this looks again. A directory that comes and goes all the time is reported
    // anyway.
    for _ in 0..<8 {
      let wanted = places()
      problems = apply(wanted)
      if places() == wanted { break }
    }
    return problems
  }

  private struct Place: Hashable {
    let device: dev_t
    let file: ino_t
  }

  /// A directory is watched once, even if several paths reach it: the kernel keeps one mask for it.
  private func places() -> [Place: Watch] {
    var places: [Place: Watch] = [:]
    for directory in directories {
      var path = ""
      let elements = directory.split(separator: "/").map(String.init)
      for depth in 0...elements.count {
        if depth > 0 { path += "/\(elements[depth - 1])" }
        guard let place = Self.place(of: depth == 0 ? "/" : path) else { break }
        let next = depth < elements.count ? elements[depth] : nil
        let isLast = next.map { Self.place(of: "\(path)/\($0)") == nil } ?? false
        var watch = places[place] ?? Watch(path: depth == 0 ? "/" : path, mask: Self.itself)
        if next == nil {
          watch.mask |= Self.files
          watch.hasFiles = true
        } else if isLast, let next {
          watch.mask |= Self.arrivals
          watch.awaited.insert(next)
        }
        places[place] = watch
      }
    }
    return places
  }

  private static let itself = UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)
  private static let arrivals = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
  private static let files =
    arrivals | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE) | UInt32(IN_ATTRIB)

  private static func place(of directory: String) -> Place? {
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return Place(device: status.st_dev, file: status.st_ino)
  }

  private mutating func apply(_ wanted: [Place: Watch]) -> [String] {
    var problems: [String] = []
    let before = watches
    watches = [:]
    for watch in wanted.values {
      let number = inotify_add_watch(descriptor, watch.path, watch.mask | UInt32(IN_ONLYDIR))
      if number >= 0 {
        watches[number] = watch
      } else if errno != ENOENT, errno != ENOTDIR, errno != EACCES {
        problems.append("\(watch.path): \(String(cString: strerror(errno)))")
      }
    }
    for number in before.keys where watches[number] == nil { inotify_rm_watch(descriptor, number) }
    return problems
  }

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
