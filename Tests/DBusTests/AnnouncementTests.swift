import DBus
import DBusTestSupport
import Testing

/// The announcements of a turn of the loop, and their order.
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
}
