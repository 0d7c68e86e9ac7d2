internal import CDBus
internal import Glibc

/// Small messages that leave together, by one system call, when the turn of the loop ends.
///
/// libdbus polls the socket and writes to it for each message. Most calls are answered by signals and a reply: sent together, they cost one write
/// here, and wake the bus once.
struct Mail {
  /// The most bytes that wait. The kernel never splits so small a write.
  private static let limit = 8192
  /// The smallest socket buffer for which a write is never split: the kernel accepts anything below half of it whole.
  private static let leastSpace: Int32 = 32_768
  private static let maximumMessages = 64

  private var messages: [MessageBytes] = []
  private var size = 0
  /// The bytes that were sent since the kernel last reported the socket as writable. A message that libdbus sends counts as very long.
  private(set) var sentSinceWritable = unknown
  private static let unknown = Int.max / 2
  private var lastSerial: UInt32 = 0
  /// Whether the socket takes them as a whole; `nil` until the two sides have identified themselves.
  private var isFit: Bool?

  var isEmpty: Bool { messages.isEmpty }
  /// Whether there may be no space for one more message.
  var isFull: Bool { size > Mail.limit - MessageBytes.smallLimit || messages.count == Mail.maximumMessages }

  /// The serials of messages without a reply are counted. Calls have serials that nobody guesses: see ``PendingCalls``.
  mutating func nextSerial() -> UInt32 {
    lastSerial = lastSerial == .max ? 1 : lastSerial + 1
    return lastSerial
  }

  /// Whether messages may bypass libdbus: the socket is fit for it, and libdbus has no waiting message that would be overtaken.
  mutating func isOpen(on connection: OpaquePointer) -> Bool {
    if isFit == nil, dbus_connection_get_is_authenticated(connection) != 0 { isFit = Mail.isFit(connection) }
    return isFit == true && dbus_connection_has_messages_to_send(connection) == 0
  }

  private static func isFit(_ connection: OpaquePointer) -> Bool {
    guard let descriptor = descriptor(of: connection), option(SO_DOMAIN, of: descriptor) == AF_UNIX,
      let space = option(SO_SNDBUF, of: descriptor)
    else { return false }
    return space >= leastSpace
  }

  /// Asked each time: libdbus closes the socket as soon as the other side has gone, and another socket may get its number.
  static func descriptor(of connection: OpaquePointer) -> Int32? {
    var descriptor: Int32 = -1
    return dbus_connection_get_unix_fd(connection, &descriptor) != 0 ? descriptor : nil
  }

  private static func option(_ name: Int32, of socket: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
  }

  mutating func noteWritable() { sentSinceWritable = 0 }

  mutating func noteMessageOfLibdbus() { sentSinceWritable = Mail.unknown }

  mutating func add(_ message: MessageBytes, _ serial: UInt32) {
    message.setSerial(serial)
    messages.append(message)
    size += message.count
  }

  /// Sends all messages. If the socket is full or gone, `connection` takes them: libdbus can wait, and can end. Returns the messages for which
  /// libdbus has no memory.
  mutating func leave(_ connection: OpaquePointer) -> [MessageBytes] {
    defer {
      messages.removeAll(keepingCapacity: true)
      size = 0
    }
    if let descriptor = Mail.descriptor(of: connection) {
      let sent = write(to: descriptor)
      if sent == size {
        sentSinceWritable += size
        return []
      }
      if sent > 0 {
        // So far the kernel has never taken a part. If it does, the other side would read the next message as the rest of this one.
        isFit = false
        shutdown(descriptor, Int32(SHUT_RDWR))
        return []
      }
    }
    noteMessageOfLibdbus()
    for (place, message) in messages.enumerated() {
      if !message.send(on: connection) { return Array(messages[place...]) }
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
