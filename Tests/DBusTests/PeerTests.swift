import DBus
import Testing

@Suite struct PeerTests {
  @Test func `two peers call each other without a bus`() async throws {
    let (server, client) = try await Connection.pair()
    var greeter = Interface("org.example.Greeter")
    greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
    server.export(greeter, at: "/org/example/Greeter")
    let greeting: String = try await client.call(
      to: nil, at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
    #expect(greeting == "Hello, Ann!")
    await client.close()
    await server.close()
    await client.loop.stop()
  }
}
