import DBus
import DBusTestSupport
import Testing

@Suite struct PrivateBusTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `two connections find each other`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let service = try await bus.connect()
      var greeter = Interface("org.example.Greeter")
      greeter.method("Greet", in: "name", out: "greeting") { (name: String) in "Hello, \(name)!" }
      service.export(greeter, at: "/org/example/Greeter")
      #expect(try await service.requestName("org.example.Greeter") == .owned)
      let client = try await bus.connect()
      let greeting: String = try await client.call(
        to: "org.example.Greeter", at: "/org/example/Greeter", "org.example.Greeter", "Greet", "Ann")
      #expect(greeting == "Hello, Ann!")
      await client.close()
      await service.close()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `nothing is left of a bus that was stopped`(kind: PrivateBus.Kind) async throws {
    let bus = try await PrivateBus.start(kind)
    let home = try bus.environmentWithFreshHome()["HOME"] ?? ""
    #expect(Files.exist(home))
    #expect(Processes.exist(bus.processIdentifier))
    await bus.stop()
    #expect(!Files.exist(home))
    #expect(!Files.exist(Files.folder(of: bus.address)))
    #expect(!Processes.exist(bus.processIdentifier))
    await bus.stop()
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a bus that is killed is an event for its connections`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let connection = try await bus.connect()
      async let reason = connection.closed()
      await bus.kill()
      #expect(!Processes.exist(bus.processIdentifier))
      #expect(
        try await withLimit(usualLimit, "the end of the connection") { await connection.closed() } == .disconnected)
      #expect(await reason == .disconnected)
      await connection.close()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a bus that nobody stopped goes with the last reference to it`(kind: PrivateBus.Kind) async throws {
    var bus: PrivateBus? = try await PrivateBus.start(kind)
    let process = try #require(bus?.processIdentifier)
    let folder = Files.folder(of: try #require(bus?.address))
    bus = nil
    try await eventually("the bus and its folder are gone") { !Processes.exist(process) && !Files.exist(folder) }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a scope that throws stops its bus, and so does one that is cancelled`(kind: PrivateBus.Kind) async throws {
    struct Thrown: Error {}
    let seen = Seen()
    await #expect(throws: Thrown.self) {
      try await withPrivateBus(kind) { bus in
        seen.process = bus.processIdentifier
        throw Thrown()
      }
    }
    #expect(!Processes.exist(seen.process))
    let task = Task {
      try await withPrivateBus(kind) { bus in
        withUnsafeCurrentTask { $0?.cancel() }
        return bus.processIdentifier
      }
    }
    #expect(!Processes.exist(try await task.value))
  }

  @Test func `the environment names this bus and none that started us`() async throws {
    try await withPrivateBus { bus in
      let environment = try bus.environmentWithFreshHome()
      #expect(environment["DBUS_SESSION_BUS_ADDRESS"] == bus.address.rawValue)
      #expect(environment["DBUS_STARTER_ADDRESS"] == nil)
      let other = try bus.environmentWithFreshHome()
      #expect(environment["HOME"] != other["HOME"])
      let shown = try await Command("sh", "-c", "stat -c %a $XDG_RUNTIME_DIR; ls -A $HOME | wc -l", environment: other)
        .output()
      #expect(shown == "700\n6")
    }
  }
}

/// Carries a value out of a closure that throws.
private final class Seen {
  var process: Int32 = 0
}
