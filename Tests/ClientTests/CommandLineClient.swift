import DBusTestSupport
import Testing

/// A program with which people call services from a shell.
enum CommandLineClient: String, CaseIterable, CustomTestStringConvertible {
  case dbusSend = "dbus-send"
  case gdbus
  case busctl

  var testDescription: String { rawValue }

  /// The words that call a method of the showcase.
  func words(
    calling member: String, _ arguments: [String], at path: String = "/org/stagedoor/Showcase1",
    in interface: String = "org.stagedoor.Showcase1"
  ) -> [String] {
    let name = "org.stagedoor.Showcase1"
    return switch self {
    case .dbusSend: ["--session", "--print-reply", "--dest=\(name)", path, "\(interface).\(member)"] + arguments
    case .gdbus:
      ["call", "--session", "--dest", name, "--object-path", path, "--method", "\(interface).\(member)"] + arguments
    case .busctl: ["--user", "call", name, path, interface, member] + arguments
    }
  }

  /// The words that obtain an object's introspection document.
  func words(introspecting path: String) -> [String] {
    switch self {
    case .dbusSend:
      [
        "--session", "--print-reply=literal", "--dest=org.stagedoor.Showcase1", path,
        "org.freedesktop.DBus.Introspectable.Introspect",
      ]
    case .gdbus: ["introspect", "--session", "--dest", "org.stagedoor.Showcase1", "--object-path", path, "--xml"]
    case .busctl: ["--user", "introspect", "--xml-interface", "org.stagedoor.Showcase1", path]
    }
  }

  /// The output about a reply's values, without the output about the message.
  func values(in output: String) -> String {
    let lines = output.split(separator: "\n")
    let own = self == .dbusSend ? lines.dropFirst() : lines[...]
    return own.map { $0.drop { $0 == " " } }.joined(separator: " ")
  }
}
