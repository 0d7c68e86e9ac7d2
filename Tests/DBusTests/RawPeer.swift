import DBus
import DBusTestSupport
import Glibc
import Testing

/// A plain socket to a listener, for bytes that no connection would send, and for reading when the test chooses.
struct RawPeer {
  let socket: OwnedFileDescriptor

  init(owning socket: OwnedFileDescriptor) { self.socket = socket }

  init(_ address: BusAddress) throws {
    socket = OwnedFileDescriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    // The first field is the socket, and the identifier of the listener follows.
    let field = address.rawValue.split(separator: ",")[0]
    let path = field.split(separator: "=", maxSplits: 1)[1]
    let code = try withSocketAddress(field.hasPrefix("unix:abstract=") ? "\0\(path)" : "\(path)") { name, length in
      socket.withRawValue { connect($0, name, length) }
    }
    try #require(code == 0, "connect: \(String(cString: strerror(errno)))")
  }

  func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = socket.withRawValue { number in
        rest.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  /// The result of one read; empty if the other side has closed.
  func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = socket.withRawValue { Glibc.read($0, &buffer, buffer.count) }
    return Array(buffer.prefix(max(0, count)))
  }

  /// The bytes that are available now, up to `limit`.
  func readNow(atMost limit: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = socket.withRawValue { recv($0, &buffer, limit, Int32(MSG_DONTWAIT)) }
    return Array(buffer.prefix(max(0, count)))
  }

  /// Says that nothing more comes, and reads until the other side closes.
  func hangUp() {
    socket.withRawValue { _ = shutdown($0, Int32(SHUT_WR)) }
    drain()
  }

  /// Reads until the other side closes.
  func drain() { while !read().isEmpty {} }

  /// A peer that has said who it is.
  static func authenticated(at address: BusAddress) throws -> RawPeer {
    let peer = try RawPeer(address)
    let identity = "\(getuid())".utf8.map { String($0, radix: 16) }.joined()
    peer.write(Array("\0AUTH EXTERNAL \(identity)\r\n".utf8))
    try #require(!peer.read().isEmpty)
    peer.write(Array("BEGIN\r\n".utf8))
    return peer
  }
}

/// Runs `body` with the address of a listener, which passes each of its peers to `welcome`, and with their loop.
func withListener(
  welcome: @escaping @Sendable (Connection) -> Void, _ body: (BusAddress, EventLoop) async throws -> Void
) async throws {
  let loop = try EventLoop()
  let listener = try await Listener.listen(at: "unix:tmpdir=/tmp", on: loop, welcome: welcome)
  try await body(await listener.address, loop)
  await listener.close()
  await loop.stop()
}

/// Assembles messages from pieces of any size.
struct IncomingMessages {
  private var bytes: [UInt8] = []

  /// Calls `body` for each message that is now complete.
  mutating func take(_ more: [UInt8], _ body: (borrowing Message) throws -> Void) throws {
    bytes += more
    var start = 0
    while let length = Message.length(ofMessageBeginningWith: Array(bytes[start...].prefix(16))),
      start + length <= bytes.count
    {
      try body(try Message(bytes: Array(bytes[start..<(start + length)])))
      start += length
    }
    bytes.removeFirst(start)
  }
}
