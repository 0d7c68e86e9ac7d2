import DBus
import DBusTestSupport
import Glibc
import Testing

/// Peers that break the protocol harm nobody else.
@Suite struct HostilePeerTests {
  /// Runs `body` with a listener whose peers get a greeter, a well-behaved client, and the socket's path.
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

  @Test func `noise instead of a greeting is hung up on`() async throws {
    try await withServer { address, _ in
      for noise in [
        "GET / HTTP/1.1\r\n\r\n", "\0AUTH NONSENSE\r\n\0\0\0\0", "\0" + String(repeating: "x", count: 100_000),
      ] {
        let peer = try RawPeer(address)
        peer.write(Array(noise.utf8))
        peer.socket.withRawValue { _ = shutdown($0, Int32(SHUT_WR)) }
        peer.drain()
      }
    }
  }

  @Test func `noise instead of a message is hung up on`() async throws {
    try await withServer { address, _ in
      let peer = try RawPeer(address)
      try peer.authenticate()
      peer.write([UInt8](repeating: 0xFF, count: 4096))
      peer.drain()
    }
  }

  @Test func `a peer that goes in the middle of a message leaves nothing behind`() async throws {
    let call = try Message.methodCall(at: "/", "org.example.Greeter", "Greet", "Ann").bytes(serial: 1)
    try await withServer { address, _ in
      for length in stride(from: 1, to: call.count, by: 7) {
        let peer = try RawPeer(address)
        try peer.authenticate()
        peer.write(Array(call.prefix(length)))
      }
    }
  }

  @Test func `damaged messages are refused or answered, and never more`() async throws {
    let call = try Message.methodCall(at: "/", "org.example.Greeter", "Greet", "Ann").bytes(serial: 1)
    try await withServer { address, _ in
      for index in 0..<call.count {
        var damaged = call
        damaged[index] ^= 0x41
        let peer = try RawPeer(address)
        try peer.authenticate()
        peer.write(damaged)
        peer.socket.withRawValue { _ = shutdown($0, Int32(SHUT_WR)) }
        peer.drain()
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
