import CFiles
import DBus
import Glibc
import SceneModel

/// The source of a content: a file, read from its start whatever offset the descriptor has; or a pipe or socket.
struct Source {
  enum Kind {
    case file, pipe, socket
  }

  let kind: Kind
  let descriptor: OwnedFileDescriptor
  /// The size of a file.
  let size: Int64?
  let place: String
  /// Whether the source was handed in as a descriptor, and not by its name.
  private let isHandedIn: Bool

  // MARK: Files by their names

  /// Opens a file by its URL, once, so that the file that is checked is the file that is read. Opening waits for nobody, such as a FIFO's writer or a
  /// lease.
  init(fileAt url: Text, _ place: String) throws(InterchangeError) {
    guard let path = FileURL.path(of: url) else {
      throw InterchangeError(
        .invalidPayload, "\(place): expected a file URL such as file:///home/user/Beach.png, got \"\(url)\"")
    }
    // The service's own descriptors have names as well, and must not be read by them.
    let number = stagedoor_open_path(
      path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    if number < 0 {
      let error = errno
      // A socket has a name, but cannot be opened.
      if error == ENXIO { throw InterchangeError(.invalidPayload, "\(place): is a socket; expected a file") }
      throw InterchangeError(.invalidPayload, place, "the file cannot be opened", error)
    }
    try self.init(OwnedFileDescriptor(owning: number), isHandedIn: false, place)
    if kind == .pipe { throw InterchangeError(.invalidPayload, "\(place): is a FIFO; expected a file") }
    waits(true)
  }

  // MARK: Descriptors of senders

  /// Looks at a descriptor without changing it.
  init(_ descriptor: OwnedFileDescriptor, _ place: String) throws(InterchangeError) {
    let flags = descriptor.withRawValue { fcntl($0, F_GETFL) }
    if flags < 0 { throw InterchangeError(.invalidPayload, place, "is no open descriptor", errno) }
    guard flags & O_PATH == 0, flags & O_ACCMODE != O_WRONLY else {
      throw InterchangeError(
        .invalidPayload, "\(place): is not open for reading; expected a descriptor that can be read")
    }
    try self.init(descriptor, isHandedIn: true, place)
  }

  private init(
    _ descriptor: OwnedFileDescriptor, isHandedIn: Bool, _ place: String
  ) throws(InterchangeError) {
    guard let status = descriptor.status else {
      throw InterchangeError(.invalidPayload, place, "cannot be looked at", errno)
    }
    func refusal(_ what: String) -> InterchangeError {
      InterchangeError(
        .invalidPayload, "\(place): is \(what); expected a file\(isHandedIn ? ", a pipe or a socket" : "")")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFIFO: kind = .pipe
    case S_IFSOCK: kind = .socket
    case S_IFDIR: throw refusal("a directory")
    case S_IFCHR, S_IFBLK: throw refusal("a device")
    default: throw refusal("something else")
    }
    size = kind == .file ? Int64(status.st_size) : nil
    (self.descriptor, self.isHandedIn, self.place) = (descriptor, isHandedIn, place)
  }

  // MARK: Other descriptors of the same file

  /// A read-only descriptor of the same file, with an offset of its own. If the file cannot be opened again, for example because it belongs to
  /// another user, the result is a duplicate, provided that the descriptor is read-only.
  func opened() throws(InterchangeError) -> OwnedFileDescriptor {
    if let again = reopened(O_NONBLOCK) {
      Source.waits(true, again)
      return again
    }
    let error = errno
    let copy = descriptor.withRawValue { number in
      fcntl(number, F_GETFL) & O_ACCMODE == O_RDONLY ? fcntl(number, F_DUPFD_CLOEXEC, 3) : -1
    }
    if copy < 0 { throw InterchangeError(.sourceGone, place, "the content cannot be opened again", error) }
    return OwnedFileDescriptor(owning: copy)
  }

  /// The same source for a reader that never blocks, whoever else reads from it: a pipe is opened again, with flags that nobody else can change.
  func withoutWaiting() -> Source {
    guard kind == .pipe else { return self }
    if let again = reopened(O_NONBLOCK) { return Source(self, again) }
    waits(false)
    return self
  }

  private init(_ source: Source, _ descriptor: OwnedFileDescriptor) {
    (kind, size, place, isHandedIn) = (source.kind, source.size, source.place, source.isHandedIn)
    self.descriptor = descriptor
  }

  private func reopened(_ flags: Int32) -> OwnedFileDescriptor? {
    let number = descriptor.withRawValue { open("/proc/self/fd/\($0)", O_RDONLY | O_CLOEXEC | O_NOCTTY | flags) }
    return number < 0 ? nil : OwnedFileDescriptor(owning: number)
  }

  private func waits(_ waits: Bool) { Source.waits(waits, descriptor) }

  static func waits(_ waits: Bool, _ descriptor: OwnedFileDescriptor) {
    _ = descriptor.withRawValue { fcntl($0, F_SETFL, waits ? 0 : O_NONBLOCK) }
  }

  // MARK: Reading

  enum Piece {
    case bytes(Int)
    case end
    /// No bytes are there yet.
    case later
  }

  /// Reads the available bytes into the beginning of a buffer.
  ///
  /// - Parameter offset: The number of bytes read before.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(InterchangeError) -> Piece {
    while true {
      let (count, error) = descriptor.withRawValue { number in
        switch kind {
        case .file: (pread(number, buffer.baseAddress, buffer.count, off_t(offset)), errno)
        case .pipe: (Glibc.read(number, buffer.baseAddress, buffer.count), errno)
        case .socket: (recv(number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)), errno)
        }
      }
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      switch error {
      case EINTR: continue
      case EAGAIN: return .later
      default:
        throw InterchangeError(isHandedIn ? .sourceGone : .invalidPayload, place, "the content cannot be read", error)
      }
    }
  }

  /// Lets the kernel copy a piece of a file. `nil` if it cannot, and also at the end of the file: reading tells which.
  func copyPiece(of count: Int, at offset: Int64, to file: OwnedFileDescriptor) -> Int? {
    var (from, to) = (loff_t(offset), loff_t(offset))
    let copied = descriptor.withRawValue { source in
      file.withRawValue { copy_file_range(source, &from, $0, &to, count, 0) }
    }
    return copied > 0 ? copied : nil
  }
}

extension OwnedFileDescriptor {
  /// The kind and the size of the descriptor's file; `nil` if it is closed.
  var status: stat? {
    var status = stat()
    return withRawValue { fstat($0, &status) } == 0 ? status : nil
  }
}
