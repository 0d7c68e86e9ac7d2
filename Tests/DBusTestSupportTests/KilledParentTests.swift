import DBus
import DBusTestSupport
import Glibc
import Testing

@Suite struct KilledParentTests {
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
