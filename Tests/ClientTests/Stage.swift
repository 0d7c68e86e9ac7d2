import DBus
import DBusTestSupport
import dbus_showcase

/// A private bus with the built `dbus-showcase` on it, as a user would run them.
struct Stage: Sendable {
  let bus: PrivateBus
  let showcase: RunningCommand
  let client: Connection

  var object: RemoteObject { client.object(Showcase.busName, at: Showcase.path, "org.stagedoor.Showcase1") }

  func command(_ program: String, _ arguments: String...) -> Command { command(program, arguments: arguments) }

  func command(_ program: String, arguments: [String]) -> Command {
    Command(program, arguments: arguments, environment: bus.environment)
  }
}

nonisolated(nonsending) func withStage<Result>(
  _ kind: PrivateBus.Kind = .daemon, _ body: nonisolated(nonsending) (Stage) async throws -> Result
) async throws -> Result {
  try await withPrivateBus(kind) { bus in
    try await Command.built("dbus-showcase", environment: bus.environment).whileRunning { showcase in
      try await showcase.line { $0 == "org.stagedoor.Showcase1 is ready" }
      return try await body(Stage(bus: bus, showcase: showcase, client: try await bus.connect()))
    }
  }
}
