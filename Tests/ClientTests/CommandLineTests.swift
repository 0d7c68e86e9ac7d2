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

/// What each command-line client sends, and how it prints the answer.
enum CommandLineEchoes {
  enum Attempt: Sendable {
    case sends([String], shows: String)
    /// A limit of that client, not of the service: its message for the attempt.
    case cannot([String], says: String)

    var words: [String] {
      switch self {
      case .sends(let words, _), .cannot(let words, _): words
      }
    }
  }

  static func attempts(of client: CommandLineClient) -> [(member: String, attempt: Attempt)] {
    switch client {
    case .dbusSend: dbusSend
    case .gdbus: gdbus
    case .busctl: busctl
    }
  }

  private static let dbusSend: [(member: String, attempt: Attempt)] = [
    ("EchoByte", .sends(["byte:255"], shows: "byte 255")),
    ("EchoBoolean", .sends(["boolean:true"], shows: "boolean true")),
    ("EchoInt16", .sends(["int16:-32768"], shows: "int16 -32768")),
    ("EchoUInt16", .sends(["uint16:65535"], shows: "uint16 65535")),
    ("EchoInt32", .sends(["int32:-2147483648"], shows: "int32 -2147483648")),
    ("EchoUInt32", .sends(["uint32:4294967295"], shows: "uint32 4294967295")),
    ("EchoInt64", .sends(["int64:-9223372036854775808"], shows: "int64 -9223372036854775808")),
    ("EchoUInt64", .sends(["uint64:18446744073709551615"], shows: "uint64 18446744073709551615")),
    ("EchoDouble", .sends(["double:0.1"], shows: "double 0.1")),
    ("EchoString", .sends(["string:grüß dich"], shows: #"string "grüß dich""#)),
    ("EchoObjectPath", .sends(["objpath:/a/b_1"], shows: #"object path "/a/b_1""#)),
    ("EchoSignature", .cannot(["signature:as"], says: #"Unknown type "signature""#)),
    ("EchoFileDescriptor", .cannot(["fd:0"], says: #"Unknown type "fd""#)),
    ("EchoBytes", .sends(["array:byte:0,127,255"], shows: "array of bytes [ 00 7f ff ]")),
    ("EchoStrings", .sends(["array:string:one,two"], shows: #"array [ string "one" string "two" ]"#)),
    // In a dictionary or a variant it accepts only basic types.
    ("EchoDictionary", .cannot(["dict:string:variant:a,int32:1"], says: #"Unknown type "variant""#)),
    ("EchoNested", .cannot(["dict:string:array:a,b"], says: #"Unknown type "array""#)),
    ("EchoVariant", .sends(["variant:double:1.5"], shows: "variant       double 1.5")),
    ("EchoVariant", .cannot(["variant:array:string:a,b"], says: #"Unknown type "array""#)),
    ("EchoStructure", .cannot(["struct:a,b"], says: #"Unknown type "struct""#)),
  ]

  /// gdbus reads the introspection document, and parses each argument as the type given there.
  private static let gdbus: [(member: String, attempt: Attempt)] = [
    ("EchoByte", .sends(["255"], shows: "(byte 0xff,)")),
    ("EchoBoolean", .sends(["true"], shows: "(true,)")),
    ("EchoInt16", .sends(["--", "-32768"], shows: "(int16 -32768,)")),
    ("EchoUInt16", .sends(["65535"], shows: "(uint16 65535,)")),
    ("EchoInt32", .sends(["--", "-2147483648"], shows: "(-2147483648,)")),
    ("EchoUInt32", .sends(["4294967295"], shows: "(uint32 4294967295,)")),
    ("EchoInt64", .sends(["--", "-9223372036854775808"], shows: "(int64 -9223372036854775808,)")),
    ("EchoUInt64", .sends(["18446744073709551615"], shows: "(uint64 18446744073709551615,)")),
    ("EchoDouble", .sends(["0.5"], shows: "(0.5,)")),
    ("EchoString", .sends(["'grüß dich'"], shows: "('grüß dich',)")),
    ("EchoObjectPath", .sends(["/a/b_1"], shows: "(objectpath '/a/b_1',)")),
    ("EchoSignature", .sends(["a{sv}"], shows: "(signature 'a{sv}',)")),
    // The number is an open descriptor of gdbus itself; gdbus prints the index in the reply's list.
    ("EchoFileDescriptor", .sends(["1"], shows: "(handle 0,)")),
    ("EchoBytes", .sends(["[0,127,255]"], shows: "([byte 0x00, 0x7f, 0xff],)")),
    ("EchoStrings", .sends(["['one','','two, three']"], shows: "(['one', '', 'two, three'],)")),
    ("EchoDictionary", .sends(["{'a': <['x']>}"], shows: "({'a': <['x']>},)")),
    (
      "EchoNested",
      .sends(["{'k': [(1, <'x'>), (-2, <(true, 2.5)>)]}"], shows: "({'k': [(1, <'x'>), (-2, <(true, 2.5)>)]},)")
    ),
    ("EchoVariant", .sends(["<uint64 7>"], shows: "(<uint64 7>,)")),
    ("EchoStructure", .sends(["('a mask', 120, (59.5, 10.25))"], shows: "(('a mask', uint32 120, (59.5, 10.25)),)")),
  ]

  private static let busctl: [(member: String, attempt: Attempt)] = [
    ("EchoByte", .sends(["y", "255"], shows: "y 255")),
    ("EchoBoolean", .sends(["b", "true"], shows: "b true")),
    ("EchoInt16", .sends(["n", "--", "-32768"], shows: "n -32768")),
    ("EchoUInt16", .sends(["q", "65535"], shows: "q 65535")),
    ("EchoInt32", .sends(["i", "--", "-2147483648"], shows: "i -2147483648")),
    ("EchoUInt32", .sends(["u", "4294967295"], shows: "u 4294967295")),
    ("EchoInt64", .sends(["x", "--", "-9223372036854775808"], shows: "x -9223372036854775808")),
    ("EchoUInt64", .sends(["t", "18446744073709551615"], shows: "t 18446744073709551615")),
    ("EchoDouble", .sends(["d", "0.1"], shows: "d 0.1")),
    ("EchoString", .sends(["s", "grüß dich"], shows: #"s "gr\303\274\303\237 dich""#)),
    ("EchoObjectPath", .sends(["o", "/a/b_1"], shows: #"o "/a/b_1""#)),
    ("EchoSignature", .sends(["g", "a{sv}"], shows: #"g "a{sv}""#)),
    ("EchoFileDescriptor", .cannot(["h", "0"], says: "UNIX file descriptor not supported as type.")),
    ("EchoBytes", .sends(["ay", "3", "0", "127", "255"], shows: "ay 3 0 127 255")),
    ("EchoStrings", .sends(["as", "3", "one", "", "two, three"], shows: #"as 3 "one" "" "two, three""#)),
    ("EchoDictionary", .sends(["a{sv}", "1", "a", "as", "1", "x"], shows: #"a{sv} 1 "a" as 1 "x""#)),
    (
      "EchoNested",
      .sends(
        ["a{sa(iv)}", "1", "k", "2", "1", "s", "x", "--", "-2", "(bd)", "true", "2.5"],
        shows: #"a{sa(iv)} 1 "k" 2 1 s "x" -2 (bd) true 2.5"#)
    ),
    ("EchoVariant", .sends(["v", "t", "7"], shows: "v t 7")),
    (
      "EchoStructure",
      .sends(["(su(dd))", "a mask", "120", "59.9", "10.7"], shows: #"(su(dd)) "a mask" 120 59.9 10.7"#)
    ),
  ]
}
