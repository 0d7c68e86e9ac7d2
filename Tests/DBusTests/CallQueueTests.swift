import DBus
import DBusTestSupport
import Dispatch
import Testing

/// Calls that have arrived and wait for their turn.
@Suite struct CallQueueTests {
  /// Exports a method that notes its argument. Returns the notes, and the name of the service.
  private func export<Value: BusValue>(
    noting type: Value.Type, on service: Connection
  ) async throws -> (Lock<[Value]>, BusName) {
    let noted = Lock<[Value]>([])
    service.identifyCallers(admittingStrangers: true)
    service.export(.noting(noted), at: "/")
    return (noted, try #require(await service.uniqueName))
  }

  /// Calls `body` with a new client, which has left when this returns.
  private func withVisitor(
    of bus: PrivateBus, seenBy service: Connection, _ body: (Connection) throws -> Void
  ) async throws {
    let client = try await bus.connect()
    try body(client)
    let name = try #require(await client.uniqueName)
    _ = try await client.owner(of: name)
    await client.close()
    try await eventually("the client to leave") { try await service.owner(of: name) == nil }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `senders take turns, and each sender's calls keep their order`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, one, other in
      let (noted, name) = try await export(noting: Int32.self, on: service)
      for client in [one, other] { try await client.ping(name) }
      // While the service does nothing, everything that is sent to it arrives at once.
      let gate = await service.loop.stand()
      try one.note(1...3, at: name)
      _ = try await one.owner(of: name)
      try other.note(11...12, at: name)
      // The second answer comes after the bus has written the calls to the service's socket.
      for _ in 0..<2 { _ = try await other.owner(of: name) }
      gate.signal()
      try await eventually("all calls") { noted.withLock { $0.count } == 5 }
      #expect(noted.withLock { $0 } == [1, 11, 2, 12, 3])
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a short call does not stand behind one long answer after the other`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, one, other in
      let (made, madeBefore) = (Lock(0), Lock<Int?>(nil))
      let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
      let gate = DispatchSemaphore(value: 0)
      var interface = Interface("org.example.Log")
      interface.method("Long", out: "text") { () -> String in
        made.withLock { $0 += 1 }
        beginning.yield()
        gate.wait()
        return String(repeating: "x", count: 1 << 20)
      }
      interface.method("Short") { madeBefore.withLock { $0 = made.withLock { $0 } } }
      service.identifyCallers(admittingStrangers: true)
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      for client in [one, other] { try await client.ping(name) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<24 {
          group.addTask {
            let _: String = try await one.call(to: name, at: "/", "org.example.Log", "Long", timeout: nil)
          }
        }
        // The first long call stands until the short one has come.
        for await _ in begun { break }
        try other.send(to: name, at: "/", "org.example.Log", "Short")
        for _ in 0..<2 { _ = try await other.owner(of: name) }
        for _ in 0..<24 { gate.signal() }
        try await group.waitForAll()
      }
      let before = try #require(madeBefore.withLock { $0 })
      #expect(before < 3)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `what waits for one that has left is known to be for nobody`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, client, witness in
      let (noted, name) = try await export(noting: Int32.self, on: service)
      let abandoned = Lock<[Bool]>([])
      service.observeCalls { call in
        if call.member == "Note" { abandoned.withLock { $0.append(call.isAbandoned) } }
      }
      try await client.ping(name)
      let gate = await service.loop.stand()
      try client.note(1...5, at: name)
      let own = try #require(await client.uniqueName)
      await client.close()
      for await owner in try await witness.owners(of: own) where owner == nil { break }
      gate.signal()
      try await eventually("all calls") { noted.withLock { $0.count } == 5 }
      #expect(noted.withLock { $0 } == [1, 2, 3, 4, 5])
      #expect(abandoned.withLock { $0 } == [true, true, true, true, true])
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `all that have left wait as one sender, and each keeps its first call`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { bus, service, witness in
      let (noted, name) = try await export(noting: Int32.self, on: service)
      let dropped = Lock<[Variant]>([])
      service.observeCalls { call in
        if call.isCrowdedOut { dropped.withLock { $0 += (try? call.variants()) ?? [] } }
      }
      service.holdCalls()
      for (first, count) in [(1, 2040), (5000, 20), (6000, 3), (7000, 1)] as [(Int32, Int32)] {
        try await withVisitor(of: bus, seenBy: service) { try $0.note(first...first + count - 1, at: name) }
      }
      await service.callsAreIdentified()
      service.releaseCalls()
      try await eventually("all calls") { noted.withLock { $0.count } == 2050 }
      try await witness.ping(name)
      #expect(noted.withLock { $0 } == Array(1...2040) + Array(5000...5007) + [6000, 7000])
      #expect(dropped.withLock { $0 } == (Array(5008...5019) + [6001, 6002]).map { Variant.int32($0) })
    }
  }

  @Test func `the long calls of those that have left push out nobody's short call`() async throws {
    try await withConnections { bus, service, witness in
      let (noted, name) = try await export(noting: String.self, on: service)
      service.holdCalls()
      // The first is alone, and the second finds no room beside it.
      for size in [33 << 20, 4096, 5, 6] {
        try await withVisitor(of: bus, seenBy: service) { client in
          try client.send(to: name, at: "/", "org.example.Log", "Note", String(repeating: "x", count: size))
        }
      }
      await service.callsAreIdentified()
      service.releaseCalls()
      try await eventually("the calls") { noted.withLock { $0.count } == 3 }
      try await witness.ping(name)
      #expect(noted.withLock { $0.map(\.utf8.count) } == [33 << 20, 5, 6])
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `whoever reads an answer can wait for the calls that came before it`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, client in
      let (noted, name) = try await export(noting: Int32.self, on: service)
      let sender = try #require(await client.uniqueName)
      try await client.ping(name)
      service.holdCalls()
      try client.note(1...3, at: name)
      // It is refused as soon as it is read.
      let pipe = try OwnedFileDescriptor.pipe()
      await #expect(throws: CallError.self) {
        try await client.call(to: name, at: "/", "org.example.Log", "Note", pipe.readEnd)
      }
      async let gone: Void = service.callsHaveGone(of: sender)
      service.releaseCalls()
      await gone
      #expect(noted.withLock { $0 } == [1, 2, 3])
      await service.callsHaveGone(of: sender)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `whoever calls in the middle of a flood is next`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, flooding, other in
      let (noted, name) = try await export(noting: Int32.self, on: service)
      for client in [flooding, other] { try await client.ping(name) }
      // A bus chooses what it passes on first: dbus-broker sends sixteen messages, and the next sixteen when those were read. So the service carries
      // out nothing before it has read everything.
      service.holdCalls()
      for _ in 0..<100 { try flooding.send(to: name, at: "/", "org.example.Log", "Note", Int32(1)) }
      _ = try await flooding.owner(of: name)
      try other.note(2...2, at: name)
      // A descriptor for a method that takes none is refused as soon as it is read.
      let pipe = try OwnedFileDescriptor.pipe()
      await #expect(throws: CallError.self) {
        try await other.call(to: name, at: "/", "org.example.Log", "Note", pipe.readEnd)
      }
      #expect(noted.withLock { $0 } == [])
      service.releaseCalls()
      try await eventually("all calls") { noted.withLock { $0.count } == 101 }
      let place = try #require(noted.withLock { $0.firstIndex(of: 2) })
      #expect(place < 4)
    }
  }

  @Test func `what has come is handled in one turn of the loop`() async throws {
    try await withPeers { server, client in
      let (count, atEnd) = (Lock(0), Lock<Int?>(nil))
      var interface = Interface("org.example.Log")
      interface.method("Note", in: "text") { (call: Call, _: String) in
        if count.withLock({ $0 }) == 0 {
          call.connection.loop.atEndOfTurn { atEnd.withLock { $0 = count.withLock { $0 } } }
        }
        count.withLock { $0 += 1 }
      }
      server.export(interface, at: "/")
      let text = String(repeating: "x", count: 400)
      // A turn ends after four milliseconds, even if other threads had the processor meanwhile.
      try await eventually("a turn that nobody disturbs") {
        count.withLock { $0 = 0 }
        atEnd.withLock { $0 = nil }
        // Both connections share one loop. While the loop stands still, messages are only queued; then they leave in one piece, and are read in one
        // piece.
        let gate = await server.loop.stand()
        for _ in 0..<40 { try client.send(to: nil, at: "/", "org.example.Log", "Note", text) }
        gate.signal()
        try await eventually("all calls") { count.withLock { $0 } == 40 }
        try await eventually("the end of the turn") { atEnd.withLock { $0 } != nil }
        return atEnd.withLock { $0 } == 40
      }
    }
  }

  // MARK: Calls that come before anyone can answer them

  @Test func `a descriptor that no method takes is closed while calls are held`() async throws {
    try await withThing { thing in
      thing.method("Text", in: "text") { (_: String) in }
      thing.method("File", in: "file") { (_: OwnedFileDescriptor) in }
    } _: { thing, server in
      server.holdCalls()
      let pipe = try OwnedFileDescriptor.pipe()
      // The service answers these calls, although it answers nothing else.
      for (member, name) in [("Text", .invalidArgs), ("Nothing", .unknownMethod)] as [(MemberName, ErrorName)] {
        let error = await refusal { try await thing.call(member, pipe.readEnd) }
        #expect(error?.name == name)
      }
      // Of the descriptors that a method takes, only few may wait.
      for _ in 0..<4 { try thing.send("File", pipe.readEnd) }
      #expect(await refusal { try await thing.call("File", pipe.readEnd) }?.name == .limitsExceeded)
      server.releaseCalls()
      try await thing.call("File", pipe.readEnd)
    }
  }

  @Test func `calls that were held are carried out in order, and before those that come later`() async throws {
    try await withPeers { server, client in
      let noted = Lock<[Int32]>([])
      server.holdCalls()
      try client.note(1...3)
      // The answer comes behind the calls.
      try await server.ping()
      #expect(noted.withLock { $0 } == [])
      // The object is exported after the calls have come.
      server.export(.noting(noted), at: "/")
      server.releaseCalls()
      try await client.call(to: nil, at: "/", "org.example.Log", "Note", Int32(4))
      #expect(noted.withLock { $0 } == [1, 2, 3, 4])
    }
  }

  @Test func `of one sender as many are held as may be, and no more`() async throws {
    try await withPeers { server, client in
      server.export(.noting(Lock<[Int32]>([])), at: "/")
      server.holdCalls()
      try client.note(1...2048)
      let error = await refusal { try await client.call(to: nil, at: "/", "org.example.Log", "Note", Int32(0)) }
      #expect(error?.name == .limitsExceeded)
      server.releaseCalls()
      try await client.call(to: nil, at: "/", "org.example.Log", "Note", Int32(0))
    }
  }

  /// Holds some calls of `client`, of a mebibyte each, and returns how many are carried out then.
  private func held<Value: BusValue>(
    _ count: Int, with value: Value, from client: Connection, at server: Connection
  ) async throws -> Int {
    let noted = Lock<[Value]>([])
    server.export(.noting(noted), at: "/")
    server.holdCalls()
    for _ in 0..<count { try client.send(to: nil, at: "/", "org.example.Log", "Note", value) }
    try await server.ping()
    let error = await refusal { try await client.call(to: nil, at: "/", "org.example.Log", "Note", value) }
    #expect(error?.name == .limitsExceeded)
    server.releaseCalls()
    try await client.call(to: nil, at: "/", "org.example.Log", "Note", value)
    return noted.withLock { $0.count } - 1
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
      server.export(.noting(noted), at: "/")
      server.identifyCallers()
      try client.note(1...1, at: await server.uniqueName)
      // The bus has passed the call on; then it has arrived; then the connection is still asking the bus who the client is.
      _ = try await client.owner(of: .bus)
      _ = try await server.owner(of: .bus)
      await server.callsAreIdentified()
      #expect(noted.withLock { $0 } == [1])
    }
  }
}
