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
  private var lastSerial: UInt32 = 0
  /// Whether the socket takes them whole; `nil` while the two sides have not said who they are.
  private var isFit: Bool?

  var isEmpty: Bool { messages.isEmpty }
  /// There is no room for one more of any length.
  var isFull: Bool { size > Mail.limit - MessageBytes.smallLimit || messages.count == Mail.maximumMessages }

  /// Serials of what is answered by nobody are counted. Calls have serials that nobody guesses: see ``PendingCalls``.
  mutating func nextSerial() -> UInt32 {
    lastSerial = lastSerial == .max ? 1 : lastSerial + 1
    return lastSerial
  }

  /// Whether messages may leave past libdbus: the socket is fit for it, and libdbus has nothing to send that would be overtaken.
  mutating func isOpen(on connection: OpaquePointer) -> Bool {
    if isFit == nil, dbus_connection_get_is_authenticated(connection) != 0 { isFit = Mail.isFit(connection) }
    return isFit == true && dbus_connection_has_messages_to_send(connection) == 0
  }

  private static func isFit(_ connection: OpaquePointer) -> Bool {
    guard let descriptor = descriptor(of: connection), option(SO_DOMAIN, of: descriptor) == AF_UNIX,
      let room = option(SO_SNDBUF, of: descriptor)
    else { return false }
    return room >= leastRoom
  }

  /// Asked each time: libdbus closes it as soon as the other side has gone, and the number may be another socket's.
  private static func descriptor(of connection: OpaquePointer) -> Int32? {
    var descriptor: Int32 = -1
    return dbus_connection_get_unix_fd(connection, &descriptor) != 0 ? descriptor : nil
  }

  private static func option(_ name: Int32, of socket: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  mutating func add(_ message: MessageBytes, _ serial: UInt32) {
    message.setSerial(serial)
    messages.append(message)
    size += message.count
  }

  /// Sends all of it. Where the socket is full, or gone, `connection` takes it: it knows how to wait, and how to end. Answers the messages that it
  /// has no memory for.
  mutating func leave(_ connection: OpaquePointer) -> [MessageBytes] {
    defer {
      messages.removeAll(keepingCapacity: true)
      size = 0
    }
    if let descriptor = Mail.descriptor(of: connection) {
      let sent = write(to: descriptor)
      if sent == size { return [] }
      if sent > 0 {
        // The kernel has always taken so little in one piece. What came now would be read as the rest of a message.
        isFit = false
        shutdown(descriptor, Int32(SHUT_RDWR))
        return []
      }
    }
    for (place, message) in messages.enumerated() {
      guard let raw = message.makeRaw() else { return Array(messages[place...]) }
      defer { dbus_message_unref(raw) }
      if dbus_connection_send(connection, raw, nil) == 0 { return Array(messages[place...]) }
    }
    return []
  }

  private func write(to descriptor: Int32) -> Int {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: messages.count) { parts in
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
