import DBus
import DBusTestSupport
import Testing
import dbus_showcase

/// A program with which people call services from a shell.
enum CommandLineClient: String, CaseIterable {
  case dbusSend = "dbus-send"
  case gdbus
  case busctl

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

@Suite struct CommandLineEchoTests {
  @Test(arguments: CommandLineClient.allCases, PrivateBus.Kind.available)
  func `a command-line client gets back every type that it can send`(
    client: CommandLineClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      for (member, attempt) in CommandLineEchoes.attempts(of: client) {
        let words = client.words(calling: member, attempt.words)
        let result = try await stage.command(client.rawValue, arguments: words).run()
        switch attempt {
        case .sends(_, let shown): #expect(client.values(in: result.standardOutput) == shown, "\(member): \(result)")
        case .cannot(_, let complaint):
          #expect(!result.status.isSuccess && result.standardError.contains(complaint), "\(member): \(result)")
        }
      }
    }
  }

  @Test(arguments: CommandLineClient.allCases)
  func `the table of a command-line client has every echo`(client: CommandLineClient) async throws {
    let echoes = try await declaration().methods.map(\.name.rawValue).filter { $0.hasPrefix("Echo") }
    #expect(echoes.count == 19)
    #expect(Set(CommandLineEchoes.attempts(of: client).map(\.member)) == Set(echoes))
  }
}

@Suite struct CommandLineErrorTests {
  struct Wrong: Sendable {
    let member: String
    var arguments: [CommandLineClient: [String]] = [:]
    var path = "/org/stagedoor/Showcase1"
    var interface = "org.stagedoor.Showcase1"
    let name: ErrorName
    let text: String
  }

  private static let wrongUses: [Wrong] = [
    Wrong(
      member: "Fail", arguments: [.dbusSend: ["string:because"], .gdbus: ["because"], .busctl: ["s", "because"]],
      name: "org.stagedoor.Showcase1.Error.AsAsked", text: "because"),
    Wrong(
      member: "Divide",
      arguments: [.dbusSend: ["int32:1", "int32:0"], .gdbus: ["1", "0"], .busctl: ["ii", "1", "0"]],
      name: "org.stagedoor.Showcase1.Error.DivisionByZero", text: "the divisor is 0"),
    // gdbus itself would refuse another type, because it has read the signature; it passes on an argument too many.
    Wrong(
      member: "EchoNested",
      arguments: [.dbusSend: ["string:x", "int32:1"], .gdbus: ["{}", "1"], .busctl: ["s", "x"]],
      name: .invalidArgs, text: #"EchoNested takes "a{sa(iv)}", not "#),
    Wrong(member: "Dance", name: .unknownMethod, text: "org.stagedoor.Showcase1 has no method Dance"),
    Wrong(
      member: "Dance", interface: "org.example.Dance", name: .unknownInterface,
      text: "the object /org/stagedoor/Showcase1 has no interface org.example.Dance"),
    Wrong(member: "DoNothing", path: "/nowhere", name: .unknownObject, text: "there is no object at /nowhere"),
  ]

  @Test(arguments: CommandLineClient.allCases, PrivateBus.Kind.available)
  func `wrong use reaches a command-line client as an error with a name and a sentence`(
    client: CommandLineClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      for wrong in Self.wrongUses {
        let words = client.words(
          calling: wrong.member, wrong.arguments[client] ?? [], at: wrong.path, in: wrong.interface)
        let result = try await stage.command(client.rawValue, arguments: words).run()
        #expect(!result.status.isSuccess, "\(words)")
        #expect(result.standardError.contains(wrong.text), "\(words)")
        // busctl prints the text of an error and not its name.
        if client != .busctl { #expect(result.standardError.contains("\(wrong.name): "), "\(words)") }
      }
    }
  }
}

/// The declaration of the main object's interface.
func declaration() async throws -> Introspection.Interface {
  let loop = try EventLoop()
  let introspection = Showcase(on: loop, quit: {}).interface.introspection
  await loop.stop()
  return introspection
}
