import DBus
import DBusTestSupport
import Testing

/// Where code runs: between an actor on the loop and a connection on it, no thread changes.
@Suite struct ThreadTests {
  @Test func `code that runs on a loop comes back to it after each call`() async throws {
    let (server, client) = try await Connection.pair()
    let loop = client.loop
    let stays = try await loop.run { _ in
      var stays = loop.isCurrent
      for _ in 0..<10 {
        try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
        stays = stays && loop.isCurrent
      }
      return stays
    }
    #expect(stays)
    await client.close()
    await server.close()
    await loop.stop()
  }
}
