import CFiles
import DBus
import Glibc
import SceneModel

/// The source of a content: a file, read from its start whatever offset the descriptor has; or a pipe or socket.
///
/// What touches a file that the service did not make runs on the ``FileThreads``, with a descriptor that nobody else uses.
struct Source: Sendable {
  enum Kind {
    case spooled
    /// A memory file that nobody can change.
    case sealed
    /// Another memory file. The kernel alone has it, so nobody ever waits for it.
    case memory
    /// A file that the service did not make.
    case file
    /// A pipe with a name, which opens through its file system.
    case fifo
    case pipe, socket
  }

  let kind: Kind
  let descriptor: OwnedFileDescriptor
  let size: Int64?
  let place: String
  /// Whether the source was handed in as a descriptor, and not by its name.
  private let isHandedIn: Bool

  init(
    _ kind: Kind, _ descriptor: OwnedFileDescriptor, size: Int64? = nil, isHandedIn: Bool = true, _ place: String
  ) {
    (self.kind, self.descriptor, self.size, self.isHandedIn, self.place) = (kind, descriptor, size, isHandedIn, place)
  }

  /// Whether its file system may not answer.
  var isForeign: Bool { kind == .file || kind == .fifo }

  // MARK: Files by their names

  /// Opens a file by its URL, once, so that the file that is checked is the file that is read. Opening waits for no other program, such as a FIFO's
  /// writer or the holder of a lease. For a thread.
  ///
  /// - Parameter isCanonical: Whether the path has no symbolic links, and may not have got any since.
  init(fileAt url: Text, isCanonical: Bool, _ place: String) throws(InterchangeError) {
    guard let path = FileURL.path(of: url) else {
      throw InterchangeError(
        .invalidPayload, "\(place): expected a file URL such as file:///home/user/Beach.png, got \"\(url)\"")
    }
    // The service's own descriptors have names as well, and must not be read by them.
    let open = isCanonical ? stagedoor_open_canonical_path : stagedoor_open_path
    let number = open(path.map { CChar(bitPattern: $0) } + [0], O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    if number < 0 {
      let error = errno
      // A socket has a name, but cannot be opened.
      if error == ENXIO { throw InterchangeError(.invalidPayload, "\(place): is a socket; expected a file") }
      throw InterchangeError(.invalidPayload, place, "the file cannot be opened", error)
    }
    self = try Source(lookingAt: OwnedFileDescriptor(owning: number), isHandedIn: false, place)
    if kind == .fifo { throw InterchangeError(.invalidPayload, "\(place): is a FIFO; expected a file") }
    Source.waits(true, descriptor)
  }

  /// The URL of an open file, without symbolic links; `nil` if the file has no name any more. For a thread.
  var canonicalURL: Text? {
    let path = descriptor.name(atMost: Int(PATH_MAX))
    return path.first == UInt8(ascii: "/") && path.count < PATH_MAX ? FileURL.text(ofPath: path) : nil
  }

  // MARK: Descriptors of senders

  /// Recognizes a pipe, a socket or a memory file, and asks no file system. `nil` if it is something else.
  init?(recognizing descriptor: OwnedFileDescriptor, _ place: String) throws(InterchangeError) {
    let flags = descriptor.withRawValue { fcntl($0, F_GETFL) }
    if flags < 0 { throw InterchangeError(.invalidPayload, place, "is no open descriptor", errno) }
    guard flags & O_PATH == 0, flags & O_ACCMODE != O_WRONLY else {
      throw InterchangeError(
        .invalidPayload, "\(place): is not open for reading; expected a descriptor that can be read")
    }
    let seals = descriptor.seals
    if seals >= 0, let status = descriptor.status, status.st_mode & S_IFMT == S_IFREG {
      let all = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW
      self.init(seals & all == all ? .sealed : .memory, descriptor, size: Int64(status.st_size), place)
    } else {
      // The kernel names what has no name in a file system so.
      let name = descriptor.name(atMost: 16)
      if name.starts(with: "pipe:[".utf8) {
        self.init(.pipe, descriptor, place)
      } else if name.starts(with: "socket:[".utf8) {
        // A socket of datagrams has no end, and may be readable and empty at the same time for ever.
        guard descriptor.isStreamSocket else {
          throw InterchangeError(.invalidPayload, "\(place): is a socket of messages; expected a stream")
        }
        self.init(.socket, descriptor, place)
      } else {
        return nil
      }
    }
  }

  /// Looks at a descriptor without changing it. For a thread.
  init(
    lookingAt descriptor: OwnedFileDescriptor, isHandedIn: Bool = true, _ place: String
  ) throws(InterchangeError) {
    guard let status = descriptor.status else {
      throw InterchangeError(.invalidPayload, place, "cannot be looked at", errno)
    }
    func refusal(_ what: String) -> InterchangeError {
      InterchangeError(
        .invalidPayload, "\(place): is \(what); expected a file\(isHandedIn ? ", a pipe or a socket" : "")")
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: self.init(.file, descriptor, size: Int64(status.st_size), isHandedIn: isHandedIn, place)
    case S_IFIFO: self.init(.fifo, descriptor, isHandedIn: isHandedIn, place)
    case S_IFDIR: throw refusal("a directory")
    case S_IFCHR, S_IFBLK: throw refusal("a device")
    default: throw refusal("of an unsupported kind")
    }
  }

  // MARK: Other descriptors of the same file

  /// The same file with a read-only descriptor, which has an offset of its own. If the file cannot be opened again, for example because it belongs
  /// to another user, the descriptor is a duplicate, provided that it is read-only.
  func openedAgain() throws(InterchangeError) -> Source {
    let again: OwnedFileDescriptor
    if let reopened = reopened() {
      Source.waits(true, reopened)
      again = reopened
    } else {
      let error = errno
      let isReadOnly = descriptor.withRawValue { fcntl($0, F_GETFL) & O_ACCMODE == O_RDONLY }
      guard isReadOnly else { throw InterchangeError(.sourceGone, place, "the content cannot be opened again", error) }
      again = try descriptor.duplicate(place)
    }
    return Source(kind, again, size: size, isHandedIn: isHandedIn, place)
  }

  /// The same source for a reader that never blocks, whoever else reads from it: a pipe is opened again, with flags that nobody else can change. A pipe
  /// that cannot be opened again is refused: its sender could make the reader wait.
  func withoutWaiting() throws(InterchangeError) -> Source {
    guard kind == .pipe || kind == .fifo else { return self }
    guard let again = reopened() else {
      throw InterchangeError(
        .invalidPayload, place, "the pipe cannot be opened again for reading", errno)
    }
    return Source(kind, again, isHandedIn: isHandedIn, place)
  }

  private func reopened() -> OwnedFileDescriptor? {
    let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
    let number = descriptor.withRawValue { open("/proc/self/fd/\($0)", flags) }
    return number < 0 ? nil : OwnedFileDescriptor(owning: number)
  }

  static func waits(_ waits: Bool, _ descriptor: OwnedFileDescriptor) {
    _ = descriptor.withRawValue { fcntl($0, F_SETFL, waits ? 0 : O_NONBLOCK) }
  }

  // MARK: Reading

  enum Piece {
    case bytes(Int)
    case end
    /// No bytes have come yet.
    case later
  }

  /// Reads the available bytes into the beginning of a buffer.
  ///
  /// - Parameter offset: The number of bytes read before.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(InterchangeError) -> Piece {
    while true {
      let (count, error) = descriptor.withRawValue { number in
        switch kind {
        case .spooled, .sealed, .memory, .file: (pread(number, buffer.baseAddress, buffer.count, off_t(offset)), errno)
        case .pipe, .fifo: (Glibc.read(number, buffer.baseAddress, buffer.count), errno)
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

  func bytes(_ count: Int, at offset: Int64) throws(InterchangeError) -> (bytes: [UInt8], Piece) {
    var piece: Result<Piece, InterchangeError> = .success(.end)
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(InterchangeError) {
        let read = try read(UnsafeMutableRawBufferPointer(buffer), at: offset)
        if case .bytes(let more) = read { filled = more }
        piece = .success(read)
      } catch {
        piece = .failure(error)
      }
    }
    return (bytes, try piece.get())
  }

  /// Copies a piece to a file: the kernel copies up to `count` bytes of a file, or some bytes are read and written.
  func copyPiece(of count: Int, at offset: Int64, to file: OwnedFileDescriptor) throws(InterchangeError) -> Piece {
    if kind == .file || kind == .sealed || kind == .memory {
      var (from, to) = (loff_t(offset), loff_t(offset))
      let copied = descriptor.withRawValue { source in
        file.withRawValue { copy_file_range(source, &from, $0, &to, count, 0) }
      }
      if copied > 0 { return .bytes(copied) }
      // The kernel cannot copy this file, or this is its end: reading tells which.
    }
    let (bytes, piece) = try bytes(min(count, BaggageLimits.buffer), at: offset)
    if !bytes.isEmpty { try file.store(bytes, at: offset, place) }
    return piece
  }
}

extension OwnedFileDescriptor {
  /// The kind and the size of the descriptor's file; `nil` if it is closed.
  var status: stat? {
    var status = stat()
    return withRawValue { fstat($0, &status) } == 0 ? status : nil
  }

  /// The seals of a memory file; negative for other files.
  fileprivate var seals: Int32 { withRawValue { fcntl($0, F_GET_SEALS) } }

  /// Whether the file is in memory: closing it asks no file system.
  var isInMemory: Bool { seals >= 0 }

  fileprivate var isStreamSocket: Bool {
    var (type, length) = (0 as Int32, socklen_t(MemoryLayout<Int32>.size))
    let error = withRawValue { getsockopt($0, SOL_SOCKET, SO_TYPE, &type, &length) }
    return error == 0 && type == Int32(SOCK_STREAM.rawValue)
  }

  /// The first bytes of the kernel's name of the descriptor's file: its path, or what it is.
  fileprivate func name(atMost limit: Int) -> [UInt8] {
    var name = [CChar](repeating: 0, count: limit)
    let count = withRawValue { readlink("/proc/self/fd/\($0)", &name, limit) }
    return name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
  }

  func duplicate(_ place: String) throws(InterchangeError) -> OwnedFileDescriptor {
    let copy = withRawValue { fcntl($0, F_DUPFD_CLOEXEC, 3) }
    if copy < 0 { throw InterchangeError(.sourceGone, place, "the content cannot be opened again", errno) }
    return OwnedFileDescriptor(owning: copy)
  }

  /// Writes all of the bytes to a file of the baggage store.
  func store(_ bytes: [UInt8], at offset: Int64, _ place: String) throws(InterchangeError) {
    let error = bytes.withUnsafeBytes { write($0, at: offset) }
    if error != 0 { throw InterchangeError(.storageFailed, place, "the content cannot be stored", error) }
  }
}
