import DBus
import DBusTestSupport
import Testing

/// The announcements of a turn of the loop and their order, and those of properties whose change is answered after the setter returns.
@Suite struct AnnouncementTests {
  /// A manager at "/" with one object, the client's view of everything below it, and a turn in which `change` happens.
  private func heard(_ change: @escaping @Sendable (Connection, Interface) -> Void) async throws -> [String] {
    var seen: [String] = []
    try await withPeers { server, client in
      var thing = Interface("org.example.Thing")
      thing.property("Age", get: { 3 as UInt32 })
      let declared = thing
      server.exportObjectManager(at: "/")
      server.export(declared, at: "/thing")
      server.export(declared, at: "/other")
      let signals = try await client.signals(MatchRule(pathNamespace: "/"))
      try await client.ping()
      server.loop.execute {
        change(server, declared)
        try? server.emit(from: "/", "org.example.Thing", "Last")
      }
      for await signal in signals {
        if signal.member == "Last" { break }
        let first = try signal.variants().first
        let path = if case .objectPath(let path)? = first { path } else { signal.path }
        seen.append("\(signal.member) \(path)")
      }
    }
    return seen
  }

  @Test func `an object that goes and comes back in one turn is heard to go first`() async throws {
    let seen = try await heard { server, thing in
      server.propertyChanged("Age", of: "org.example.Thing", at: "/other")
      server.unexport(at: "/thing")
      server.export(thing, at: "/thing")
      server.propertyChanged("Age", of: "org.example.Thing", at: "/thing")
    }
    #expect(seen.suffix(3) == ["InterfacesRemoved /thing", "InterfacesAdded /thing", "PropertiesChanged /other"])
  }

  @Test func `an object that is replaced and goes in one turn is heard to go`() async throws {
    let seen = try await heard { server, thing in
      server.export(thing, at: "/thing")
      server.unexport(at: "/thing")
    }
    #expect(seen.last == "InterfacesRemoved /thing")
  }

  @Test func `an object that comes and goes in one turn is not heard of`() async throws {
    let seen = try await heard { server, thing in
      server.export(thing, at: "/new")
      server.propertyChanged("Age", of: "org.example.Thing", at: "/new")
      server.unexport(at: "/new")
    }
    #expect(!seen.contains { $0.hasSuffix("/new") })
  }

  @Test func `an object that goes, comes and goes again is heard to go once`() async throws {
    let seen = try await heard { server, thing in
      server.propertyChanged("Age", of: "org.example.Thing", at: "/other")
      server.unexport(at: "/thing")
      server.export(thing, at: "/thing")
      server.unexport(at: "/thing")
    }
    #expect(seen.suffix(2) == ["InterfacesRemoved /thing", "PropertiesChanged /other"])
  }

  @Test func `what is new is told before what has changed, and both before what was said after`() async throws {
    let seen = try await heard { server, thing in
      server.propertyChanged("Age", of: "org.example.Thing", at: "/other")
      server.export(thing, at: "/new")
      server.propertyChanged("Age", of: "org.example.Thing", at: "/new")
    }
    #expect(seen.suffix(2) == ["InterfacesAdded /new", "PropertiesChanged /other"])
  }

  // MARK: Changes that are answered later

  /// A change that waits for the end of the batch.
  private struct Change {
    let value: Int32
    let reply: Reply<>
  }

  private func withPlayer(
    _ body: (_ player: RemoteObject, _ changes: Lock<[Change]>, _ volume: Lock<Int32>) async throws -> Void
  ) async throws {
    let changes = Lock<[Change]>([])
    let volume = Lock<Int32>(0)
    try await withThing { player in
      player.property(
        "Volume", get: { (_: PropertyAccess) in volume.withLock { $0 } },
        set: { (_: PropertyAccess, value: Int32, reply: Reply<>) in
          if value < 0 { throw ErrorReply(.invalidArgs, "a volume is not negative") }
          changes.withLock { $0.append(Change(value: value, reply: reply)) }
        })
    } _: { player, _ in
      try await body(player, changes, volume)
      changes.withLock { $0 = [] }
    }
  }

  @Test func `changes that are stored together are announced, and then answered, once they are stored`() async throws {
    try await withPlayer { player, changes, volume in
      let signals = try await player.propertyChanges()
      async let first: Void = player.set("Volume", to: Int32(1))
      async let second: Void = player.set("Volume", to: Int32(2))
      try await eventually("both changes") { changes.withLock { $0.count } == 2 }
      #expect(try await player.get("Volume", as: Int32.self) == 0)
      for change in changes.withLock({ $0 }) {
        volume.withLock { $0 = change.value }
        change.reply.send()
      }
      _ = try await (first, second)
      // The signal had arrived when the answers arrived.
      signals.cancel()
      var values: [Variant?] = []
      for await signal in signals {
        values.append(try signal.values(as: String.self, [String: Variant].self, [String].self).1["Volume"])
      }
      let last = changes.withLock { $0.last?.value }
      #expect(values.last == last.map { .int32($0) })
    }
  }

  @Test func `a change that is refused, now or later, or let go of is announced to nobody`() async throws {
    try await withPlayer { player, changes, _ in
      let signals = try await player.propertyChanges()
      let refusedLater = Task { try await player.set("Volume", to: Int32(1)) }
      try await eventually("the change") { changes.withLock { $0.count } == 1 }
      changes.withLock { $0 }.first?.reply.fail(ErrorReply(.failed, "it could not be stored"))
      #expect(await refusal { try await refusedLater.value }?.text == "it could not be stored")
      changes.withLock { $0 = [] }
      #expect(await refusal { try await player.set("Volume", to: Int32(-1)) }?.name == .invalidArgs)
      let forgotten = Task { try await player.set("Volume", to: Int32(2)) }
      try await eventually("the change") { changes.withLock { $0.count } == 1 }
      changes.withLock { $0 = [] }
      #expect(await refusal { try await forgotten.value }?.name == .noReply)
      signals.cancel()
      for await signal in signals { Issue.record("\(signal.member) was announced") }
    }
  }
}
