import DBus
import DBusTestSupport
import Glibc
import Testing

/// A lost bus is an event: everyone who waits hears of it, and the process continues. A service that reconnects then must not keep its earlier
/// connections.
@Suite struct LostBusTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `everyone who waits hears that the bus has gone`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { bus, silent, client in
      let late = Latecomer()
      silent.export(late.interface, at: "/")
      let unique = await silent.uniqueName
      let signals = try await client.signals(MatchRule(interface: "org.example.Slow"))
      let call = Task {
        try await client.call(to: unique, at: "/", "org.example.Slow", "Wait", timeout: nil, returning: Int32.self)
      }
      let listening = Task { await signals.makeAsyncIterator().next() == nil }
      try await late.waitForOne()
      await bus.kill()
      #expect(kill(bus.processIdentifier, 0) != 0)
      try await withLimit(usualLimit, "everyone to hear of it") {
        #expect(await client.closed() == .disconnected)
        #expect(await silent.closed() == .disconnected)
        #expect(await listening.value)
        await #expect(throws: CallError.disconnected) { _ = try await call.value }
      }
      #expect(await client.isOpen == false)
      await #expect(throws: CallError.disconnected) { _ = try await client.owner(of: "org.example.Name") }
      await #expect(throws: CallError.disconnected) { _ = try await client.signals(MatchRule(member: "Any")) }
      late.answerAll()
      try client.emit(from: "/", "org.example.Slow", "Unheard")
    }
  }

  @Test func `whoever wants another connection makes one`() async throws {
    let first = try await PrivateBus.start(.daemon)
    let loop = try EventLoop()
    let lost = try await first.connect(on: loop)
    await first.kill()
    await lost.closed()
    await first.stop()
    try await withPrivateBus(.daemon) { second in
      let found = try await second.connect(on: loop)
      #expect(try await found.owner(of: .bus) == .bus)
      await found.close()
    }
    await loop.stop()
  }

  @Test func `no bus, no address and no answer are errors that say so`() async throws {
    await #expect {
      _ = try await Connection.open("unix:path=/nowhere/at/all")
    } throws: { "\($0)".hasPrefix("no connection to unix:path=/nowhere/at/all: ") }
    await #expect { _ = try await Connection.open("nonsense") } throws: { "\($0)".contains("nonsense") }
    // A peer that is not a bus does not answer like one.
    let (arrivals, arrival) = AsyncStream.makeStream(of: Connection.self)
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp") { arrival.yield($0) }
    let address = await listener.address
    await #expect(throws: ConnectionError.self) { _ = try await Connection.open(address, timeout: .seconds(10)) }
    arrival.finish()
    for await peer in arrivals { await peer.close() }
    await listener.close()
  }

  @Test func `closing again, and from every side at once, does nothing more`() async throws {
    // The two have a loop of their own.
    let (server, client) = try await Connection.pair()
    await withTaskGroup { group in
      for _ in 0..<10 {
        group.addTask { await server.close() }
        group.addTask { await client.close() }
      }
    }
    #expect(await server.closed() != nil)
    #expect(await client.closed() != nil)
    await client.loop.stop()
    await client.loop.stop()
  }

  @Test func `a loop that is stopped under its connections tells them`() async throws {
    try await withPeers { server, client in
      let late = Latecomer()
      server.export(late.interface, at: "/")
      let call = Task {
        try await client.call(to: nil, at: "/", "org.example.Slow", "Wait", timeout: nil, returning: Int32.self)
      }
      try await late.waitForOne()
      await client.loop.stop()
      await #expect(throws: CallError.disconnected) {
        _ = try await withLimit(usualLimit, "the call's end") { try await call.value }
      }
      // An actor on a loop that has ended still answers.
      #expect(await client.isOpen == false)
    }
  }

  // MARK: What a connection leaves behind

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
