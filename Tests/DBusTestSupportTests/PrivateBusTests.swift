import DBus
import DBusTestSupport
import Glibc
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

  // MARK: After the end of this process

  @Test(arguments: PrivateBus.Kind.available)
  func `a killed process leaves neither its bus nor a file nor what the bus started`(kind: PrivateBus.Kind) async throws
  {
    let script = #"echo "$DBUS_SESSION_BUS_ADDRESS"; exec sleep 1000"#
    let running = try await Command.built(
      "private-bus", kind == .daemon ? "--daemon" : "--broker", "--", "sh", "-c", script
    )
    .start()
    let address = BusAddress(try await running.nextLine())
    let client = try await Connection.open(address)
    let process = Int32(try #require(try await client.credentials(of: .bus).processID))
    #expect(Processes.exist(process))

    running.signal(SIGKILL)
    #expect(try await running.ended() == .signalled(SIGKILL))
    #expect(try await withLimit(usualLimit, "the end of the bus") { await client.closed() } == .disconnected)
    try await eventually("the bus and its files are gone") {
      !Processes.exist(process) && !Files.exist(Files.folder(of: address))
    }
    await client.close()
  }

  @Test func `private-bus passes the status on, and says how it is used`() async throws {
    let ended = try await Command.built("private-bus", "--", "sh", "-c", "cat; exit 7", input: "through").run()
    #expect(ended.status == .exited(7))
    #expect(ended.standardOutput == "through")
    let killed = try await Command.built("private-bus", "--", "sh", "-c", "kill -TERM $$").run()
    #expect(killed.status == .exited(128 + SIGTERM))
    let missing = try await Command.built("private-bus", "--", "no-such-program").run()
    #expect(missing.status == .exited(127))
    #expect(missing.standardError == "private-bus: there is no program \"no-such-program\" on PATH\n")
    #expect(try await Command.built("private-bus", "--bus", "true").run().status == .exited(64))
    #expect(try await Command.built("private-bus", "--help").output().hasPrefix("usage: private-bus"))
  }
}
