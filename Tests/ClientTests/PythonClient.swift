import DBus
import DBusTestSupport
import DaemonTestSupport
import Testing

/// A Python binding, with the script in `Clients` that calls the showcase through it.
enum PythonClient: String, CaseIterable {
  case dbusPython = "with_dbus_python.py"
  case gio = "with_gio.py"
  case jeepney = "with_jeepney.py"

  /// Debian's own Python has the bindings; another one that comes first on PATH may lack them.
  func command(_ arguments: String..., on stage: Stage) -> Command {
    stage.command(
      "/usr/bin/python3", arguments: ["\(Repository.path)/Tests/ClientTests/Clients/\(rawValue)"] + arguments)
  }
}

@Suite struct PythonClientTests {
  @Test(arguments: PythonClient.allCases, PrivateBus.Kind.available)
  func `a Python binding gets back every type, and for wrong use an error with a name and a sentence`(
    client: PythonClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      let echoes = try await client.command("echo", on: stage).output()
      for method in try await declaration().methods where method.name.rawValue.hasPrefix("Echo") {
        #expect(echoes.contains("\(method.name): "))
      }
      _ = try await client.command("wrong", on: stage).output()
    }
  }
}
