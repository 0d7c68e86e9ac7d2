import DBus
import DBusTestSupport
import Glibc
import Testing

/// Calls that take long: others have their turn between two of them.
@Suite struct RestingSenderTests {
  /// Who called, and whether somebody was there to hear the answer.
  private struct Noted: Equatable {
    let number: Int32
    var isAbandoned = false
  }

  /// While `body` runs, the service does nothing: what is sent to it comes all at once.
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
        _ = try await other.owner(of: name)
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
        // It does take long: the socket is written to once for each, and takes a twentieth of it.
        usleep(20_000)
        call.tookLong()
        return String(repeating: "x", count: 4 << 20)
      }
      service.identifyCallers(admittingStrangers: true)
      service.export(interface, at: "/")
      let name = try #require(await service.uniqueName)
      for client in [one, other] { try await client.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping") }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<24 {
          group.addTask { let _: String = try await one.call(to: name, at: "/", "org.example.Log", "Long") }
        }
        try await eventually("the first") { made.with { $0 } > 0 }
        try await other.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
        #expect(made.with { $0 } < 8)
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
      #expect(noted.map(\.isAbandoned) == [false, true, true, true, true])
      await witness.close()
    }
  }
}
