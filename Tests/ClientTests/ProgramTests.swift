import DBus
import DBusTestSupport
import Testing

/// `dbus-showcase` as a program: what it prints, and how it ends.
@Suite struct ProgramTests {
  @Test func `Quit is answered, and ends it with status 0`() async throws {
    try await withStage { stage in
      try await stage.object.call("Quit")
      #expect(try await stage.showcase.ended() == .exited(0))
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a bus that goes ends it with a status of its own`(kind: PrivateBus.Kind) async throws {
    try await withStage(kind) { stage in
      await stage.bus.kill()
      let status = try await stage.showcase.ended()
      #expect(status == .exited(3))
      #expect(stage.showcase.standardError == "dbus-showcase: the bus has gone\n")
    }
  }

  @Test func `a name that is taken is said in a sentence`() async throws {
    try await withStage { stage in
      try await expect(
        ["--address", stage.bus.address.rawValue], ends: 1,
        "org.stagedoor.Showcase1 is taken: is another dbus-showcase running on this bus?")
    }
  }

  @Test func `a bus that is not there is said in a sentence`() async throws {
    try await expect(
      [], ends: 1, "there is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and XDG_RUNTIME_DIR has no bus")
    let unreachable = try await run("--address", "unix:path=/nowhere/bus")
    #expect(unreachable.status == .exited(1))
    #expect(unreachable.standardError.hasPrefix("dbus-showcase: no connection to unix:path=/nowhere/bus: "))
    #expect(unreachable.standardError.hasSuffix("No such file or directory\n"))
  }

  @Test(arguments: [
    (["--dance"], "there is no option --dance; `dbus-showcase --help` lists the options"),
    (["--address"], "--address needs a value: --address ADDRESS"),
    (["--demo", "--session"], "--session and --demo cannot go together; give one of them"),
  ])
  func `arguments that make no sense are said in a sentence`(arguments: [String], sentence: String) async throws {
    try await expect(arguments, ends: 2, sentence)
  }

  @Test func `help and version are said and nothing else is done`() async throws {
    let help = try await run("--help")
    #expect(help.status == .exited(0) && help.standardOutput.hasPrefix("usage: dbus-showcase [OPTION]...\n"))
    #expect(help.standardOutput.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect(try await run("--version").standardOutput == "dbus-showcase 1.0\n")
  }

  private func expect(
    _ arguments: [String], ends status: Int32, _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await run(arguments)
    #expect(result.status == .exited(status) && result.standardOutput == "", sourceLocation: sourceLocation)
    #expect(result.standardError == "dbus-showcase: \(sentence)\n", sourceLocation: sourceLocation)
  }

  private func run(_ arguments: String...) async throws -> Command.Result { try await run(arguments) }

  /// Runs the program in an environment that names no bus.
  private func run(_ arguments: [String]) async throws -> Command.Result {
    var command = Command.built("dbus-showcase")
    command.arguments = arguments
    command.environment = command.environment.filter { !$0.key.hasPrefix("DBUS_") && $0.key != "XDG_RUNTIME_DIR" }
    return try await command.run()
  }
}
