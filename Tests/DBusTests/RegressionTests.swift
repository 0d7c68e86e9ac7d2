import DBusTestSupport
import ExitTestSupport
import Glibc
import Testing

@testable import DBus

/// Earlier faults, one test each.
@Suite struct RegressionTests {
  @Test func `a rule that the bus refuses leaves other listeners alone`() async throws {
    try await withConnections { _, service, watcher in
      _ = try await service.requestName("org.example.X")
      let good = try await watcher.signals(MatchRule(sender: "org.example.X", member: "Said"))
      await #expect(throws: CallError.self) {
        _ = try await watcher.signals(MatchRule(sender: "org.example.X", arguments: [64: "x"]))
      }
      try service.emit(from: "/", "org.example.X", "Said")
      #expect(try await collect(1, from: good, within: .seconds(10)).count == 1)
    }
  }

  @Test func `connections stay when their listener closes`() async throws {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Connection.self)
    let listener = try await Listener.listen(at: "unix:tmpdir=/tmp") { arrival.yield($0) }
    let client = try await Connection.peer(await listener.address)
    let server = try #require(await arrivals.first { _ in true })
    await listener.close()
    try await client.ping()
    await client.close()
    await server.close()
  }

  @Test func `opening on a stopped loop fails at once`() async throws {
    let loop = try EventLoop()
    await loop.stop()
    await #expect(throws: ConnectionError.loopHasEnded) {
      _ = try await Connection.peer("unix:path=/nowhere", on: loop)
    }
  }

  @Test func `what not everyone may read is not told to everyone`() async throws {
    try await withPeers { server, client in
      let secret = StoredProperty("hidden")
      var safe = Interface("org.example.Safe")
      safe.property("Secret", stored: secret)
      safe.restrict { _ in throw ErrorReply(.accessDenied, "not for you") }
      server.exportObjectManager(at: "/")
      let signals = try await client.signals(MatchRule(pathNamespace: "/"))
      server.export(safe, at: "/safe")
      secret.value = "still hidden"
      let added = try #require(try await collect(1, from: signals, within: .seconds(10)).first)
      let (_, described) = try added.values(as: ObjectPath.self, [String: [String: Variant]].self)
      #expect(described == ["org.example.Safe": [:]])
      secret.value = "hidden again"
      let changed = try #require(try await collect(1, from: signals, within: .seconds(10)).first)
      #expect(changed.member == "PropertiesChanged")
      let (_, values, invalidated) = try changed.values(as: String.self, [String: Variant].self, [String].self)
      #expect(values.isEmpty && invalidated == ["Secret"])
    }
  }

  @Test func `a cancelled reader does not end another`() async throws {
    try await withPeers { server, client in
      let signals = try await client.signals(MatchRule(member: "Said"))
      let reader = Task { await signals.makeAsyncIterator().next()?.member }
      let other = Task { await signals.makeAsyncIterator().next() == nil }
      other.cancel()
      #expect(try await withLimit(usualLimit, "the cancelled wait") { await other.value })
      try server.emit(from: "/", "org.example.Log", "Said")
      #expect(try await withLimit(.seconds(10), "the signal") { await reader.value } == "Said")
    }
  }

  @Test func `a message with a number of its own does not take another call's place`() async throws {
    try await withThing { thing in
      thing.method("Echo", in: "n", out: "n") { (number: Int32) in number }
    } _: { thing, _ in
      for serial in 1...50 as ClosedRange<UInt32> {
        let relayed = try Message(
          bytes: Message.methodCall(at: Thing.path, Thing.name, "Echo", Int32(serial)).bytes(serial: serial))
        async let own: Int32 = thing.call("Echo", -1 as Int32)
        let reply = try await thing.connection.reply(to: relayed)
        #expect(try reply.values(as: Int32.self) == Int32(serial))
        #expect(try await own == -1)
      }
    }
  }

  @Test func `setting the same value over the bus announces nothing`() async throws {
    try await withThing { thing in
      thing.property("Mood", stored: StoredProperty("calm"), writable: true)
    } _: { thing, _ in
      let changes = try await thing.propertyChanges()
      try await thing.set("Mood", to: "calm")
      try await thing.set("Mood", to: "merry")
      let first = try #require(try await collect(1, from: changes, within: .seconds(10)).first)
      let (_, values, _) = try first.values(as: String.self, [String: Variant].self, [String].self)
      #expect(values == ["Mood": "merry"])
    }
  }

  @Test func `a getter that announces does not stop the loop`() async throws {
    try await withPeers { server, client in
      var thing = Interface("org.example.Thing")
      thing.property(
        "Restless",
        get: { (access: PropertyAccess) -> Int32 in
          if access.call == nil { server.propertyChanged("Restless", of: "org.example.Thing", at: "/") }
          return 1
        })
      server.export(thing, at: "/")
      server.propertyChanged("Restless", of: "org.example.Thing", at: "/")
      try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping", timeout: .seconds(10))
      server.unexport(at: "/")
    }
  }

  @Test func `keys that would make a dictionary slow are refused, and unwanted values are not read`() async throws {
    try await withThing { _ in
    } _: { thing, _ in
      let marks = "a" + String(repeating: "\u{327}\u{301}", count: 1_000)
      let properties = thing.connection.object(nil, at: Thing.path, "org.freedesktop.DBus.Properties")
      await #expect(throws: CallError.self) { try await thing.set("Nope", to: [marks: true]) }
      await #expect(throws: CallError.self) {
        try await properties.call("Get", Thing.name.rawValue, marks, returning: Variant.self)
      }
      let message = try Message.signal(from: "/", "a.b", "C", [marks: true])
      #expect(throws: CodingError.self) { try message.values(as: [String: Bool].self) }
      #expect(throws: CodingError.self) { try message.variants() }
      let notNumbers = try Message.signal(from: "/", "a.b", "C", [Double.nan: true])
      #expect(throws: CodingError.self) { try notNumbers.values(as: [Double: Bool].self) }
    }
  }

  private struct Half: Liar {
    static var signature: Signature { "(si)" }
    func write(to writer: inout MessageWriter) throws(CodingError) {
      try writer.structure { (members) throws(CodingError) in try "text".write(to: &members) }
    }
  }

  @Test func `a type that does not keep to its signature is an error, and not the end`() {
    #expect(throws: CodingError.self) { _ = try Message.signal(from: "/", "a.b", "C", Half()) }
    #expect(throws: CodingError.self) { _ = try Message.signal(from: "/", "a.b", "C", [Half()]) }
    #expect(throws: CodingError.self) { _ = try Message.signal(from: "/", "a.b", "C", ["key": Half()]) }
  }

  private struct Nameless: Liar {
    static var signature: Signature { Signature(unchecked: "a{sv") }
  }

  @Test(.ownThreads)
  func `what is declared with types that make no signature traps, and a message of them is an error`() async {
    #expect(throws: CodingError.self) { _ = try Message.signal(from: "/", "a.b", "C", Nameless()) }
    await #expect(processExitsWith: .failure) {
      var thing = Interface("org.example.Thing")
      thing.signal("Went", "where", of: Nameless.self)
    }
    await #expect(processExitsWith: .failure) {
      var thing = Interface("org.example.Thing")
      thing.method("Go", out: "where") { Nameless() }
    }
  }

  @Test func `a quote in a match rule is escaped whatever follows it`() {
    // A combining mark forms one character with the quote.
    let rule = MatchRule(interface: "a.b", arguments: [0: "it\u{27}\u{301}s"])
    #expect(rule.description == "type='signal',interface='a.b',arg0='it'\\''\u{301}s'")
  }
}
