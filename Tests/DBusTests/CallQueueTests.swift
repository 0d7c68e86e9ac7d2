import DBus
import DBusTestSupport
import Glibc
import Testing

/// Calls that have arrived and wait for their turn.
@Suite struct CallQueueTests {
  /// A caller, and whether it was still there to hear the answer.
  private struct Noted: Equatable {
    let number: Int32
    var isAbandoned = false
  }

  /// While `body` runs, the service does nothing, so everything that is sent to it arrives at once.
  private func withService(
    _ bus: PrivateBus,
    whileItStands body: nonisolated(nonsending) (Connection, BusName) async throws -> Void
  ) async throws -> [Noted] {
    let noted = Guarded<[Noted]>([])
    var interface = Interface("org.example.Log")
    interface.method("Long", in: "number") { (call: Call, number: Int32) in
      noted.with { $0.append(Noted(number: number, isAbandoned: call.isAbandoned)) }
      call.tookLong()
    }
    interface.method("Short", in: "number") { (number: Int32) in noted.with { $0.append(Noted(number: number)) } }
    let service = try await bus.connect()
    service.identifyCallers(admittingStrangers: true)
    service.export(interface, at: "/")
    let name = try #require(await service.uniqueName)
    try await body(service, name)
    let witness = try await bus.connect()
    try await witness.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
    try await eventually("all calls") { noted.with { $0.count } == 5 }
    await witness.close()
    await service.close()
    return noted.with { $0 }
  }

  private func stand(_ service: Connection) async -> Gate {
    let (standing, stands) = AsyncStream.makeStream(of: Void.self)
    let thread = Gate()
    service.loop.execute {
      stands.yield()
      thread.wait()
    }
    for await _ in standing { break }
    return thread
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `others come in between, and each sender's calls keep their order`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let (one, other) = (try await bus.connect(), try await bus.connect())
      let noted = try await withService(bus) { service, name in
        for client in [one, other] { try await client.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping") }
        let thread = await stand(service)
        for number in 1...3 as ClosedRange<Int32> {
          try one.send(to: name, at: "/", "org.example.Log", number == 3 ? "Short" : "Long", number)
        }
        _ = try await one.owner(of: name)
        for number in 11...12 as ClosedRange<Int32> {
          try other.send(to: name, at: "/", "org.example.Log", "Short", number)
        }
        // The second answer comes after the bus has written the calls to the service's socket.
        for _ in 0..<2 { _ = try await other.owner(of: name) }
        thread.open()
      }
      #expect(noted.map(\.number) == [1, 11, 12, 2, 3])
      for client in [one, other] { await client.close() }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a short answer does not stand behind one long answer after the other`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let (service, one, other) = (try await bus.connect(), try await bus.connect(), try await bus.connect())
      let made = Guarded(0)
      var interface = Interface("org.example.Log")
      interface.method("Long", out: "text") { (call: Call) -> String in
        made.with { $0 += 1 }
        // The method really takes long: the write to the socket for each answer costs a twentieth of this time.
        usleep(20_000)
        call.tookLong()
        return String(repeating: "x", count: 1 << 20)
      }
      service.identifyCallers(admittingStrangers: true)
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      for client in [one, other] { try await client.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<24 {
          group.addTask {
            let _: String = try await one.call(to: name, at: "/", "org.example.Log", "Long", timeout: nil)
          }
        }
        try await eventually("the first") { made.with { $0 } > 0 }
        // Runs on the thread that reads the answer, so the test may wait for a thread of the pool, but the answer does not.
        let meanwhile = try await other.loop.run { _ in
          let before = made.with { $0 }
          try await other.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
          return made.with { $0 } - before
        }
        #expect(meanwhile < 8)
        try await group.waitForAll()
      }
      for client in [service, one, other] { await client.close() }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what waits for one that has left is known to be for nobody`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let client = try await bus.connect()
      let witness = try await bus.connect()
      let noted = try await withService(bus) { service, name in
        try await client.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
        let thread = await stand(service)
        for number in 1...5 as ClosedRange<Int32> {
          try client.send(to: name, at: "/", "org.example.Log", "Long", number)
        }
        let own = try #require(await client.uniqueName)
        await client.close()
        for await owner in try await witness.owners(of: own) where owner == nil { break }
        thread.open()
      }
      #expect(noted.map(\.number) == [1, 2, 3, 4, 5])
      #expect(noted.map(\.isAbandoned) == [true, true, true, true, true])
      await witness.close()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `all that have left wait as one sender, and each keeps its first call`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let (service, witness) = (try await bus.connect(), try await bus.connect())
      let noted = Guarded<[Int32]>([])
      var interface = Interface("org.example.Log")
      interface.method("Note", in: "number") { (number: Int32) in noted.with { $0.append(number) } }
      let dropped = Guarded<[Variant]>([])
      service.observeCalls { call in
        if call.isCrowdedOut { dropped.with { $0 += (try? call.variants()) ?? [] } }
      }
      service.identifyCallers(admittingStrangers: true)
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      service.holdCalls()
      for (first, count) in [(1, 2040), (5000, 20), (6000, 3), (7000, 1)] as [(Int32, Int32)] {
        let client = try await bus.connect()
        for number in 0..<count { try client.send(to: name, at: "/", "org.example.Log", "Note", first + number) }
        _ = try await client.owner(of: name)
        let own = try #require(await client.uniqueName)
        await client.close()
        try await eventually("the client to leave") { try await service.owner(of: own) == nil }
      }
      await service.callsAreIdentified()
      service.releaseCalls()
      try await eventually("all calls") { noted.with { $0.count } == 2050 }
      try await witness.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
      #expect(noted.with { $0 } == Array(1...2040) + Array(5000...5007) + [6000, 7000])
      #expect(dropped.with { $0 } == (Array(5008...5019) + [6001, 6002]).map { Variant.int32($0) })
      for client in [service, witness] { await client.close() }
    }
  }

  @Test func `the long calls of those that have left push out nobody's short call`() async throws {
    try await withPrivateBus(.daemon) { bus in
      let service = try await bus.connect()
      let noted = Guarded<[Int]>([])
      var interface = Interface("org.example.Log")
      interface.method("Note", in: "text") { (text: String) in noted.with { $0.append(text.utf8.count) } }
      service.identifyCallers(admittingStrangers: true)
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      service.holdCalls()
      // The first is alone, and the second finds no room beside it.
      for size in [33 << 20, 4096, 5, 6] {
        let client = try await bus.connect()
        try client.send(to: name, at: "/", "org.example.Log", "Note", String(repeating: "x", count: size))
        let own = try #require(await client.uniqueName)
        _ = try await client.owner(of: own)
        await client.close()
        try await eventually("the client to leave") { try await service.owner(of: own) == nil }
      }
      await service.callsAreIdentified()
      service.releaseCalls()
      try await eventually("the calls") { noted.with { $0.count } == 3 }
      let witness = try await bus.connect()
      try await witness.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
      #expect(noted.with { $0 } == [33 << 20, 5, 6])
      for client in [service, witness] { await client.close() }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `whoever calls in the middle of a flood is next`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let (service, flooding, other) = (try await bus.connect(), try await bus.connect(), try await bus.connect())
      let noted = Guarded<[Int32]>([])
      var interface = Interface("org.example.Log")
      interface.method("Note", in: "number") { (number: Int32) in noted.with { $0.append(number) } }
      service.identifyCallers()
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      for client in [flooding, other] { try await client.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping") }
      // A bus chooses what it passes on first: dbus-broker sends sixteen messages, and the next sixteen when those were read. So the service carries
      // out nothing before it has read everything.
      service.holdCalls()
      for _ in 0..<100 { try flooding.send(to: name, at: "/", "org.example.Log", "Note", Int32(1)) }
      _ = try await flooding.owner(of: name)
      try other.send(to: name, at: "/", "org.example.Log", "Note", Int32(2))
      // A descriptor for a method that takes none is refused as soon as it is read.
      let pipe = try OwnedFileDescriptor.pipe()
      await #expect(throws: CallError.self) {
        try await other.call(to: name, at: "/", "org.example.Log", "Note", pipe.readEnd)
      }
      #expect(noted.with { $0 } == [])
      service.releaseCalls()
      try await eventually("all calls") { noted.with { $0.count } == 101 }
      let place = try #require(noted.with { $0.firstIndex(of: 2) })
      #expect(place < 4)
      for client in [service, flooding, other] { await client.close() }
    }
  }

  @Test func `what has come is handled in one turn of the loop`() async throws {
    try await withPeers { server, client in
      let (count, atEnd) = (Guarded(0), Guarded<Int?>(nil))
      var interface = Interface("org.example.Log")
      interface.method("Note", in: "text") { (call: Call, _: String) in
        if count.with({ $0 }) == 0 {
          call.connection.loop.atEndOfTurn { atEnd.with { $0 = count.with { $0 } } }
        }
        count.with { $0 += 1 }
      }
      server.export(interface, at: "/")
      let text = String(repeating: "x", count: 400)
      // A turn ends after four milliseconds, even if other threads had the processor meanwhile.
      try await eventually("a turn that nobody disturbs") {
        count.with { $0 = 0 }
        atEnd.with { $0 = nil }
        // Both connections share one loop. While the loop stands still, messages are only queued; then they leave in one piece, and are read in one
        // piece.
        let thread = await stand(server)
        for _ in 0..<40 { try client.send(to: nil, at: "/", "org.example.Log", "Note", text) }
        thread.open()
        try await eventually("all calls") { count.with { $0 } == 40 }
        try await eventually("the end of the turn") { atEnd.with { $0 } != nil }
        return atEnd.with { $0 } == 40
      }
    }
  }

  @Test func `a descriptor that no method takes is closed while calls are held`() async throws {
    try await withPeers { server, client in
      var thing = Interface("org.example.Thing")
      thing.method("Text", in: "text") { (_: String) in }
      thing.method("File", in: "file") { (_: OwnedFileDescriptor) in }
      server.export(thing, at: "/")
      server.holdCalls()
      let pipe = try OwnedFileDescriptor.pipe()
      // The service answers these calls, although it answers nothing else.
      for (member, name) in [("Text", .invalidArgs), ("Nothing", .unknownMethod)] as [(MemberName, ErrorName)] {
        let error = await #expect(throws: CallError.self) {
          try await client.call(to: nil, at: "/", "org.example.Thing", member, pipe.readEnd)
        }
        guard case .replied(let reply) = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(reply.name == name)
      }
      // Of the descriptors that a method takes, only few may wait.
      for _ in 0..<4 { try client.send(to: nil, at: "/", "org.example.Thing", "File", pipe.readEnd) }
      let error = await #expect(throws: CallError.self) {
        try await client.call(to: nil, at: "/", "org.example.Thing", "File", pipe.readEnd)
      }
      guard case .replied(let reply) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(reply.name == .limitsExceeded)
      server.releaseCalls()
      try await client.call(to: nil, at: "/", "org.example.Thing", "File", pipe.readEnd)
    }
  }
}
