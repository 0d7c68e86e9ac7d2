import DBus
import DBusTestSupport
import Testing

/// Calls that come before anyone can answer them.
@Suite struct HeldCallTests {
  private static let log: InterfaceName = "org.example.Log"

  private func note(_ number: Int32, by client: Connection) throws {
    try client.send(to: nil, at: "/", Self.log, "Note", number)
  }

  /// Returns when everything that the other side has sent so far has arrived.
  private func isHere(from other: Connection, at connection: Connection) async throws {
    try await connection.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
  }

  @Test func `calls that were held are carried out in order, and before those that come later`() async throws {
    try await withPeers { server, client in
      let noted = Lock<[Int32]>([])
      server.holdCalls()
      for number in 1...3 as ClosedRange<Int32> { try note(number, by: client) }
      try await isHere(from: client, at: server)
      #expect(noted.withLock { $0 } == [])
      // The object is exported after the calls have come.
      var interface = Interface(Self.log)
      interface.method("Note", in: "number") { (number: Int32) in noted.withLock { $0.append(number) } }
      server.export(interface, at: "/")
      server.releaseCalls()
      try await client.call(to: nil, at: "/", Self.log, "Note", Int32(4))
      #expect(noted.withLock { $0 } == [1, 2, 3, 4])
    }
  }

  @Test func `of one sender as many are held as may be, and no more`() async throws {
    try await withPeers { server, client in
      var interface = Interface(Self.log)
      interface.method("Note", in: "number") { (_: Int32) in }
      server.export(interface, at: "/")
      server.holdCalls()
      for number in 1...2048 as ClosedRange<Int32> { try note(number, by: client) }
      let error = await #expect(throws: CallError.self) {
        try await client.call(to: nil, at: "/", Self.log, "Note", Int32(0))
      }
      guard case .replied(let reply) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reply.name == .limitsExceeded)
      server.releaseCalls()
      try await client.call(to: nil, at: "/", Self.log, "Note", Int32(0))
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `whoever waits for callers to be identified finds their calls carried out`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let server = try await bus.connect()
      let client = try await bus.connect()
      let noted = Lock<[Int32]>([])
      var interface = Interface(Self.log)
      interface.method("Note", in: "number") { (number: Int32) in noted.withLock { $0.append(number) } }
      server.export(interface, at: "/")
      server.identifyCallers()
      try client.send(to: await server.uniqueName, at: "/", Self.log, "Note", Int32(1))
      // The bus has passed the call on; then it has arrived; then the connection is still asking the bus who the client is.
      _ = try await client.owner(of: .bus)
      _ = try await server.owner(of: .bus)
      await server.callsAreIdentified()
      #expect(noted.withLock { $0 } == [1])
      await client.close()
      await server.close()
    }
  }
}
