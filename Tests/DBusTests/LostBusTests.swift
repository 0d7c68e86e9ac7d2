import DBus
import DBusTestSupport
import Glibc
import Testing

/// A lost bus is an event: everyone who waits hears of it, and the process continues.
@Suite struct LostBusTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `everyone who waits hears that the bus has gone`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { bus, silent, client in
      let late = Latecomer()
      var interface = Interface("org.example.Silent")
      interface.method("Wait", out: "n") { (reply: Reply<Int32>) in late.keep(reply) }
      silent.export(interface, at: "/")
      let unique = await silent.uniqueName
      let signals = try await client.signals(MatchRule(interface: "org.example.Silent"))
      let call = Task {
        try await client.call(to: unique, at: "/", "org.example.Silent", "Wait", timeout: nil, returning: Int32.self)
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
      try client.emit(from: "/", "org.example.Silent", "Unheard")
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
      var interface = Interface("org.example.Silent")
      interface.method("Wait", out: "n") { (reply: Reply<Int32>) in late.keep(reply) }
      server.export(interface, at: "/")
      let call = Task {
        try await client.call(to: nil, at: "/", "org.example.Silent", "Wait", timeout: nil, returning: Int32.self)
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
}
