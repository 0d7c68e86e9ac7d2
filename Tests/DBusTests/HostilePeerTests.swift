import DBus
import DBusTestSupport
import Glibc
import Testing

/// Peers that do not keep to the protocol, and that nothing else happens.
@Suite struct HostilePeerTests {
  /// A listener whose peers get a greeter, a well-behaved client of it, and its socket's path.
  private func withServer(
    _ body: @Sendable (_ socket: String, _ client: Connection) async throws -> Void
  ) async throws {
    let loop = try EventLoop()
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp", on: loop) { peer in
      var greeter = Interface("org.example.Greeter")
      greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
      peer.export(greeter, at: "/")
    }
    let address = await listener.address.rawValue
    let field = try #require(address.split(separator: ",").first.map(String.init))
    let client = try await Connection.peer(BusAddress(address), on: loop)
    try await body(field, client)
    let greeting: String = try await client.call(to: nil, at: "/", "org.example.Greeter", "Greet", "Ann")
    #expect(greeting == "Hello, Ann!")
    await client.close()
    await listener.close()
    await loop.stop()
  }

  private func open(_ address: String) throws -> OwnedFileDescriptor {
    let socket = OwnedFileDescriptor(owning: Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let isAbstract = address.hasPrefix("unix:abstract=")
    let path = address.split(separator: "=", maxSplits: 1)[1]
    let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
    let code = socket.withRawValue { number in
      withUnsafePointer(to: &name) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, length) }
      }
    }
    try #require(code == 0, "connect: \(String(cString: strerror(errno)))")
    return socket
  }

  private func write(_ bytes: [UInt8], to socket: OwnedFileDescriptor) {
    socket.withRawValue { number in _ = send(number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Reads until the other side hangs up.
  private func drain(_ socket: OwnedFileDescriptor) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let number = socket.withRawValue { $0 }
    while read(number, &buffer, buffer.count) > 0 {}
  }

  private func authenticate(_ socket: OwnedFileDescriptor) throws {
    let identity = "\(getuid())".utf8.map { String($0, radix: 16) }.joined()
    write(Array("\0AUTH EXTERNAL \(identity)\r\n".utf8), to: socket)
    var buffer = [UInt8](repeating: 0, count: 256)
    let number = socket.withRawValue { $0 }
    try #require(read(number, &buffer, buffer.count) > 0)
    write(Array("BEGIN\r\n".utf8), to: socket)
  }

  @Test func `noise instead of a greeting is hung up on`() async throws {
    try await withServer { address, _ in
      for noise in [
        "GET / HTTP/1.1\r\n\r\n", "\0AUTH NONSENSE\r\n\0\0\0\0", "\0" + String(repeating: "x", count: 100_000),
      ] {
        let socket = try open(address)
        write(Array(noise.utf8), to: socket)
        socket.withRawValue { _ = shutdown($0, Int32(SHUT_WR)) }
        drain(socket)
      }
    }
  }

  @Test func `noise instead of a message is hung up on`() async throws {
    try await withServer { address, _ in
      let socket = try open(address)
      try authenticate(socket)
      write([UInt8](repeating: 0xFF, count: 4096), to: socket)
      drain(socket)
    }
  }

  @Test func `a peer that goes in the middle of a message leaves nothing behind`() async throws {
    let call = try Message.methodCall(at: "/", "org.example.Greeter", "Greet", "Ann").bytes(serial: 1)
    try await withServer { address, _ in
      for length in stride(from: 1, to: call.count, by: 7) {
        let socket = try open(address)
        try authenticate(socket)
        write(Array(call.prefix(length)), to: socket)
      }
    }
  }

  @Test func `damaged messages are refused or answered, and never more`() async throws {
    let call = try Message.methodCall(at: "/", "org.example.Greeter", "Greet", "Ann").bytes(serial: 1)
    try await withServer { address, _ in
      for index in 0..<call.count {
        var damaged = call
        damaged[index] ^= 0x41
        let socket = try open(address)
        try authenticate(socket)
        write(damaged, to: socket)
        socket.withRawValue { _ = shutdown($0, Int32(SHUT_WR)) }
        drain(socket)
      }
    }
  }

  @Test func `a reply that nobody waits for is nobody's`() async throws {
    let (server, client) = try await Connection.pair()
    for serial in 1000...1050 as ClosedRange<UInt32> {
      let call = try Message(bytes: Message.methodCall(at: "/", nil, "Any").bytes(serial: serial))
      server.send(try Message.methodReturn(to: call, "forged"))
    }
    try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
    await client.close()
    await server.close()
    await client.loop.stop()
  }

  @Test func `a flood of calls is answered one by one`() async throws {
    try await withServer { _, client in
      try await withThrowingTaskGroup { group in
        for number in 0..<2000 {
          group.addTask {
            let greeting: String = try await client.call(
              to: nil, at: "/", "org.example.Greeter", "Greet", "\(number)")
            #expect(greeting == "Hello, \(number)!")
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
