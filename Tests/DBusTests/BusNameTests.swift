import DBus
import DBusTestSupport
import Testing

/// Names, their owners, and events during a request for a name.
@Suite struct BusNameTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `a name is owned, wanted, taken over and given back`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, first, second in
      let name: BusName = "org.example.Name"
      #expect(try await first.owner(of: name) == nil)
      #expect(try await first.requestName(name, .allowReplacement) == .owned)
      #expect(try await first.requestName(name, .allowReplacement) == .alreadyOwned)
      #expect(try await second.requestName(name, .doNotQueue) == .taken)
      #expect(try await second.releaseName(name) == .notOwner)
      #expect(try await second.requestName(name) == .queued)
      #expect(try await second.requestName(name, .replaceExisting) == .owned)
      let owner = try await first.owner(of: name)
      let unique = await second.uniqueName
      #expect(owner == unique)
      #expect(try await second.releaseName(name) == .released)
      #expect(try await second.releaseName("org.example.Nobody") == .unowned)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `the owners of a name are told one after the other`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, watcher, service in
      let name: BusName = "org.example.Name"
      var owners = try await watcher.owners(of: name).makeAsyncIterator()
      #expect(try #require(await owners.next()) == nil)
      _ = try await service.requestName(name)
      let unique = await service.uniqueName
      #expect(try #require(await owners.next()) == unique)
      await service.close()
      #expect(try #require(await owners.next()) == nil)
      await watcher.close()
      #expect(await owners.next() == nil)
    }
  }

  /// The messages that arrive while the answer to RequestName is under way sit in libdbus's queue. A loop that polls
  /// before it drains leaves them there until something else happens.
  @Test(arguments: PrivateBus.Kind.available)
  func `calls that arrive while a name is asked for are answered`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, service, client in
      var echo = Interface("org.example.Echo")
      echo.method("Echo", in: "number", out: "number") { (number: Int32) in number }
      service.export(echo, at: "/")
      let unique = try #require(await service.uniqueName)
      // A call that is lost never comes. A busy machine takes a minute for all of them.
      try await withLimit(.seconds(240), "a thousand answers") {
        for round in 0..<1000 as Range<Int32> {
          async let outcome = service.requestName(BusName("org.example.Round\(round)"))
          async let answer: Int32 = client.call(to: unique, at: "/", "org.example.Echo", "Echo", round)
          let results = try await (outcome, answer)
          #expect(results == (.owned, round))
        }
      }
    }
  }
}
