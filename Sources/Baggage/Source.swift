import CFiles
import DBus
import Glibc
import SceneModel

/// Where content is read from: a file from its start, whatever offset the descriptor has, or a pipe or socket as it comes.
struct Source {
  enum Kind {
    case file, pipe, socket
  }

  let kind: Kind
  let descriptor: OwnedFileDescriptor
  /// Of a file.
  let size: Int64?
  let place: String
  /// As a descriptor, and not by its name.
  private let isHandedIn: Bool

  // MARK: Files by their names

  /// Opens a file by its URL, once: what is looked at is what is read. Opening waits for nobody, a FIFO's writer or a lease among them.
  init(fileAt url: Text, _ place: String) throws(InterchangeError) {
    guard let path = FileURL.path(of: url) else {
      throw InterchangeError(
        .invalidPayload, "\(place): expected a file URL such as file:///home/user/Beach.png, got \"\(url)\"")
    }
    // The service's own descriptors have names as well, and are nobody else's files.
    let number = stagedoor_open_path(
      path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    if number < 0 {
      let error = errno
      // A socket has a name that nobody can open.
      if error == ENXIO { throw InterchangeError(.invalidPayload, "\(place): is a socket; expected a file") }
      throw InterchangeError(.invalidPayload, place, "the file cannot be opened", error)
    }
    try self.init(OwnedFileDescriptor(owning: number), isHandedIn: false, place)
    if kind == .pipe { throw InterchangeError(.invalidPayload, "\(place): is a FIFO; expected a file") }
    waits(true)
  }

  // MARK: Descriptors that somebody handed in

  /// Looks at a descriptor, and changes nothing about it.
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

  // MARK: Other descriptors of the same

  /// A descriptor of the same file for reading alone, with an offset of its own. Where it cannot be opened again, as a file of another user,
  /// it is a duplicate, if it is for reading alone.
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

  /// The same source for a reader that never waits in a read, whoever else reads from it: of a pipe that is another opening, with flags that
  /// nobody else can change.
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
    /// Nothing is there yet.
    case later
  }

  /// Reads what is there into a buffer, from its beginning.
  ///
  /// - Parameter offset: how much was read before.
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

  /// Has the kernel copy a piece of a file. `nil` where it cannot, and where it has nothing more: reading tells which.
  func copyPiece(of count: Int, at offset: Int64, to file: OwnedFileDescriptor) -> Int? {
    var (from, to) = (loff_t(offset), loff_t(offset))
    let copied = descriptor.withRawValue { source in
      file.withRawValue { copy_file_range(source, &from, $0, &to, count, 0) }
    }
    return copied > 0 ? copied : nil
  }
}

extension OwnedFileDescriptor {
  /// What the descriptor is of, and how long that is; `nil` where it is closed.
  var status: stat? {
    var status = stat()
    return withRawValue { fstat($0, &status) } == 0 ? status : nil
  }
}
