import DBus
import DBusTestSupport
import Testing
import dbus_showcase

/// A program with which people call services from a shell.
enum CommandLineClient: String, CaseIterable {
  case dbusSend = "dbus-send"
  case gdbus
  case busctl

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

@Suite struct CommandLineEchoTests {
  @Test(arguments: CommandLineClient.allCases, PrivateBus.Kind.available)
  func `a command-line client gets back every type that it can send`(
    client: CommandLineClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      for (member, attempt) in CommandLineEchoes.attempts(of: client) {
        switch attempt {
        case .sends(let words, let shown):
          let output = try await stage.command(client.rawValue, arguments: client.words(calling: member, words))
            .output()
          #expect(client.values(in: output) == shown, "\(member)")
        case .cannot(let words, let complaint):
          let result = try await stage.command(client.rawValue, arguments: client.words(calling: member, words)).run()
          #expect(!result.status.isSuccess, "\(member)")
          #expect(result.standardError.contains(complaint), "\(member)")
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
    var words: [CommandLineClient: [String]]
    var name: ErrorName
    var text: String
  }

  private static let wrongUses: [Wrong] = [
    Wrong(
      words: calls("Fail", dbusSend: ["string:because"], gdbus: ["because"], busctl: ["s", "because"]),
      name: "org.stagedoor.Showcase1.Error.AsAsked", text: "because"),
    Wrong(
      words: calls("Divide", dbusSend: ["int32:1", "int32:0"], gdbus: ["1", "0"], busctl: ["ii", "1", "0"]),
      name: "org.stagedoor.Showcase1.Error.DivisionByZero", text: "the divisor is 0"),
    // gdbus itself would refuse another type, because it has read the signature; it passes on an argument too many.
    Wrong(
      words: calls("EchoNested", dbusSend: ["string:x", "int32:1"], gdbus: ["{}", "1"], busctl: ["s", "x"]),
      name: .invalidArgs, text: #"EchoNested takes "a{sa(iv)}", not "#),
    Wrong(
      words: each { $0.words(calling: "Dance", []) }, name: .unknownMethod,
      text: "org.stagedoor.Showcase1 has no method Dance"),
    Wrong(
      words: each { $0.words(calling: "Dance", [], in: "org.example.Dance") }, name: .unknownInterface,
      text: "the object /org/stagedoor/Showcase1 has no interface org.example.Dance"),
    Wrong(
      words: each { $0.words(calling: "DoNothing", [], at: "/nowhere") }, name: .unknownObject,
      text: "there is no object at /nowhere"),
  ]

  private static func calls(
    _ member: String, dbusSend: [String], gdbus: [String], busctl: [String]
  ) -> [CommandLineClient: [String]] {
    let arguments = [CommandLineClient.dbusSend: dbusSend, .gdbus: gdbus, .busctl: busctl]
    return each { $0.words(calling: member, arguments[$0] ?? []) }
  }

  private static func each(_ words: (CommandLineClient) -> [String]) -> [CommandLineClient: [String]] {
    Dictionary(uniqueKeysWithValues: CommandLineClient.allCases.map { ($0, words($0)) })
  }

  @Test(arguments: CommandLineClient.allCases, PrivateBus.Kind.available)
  func `wrong use reaches a command-line client as an error with a name and a sentence`(
    client: CommandLineClient, kind: PrivateBus.Kind
  ) async throws {
    try await withStage(kind) { stage in
      for wrong in Self.wrongUses {
        let words = try #require(wrong.words[client])
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
