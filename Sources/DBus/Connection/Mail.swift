internal import CDBus
internal import Glibc

/// Small messages that leave together, by one system call, when the turn of the loop ends.
///
/// libdbus asks the socket and writes to it for each message. A call is most often answered by signals and a reply: sent in one piece
/// they cost one write here, and wake the bus once.
struct Mail {
  /// Bytes that wait at most. The kernel takes so much in one piece or not at all.
  private static let limit = 8192
  /// What the socket has to have room for, so that this is so.
  private static let leastRoom: Int32 = 65_536
  private static let maximumMessages = 64

  private var messages: [MessageBytes] = []
  private var size = 0
  private var lastNumber: UInt32 = 0
  private var socket = Socket.unknown

  private enum Socket {
    /// The two sides have not said who they are, or nobody has looked.
    case unknown
    case known(Int32)
    /// One where a message might be sent by halves.
    case unfit
  }

  var isEmpty: Bool { messages.isEmpty }
  var isFull: Bool { size > Mail.limit / 2 || messages.count == Mail.maximumMessages }

  mutating func nextNumber() -> UInt32 {
    lastNumber = lastNumber == .max ? 1 : lastNumber + 1
    return lastNumber
  }

  /// Whether messages may leave past libdbus, which has nothing to send itself.
  mutating func isOpen(on connection: OpaquePointer) -> Bool {
    if case .unknown = socket { look(at: connection) }
    if case .known = socket { return true }
    return false
  }

  private mutating func look(at connection: OpaquePointer) {
    guard dbus_connection_get_is_authenticated(connection) != 0 else { return }
    socket = .unfit
    var descriptor: Int32 = -1
    guard dbus_connection_get_unix_fd(connection, &descriptor) != 0,
      Mail.option(SO_DOMAIN, of: descriptor) == AF_UNIX,
      let room = Mail.option(SO_SNDBUF, of: descriptor), room >= Mail.leastRoom
    else { return }
    socket = .known(descriptor)
  }

  private static func option(_ name: Int32, of socket: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  mutating func add(_ message: MessageBytes, _ number: UInt32) {
    message.setSerial(number)
    messages.append(message)
    size += message.count
  }

  /// Sends all of it. Where the socket is full, or gone, `connection` takes it: it knows how to wait, and how to end.
  ///
  /// Returns whether the connection still makes sense to its other side.
  mutating func leave(_ connection: OpaquePointer) -> Bool {
    defer {
      messages.removeAll(keepingCapacity: true)
      size = 0
    }
    let sent = write()
    if sent == size { return true }
    if sent > 0 {
      socket = .unfit
      return false
    }
    for message in messages {
      // For want of memory, as with any message that libdbus cannot take.
      guard let raw = message.makeRaw() else { continue }
      dbus_connection_send(connection, raw, nil)
      dbus_message_unref(raw)
    }
    return true
  }

  /// How many bytes the socket took: all or none, as long as the kernel does what it has always done with so few.
  private func write() -> Int {
    guard case .known(let descriptor) = socket else { return 0 }
    return withUnsafeTemporaryAllocation(of: iovec.self, capacity: messages.count) { parts in
      for (place, message) in messages.enumerated() {
        parts.initializeElement(at: place, to: iovec(iov_base: message.start, iov_len: message.count))
      }
      var header = msghdr()
      header.msg_iov = parts.baseAddress
      header.msg_iovlen = messages.count
      return sendmsg(descriptor, &header, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }
}
