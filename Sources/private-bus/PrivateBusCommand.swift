import DBusTestSupport
@preconcurrency import Glibc

/// Runs a command with a session bus of its own, and ends with the command's status.
///
///     private-bus [--daemon | --broker] -- command arguments…
///
/// The bus is gone afterwards, however this program ends.
@main struct PrivateBusCommand {
  static let usage = """
    usage: private-bus [--daemon | --broker] -- command [arguments...]
    Runs the command with a message bus of its own as its session bus, and ends with the command's exit status.
      --daemon   the bus is dbus-daemon (the default)
      --broker   the bus is dbus-broker
    """

  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let separator = arguments.firstIndex(of: "--"),
      let kind = kind(of: Array(arguments[..<separator])),
      let program = arguments[(separator + 1)...].first
    else {
      let asksForHelp = arguments.first == "--help"
      print(usage, to: asksForHelp ? stdout : stderr)
      exit(asksForHelp ? 0 : 64)
    }
    do {
      let status = try await withPrivateBus(kind) { bus in
        let command = Command(
          program, arguments: Array(arguments[(separator + 2)...]), environment: bus.environment)
        return try await command.runInForeground().shellStatus
      }
      exit(status)
    } catch {
      print("private-bus: \(error)", to: stderr)
      exit(error is ProgramNotFound ? 127 : 69)
    }
  }

  private static func kind(of options: [String]) -> PrivateBus.Kind? {
    switch options {
    case [], ["--daemon"]: .daemon
    case ["--broker"]: .broker
    default: nil
    }
  }

  private static func print(_ text: String, to stream: UnsafeMutablePointer<FILE>?) {
    guard let stream else { return }
    fputs("\(text)\n", stream)
  }
}
