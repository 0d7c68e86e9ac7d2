import DBus
import DBusTestSupport
import Glibc
import Testing

@Suite struct DemoTests {
  @Test func `every line of the demonstration works as it is pasted, and shows its call`() async throws {
    try await withDemo(environment: withoutBus()) { demo in
      let shown = try await introduction(of: demo)
      let export = try #require(shown.first { $0.hasPrefix("export ") })
      let lines = shown.filter { $0 != export && !$0.hasPrefix("gdbus monitor") }
      #expect(lines.count == 9)
      for line in lines {
        let result = try await Command("sh", "-c", "\(export)\n\(line)").run()
        #expect(result.status.isSuccess, "\(line): \(result)")
      }
      for member in ["EchoString", "Divide", "GetAll", "EchoDictionary", "Set", "EchoStructure", "Factors", "Announce"]
      {
        try await demo.line { $0.contains(" calls \(member) on /org/stagedoor/Showcase1") }
      }
      let watch = try #require(shown.first { $0.hasPrefix("gdbus monitor") })
      _ = try await Command("sh", "-c", "\(export)\nexec \(watch)").whileRunning { monitor in
        _ = try await monitor.line { $0.hasPrefix("The name org.stagedoor.Showcase1 is owned by") }
      }
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
  func `nothing is left of a demonstration that ends`(signal: Int32) async throws {
    try await withDemo(environment: withoutBus()) { demo in
      let export = try #require(try await introduction(of: demo).first { $0.hasPrefix("export ") })
      let socket = String(try #require(export.split(separator: "=")[2...].first?.split(separator: ",").first))
      #expect(access(socket, F_OK) == 0)
      let connection = try await Connection.open(BusAddress("unix:path=\(socket)"))
      let bus = try #require(try await connection.credentials(of: .bus).processID)
      demo.signal(signal)
      #expect(try await demo.ended() == (signal == SIGKILL ? .signalled(SIGKILL) : .exited(0)))
      #expect(try await withLimit(usualLimit, "the end of the bus") { await connection.closed() } == .disconnected)
      await connection.close()
      try await eventually("the bus's process and its socket are gone") {
        kill(pid_t(bus), 0) != 0 && access(socket, F_OK) != 0
      }
    }
  }

  @Test func `a session bus that is there is used`() async throws {
    try await withPrivateBus { bus in
      try await withDemo(environment: bus.environment) { demo in
        #expect(try await introduction(of: demo).allSatisfy { !$0.hasPrefix("export ") })
        let client = try await bus.connect()
        #expect(try await client.owner(of: "org.stagedoor.Showcase1") != nil)
      }
    }
  }

  @Test func `an address where nobody listens any more counts as none`() async throws {
    var environment = try withoutBus()
    environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere/bus"
    try await withDemo(environment: environment) { demo in
      let shown = try await introduction(of: demo)
      #expect(shown.contains { $0.hasPrefix("export ") })
    }
  }

  /// The indented lines, which the user pastes.
  private func introduction(of demo: RunningCommand) async throws -> [String] {
    try await demo.line { $0.hasPrefix("Each call will show below.") }
    return demo.standardOutput.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
  }

  private func withoutBus() throws -> [String: String] {
    let path = try #require(getenv("PATH"))
    return ["PATH": String(cString: path)]
  }

  private nonisolated(nonsending) func withDemo<Result>(
    environment: [String: String], _ body: nonisolated(nonsending) (RunningCommand) async throws -> Result
  ) async throws -> Result {
    try await Command.built("dbus-showcase", "--demo", environment: environment).whileRunning(body)
  }
}
