import DBus
import DBusTestSupport
import Testing

@Suite struct PrivateBusTests {
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
    var process: Int32 = 0
    await #expect(throws: Thrown.self) {
      try await withPrivateBus(kind) { bus in
        process = bus.processIdentifier
        throw Thrown()
      }
    }
    #expect(!Processes.exist(process))
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
