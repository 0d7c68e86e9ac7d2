import DBus
import DBusTestSupport
import Testing

/// Calls that come before anyone can answer them.
@Suite struct HeldCallTests {
  private static let log: InterfaceName = "org.example.Log"

  private func note(_ number: Int32, by client: Connection) throws {
    try client.send(to: nil, at: "/", Self.log, "Note", number)
  }

  @Test func `calls that were held are carried out in order, and before those that come later`() async throws {
    try await withPeers { server, client in
      let noted = Lock<[Int32]>([])
      server.holdCalls()
      for number in 1...3 as ClosedRange<Int32> { try note(number, by: client) }
      // The answer comes behind the calls.
      try await server.ping()
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
      let error = await refusal { try await client.call(to: nil, at: "/", Self.log, "Note", Int32(0)) }
      #expect(error?.name == .limitsExceeded)
      server.releaseCalls()
      try await client.call(to: nil, at: "/", Self.log, "Note", Int32(0))
    }
  }

  /// Holds some calls of `client`, of a mebibyte each, and returns how many are carried out then.
  private func held<Value: BusValue>(
    _ count: Int, with value: Value, from client: Connection, at server: Connection
  ) async throws -> Int {
    let noted = Lock(0)
    var interface = Interface(Self.log)
    interface.method("Bytes", in: "value") { (_: Value) in noted.withLock { $0 += 1 } }
    server.export(interface, at: "/")
    server.holdCalls()
    for _ in 0..<count { try client.send(to: nil, at: "/", Self.log, "Bytes", value) }
    try await server.ping()
    let error = await refusal { try await client.call(to: nil, at: "/", Self.log, "Bytes", value) }
    #expect(error?.name == .limitsExceeded)
    server.releaseCalls()
    try await client.call(to: nil, at: "/", Self.log, "Bytes", value)
    server.unexport(Self.log, at: "/")
    return noted.withLock { $0 } - 1
  }

  @Test func `of one sender as many bytes are held as may be, whatever they are in`() async throws {
    try await withPeers { server, client in
      // With the path of one byte each.
      #expect(try await held(32, with: String(repeating: "x", count: (1 << 20) - 1), from: client, at: server) == 32)
      #expect(try await held(32, with: [UInt8](repeating: 7, count: (1 << 20) - 1), from: client, at: server) == 32)
      let texts = (0..<1024).map { "\($0) " + String(repeating: "x", count: 1010) }
      let dictionary = Dictionary(uniqueKeysWithValues: texts.map { ($0, "") })
      let counts = [
        try await held(40, with: texts, from: client, at: server),
        try await held(40, with: [texts], from: client, at: server),
        try await held(40, with: dictionary, from: client, at: server),
        try await held(40, with: Variant(texts), from: client, at: server),
      ]
      #expect(counts.allSatisfy { (25...32).contains($0) }, "\(counts)")
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `whoever waits for callers to be identified finds their calls carried out`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, server, client in
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
    }
  }
}
