import DBusTestSupport
import DaemonTestSupport
import Testing

/// The service as Python programs see it: `Clients/service_round.py`, through the two bindings of Debian's desktops.
@Suite struct PythonTests {
  enum Binding: String, CaseIterable, CustomTestStringConvertible {
    case dbusPython = "with_dbus_python.py"
    case gio = "with_gio.py"

    var testDescription: String { rawValue }
  }

  @Test(arguments: Binding.allCases, PrivateBus.Kind.available)
  func `the whole round is played through a Python binding`(binding: Binding, kind: PrivateBus.Kind) async throws {
    try await withService(kind) { house in
      // Debian's own Python has the bindings; another one that comes first on PATH may lack them. The option avoids compiled files beside the
      // sources.
      let client = house.command(
        "/usr/bin/python3", "-B", "\(Repository.path)/Tests/DaemonTests/Clients/\(binding.rawValue)")
      let result = try await client.run()
      #expect(result.status == .exited(0), "\(result)")
      #expect(result.standardOutput == "the round was played\n")
    }
  }
}
