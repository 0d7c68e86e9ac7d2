import DBus
import DBusTestSupport
import Testing

/// Peers that break the protocol harm nobody else.
@Suite struct HostilePeerTests {
  /// Runs `body` with the address of a listener whose peers get a greeter, and with a well-behaved client.
  private func withServer(_ body: (BusAddress, _ client: Connection) async throws -> Void) async throws {
    try await withListener { peer in
      var greeter = Interface("org.example.Greeter")
      greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
      peer.export(greeter, at: "/")
    } _: { address, loop in
      let client = try await Connection.peer(address, on: loop)
      try await body(address, client)
      let greeting: String = try await client.call(to: nil, at: "/", "org.example.Greeter", "Greet", "Ann")
      #expect(greeting == "Hello, Ann!")
      await client.close()
    }
  }

  @Test func `noise instead of a greeting is hung up on`() async throws {
    try await withServer { address, _ in
      for noise in [
        "GET / HTTP/1.1\r\n\r\n", "\0AUTH NONSENSE\r\n\0\0\0\0", "\0" + String(repeating: "x", count: 100_000),
      ] {
        let peer = try RawPeer(address)
        peer.write(Array(noise.utf8))
        peer.hangUp()
      }
    }
  }

  @Test func `noise instead of a message is hung up on`() async throws {
    try await withServer { address, _ in
      let peer = try RawPeer.authenticated(at: address)
      peer.write([UInt8](repeating: 0xFF, count: 4096))
      peer.drain()
    }
  }

  @Test func `a peer that goes in the middle of a message leaves nothing behind`() async throws {
    let call = try Message.methodCall(at: "/", "org.example.Greeter", "Greet", "Ann").bytes(serial: 1)
    try await withServer { address, _ in
      for length in stride(from: 1, to: call.count, by: 7) {
        let peer = try RawPeer.authenticated(at: address)
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
        let peer = try RawPeer.authenticated(at: address)
        peer.write(damaged)
        peer.hangUp()
      }
    }
  }

  @Test func `a reply that nobody waits for is nobody's`() async throws {
    try await withPeers { server, client in
      for serial in 1000...1050 as ClosedRange<UInt32> {
        let call = try Message(bytes: Message.methodCall(at: "/", nil, "Any").bytes(serial: serial))
        server.send(try Message.methodReturn(to: call, "forged"))
      }
      try await client.ping()
    }
  }

  @Test func `a flood of calls is answered one by one`() async throws {
    try await withServer { _, client in
      try await withThrowingTaskGroup { group in
        for number in 0..<2000 {
          group.addTask {
            let greeting: String = try await client.call(to: nil, at: "/", "org.example.Greeter", "Greet", "\(number)")
            #expect(greeting == "Hello, \(number)!")
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
