import DBus
import DBusTestSupport
import Testing

/// A service that reconnects whenever its bus is lost must not keep its earlier connections.
@Suite struct ConnectionLifetimeTests {
  private final class Watched: Sendable {
    weak let connection: Connection?
    init(_ connection: Connection) { self.connection = connection }
  }

  /// Gives `use` two peers, closes them, and waits until they are freed.
  private func expectLetGo(
    _ use: (_ server: Connection, _ client: Connection) async throws -> Void
  ) async throws {
    let watched = try await withPeers { server, client in
      try await use(server, client)
      return [Watched(server), Watched(client)]
    }
    try await eventually("nobody keeps the connections") { watched.allSatisfy { $0.connection == nil } }
  }

  @Test func `a property that outlives a connection does not keep it`() async throws {
    let mood = StoredProperty("calm")
    var greeter = Interface("org.example.Greeter")
    greeter.property("Mood", stored: mood)
    try await expectLetGo { server, client in
      server.export(greeter, at: "/")
      let remote: String = try await client.object(nil, at: "/", "org.example.Greeter").get("Mood")
      #expect(remote == "calm")
    }
    // The property may also change when nobody hears of it.
    mood.value = "merry"
  }

  @Test func `a call that its own object keeps does not keep the connection`() async throws {
    try await expectLetGo { server, client in
      // The handler itself keeps the reply. If the connection kept the handler, it would keep itself.
      var slow = Interface("org.example.Slow")
      slow.method("Wait", out: "n") { [own = Lock<[Reply<Int32>]>([])] (reply: Reply<Int32>) in
        own.withLock { $0.append(reply) }
      }
      server.export(slow, at: "/")
      try client.send(to: nil, at: "/", "org.example.Slow", "Wait")
      try await client.ping()
    }
  }

  @Test func `what is exported on a closed connection keeps nothing`() async throws {
    let mood = StoredProperty("calm")
    var greeter = Interface("org.example.Greeter")
    greeter.property("Mood", stored: mood)
    try await expectLetGo { server, _ in
      await server.close()
      server.export(greeter, at: "/")
    }
  }
}
