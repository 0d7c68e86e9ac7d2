import DBus
import DBusTestSupport
import Testing
import dbus_showcase

/// A program with which people call services from a shell.
enum CommandLineClient: String, CaseIterable {
  case dbusSend = "dbus-send"
  case gdbus
  case busctl

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
}

/// busctl, which stands on an implementation of D-Bus that no Python binding has. dbus-send and gdbus stand on those of two bindings, which send more.
@Suite struct BusctlTests {
  private func call(
    _ member: String, _ arguments: [String], at path: String = "/org/stagedoor/Showcase1",
    in interface: String = "org.stagedoor.Showcase1", on stage: Stage
  ) -> Command {
    stage.command(
      "busctl", arguments: ["--user", "call", "org.stagedoor.Showcase1", path, interface, member] + arguments)
  }

  private static let echoes: [(member: String, arguments: [String], shown: String)] = [
    ("EchoByte", ["y", "255"], "y 255"),
    ("EchoBoolean", ["b", "true"], "b true"),
    ("EchoInt16", ["n", "--", "-32768"], "n -32768"),
    ("EchoUInt16", ["q", "65535"], "q 65535"),
    ("EchoInt32", ["i", "--", "-2147483648"], "i -2147483648"),
    ("EchoUInt32", ["u", "4294967295"], "u 4294967295"),
    ("EchoInt64", ["x", "--", "-9223372036854775808"], "x -9223372036854775808"),
    ("EchoUInt64", ["t", "18446744073709551615"], "t 18446744073709551615"),
    ("EchoDouble", ["d", "0.1"], "d 0.1"),
    ("EchoString", ["s", "grüß dich"], #"s "gr\303\274\303\237 dich""#),
    ("EchoObjectPath", ["o", "/a/b_1"], #"o "/a/b_1""#),
    ("EchoSignature", ["g", "a{sv}"], #"g "a{sv}""#),
    ("EchoBytes", ["ay", "3", "0", "127", "255"], "ay 3 0 127 255"),
    ("EchoStrings", ["as", "3", "one", "", "two, three"], #"as 3 "one" "" "two, three""#),
    ("EchoDictionary", ["a{sv}", "1", "a", "as", "1", "x"], #"a{sv} 1 "a" as 1 "x""#),
    (
      "EchoNested", ["a{sa(iv)}", "1", "k", "2", "1", "s", "x", "--", "-2", "(bd)", "true", "2.5"],
      #"a{sa(iv)} 1 "k" 2 1 s "x" -2 (bd) true 2.5"#
    ),
    ("EchoVariant", ["v", "t", "7"], "v t 7"),
    ("EchoStructure", ["(su(dd))", "a mask", "120", "59.9", "10.7"], #"(su(dd)) "a mask" 120 59.9 10.7"#),
  ]

  @Test(arguments: PrivateBus.Kind.available)
  func `it gets back every type but a descriptor, which it cannot send`(kind: PrivateBus.Kind) async throws {
    let all = try await declaration().methods.map(\.name.rawValue).filter { $0.hasPrefix("Echo") }
    #expect(Set(Self.echoes.map(\.member)) == Set(all).subtracting(["EchoFileDescriptor"]))
    try await withStage(kind) { stage async throws in
      for (member, arguments, shown) in Self.echoes {
        #expect(try await call(member, arguments, on: stage).output() == shown, "\(member)")
      }
    }
  }

  /// It prints the text of an error, and not its name.
  @Test(arguments: PrivateBus.Kind.available)
  func `wrong use reaches it as an error with a sentence`(kind: PrivateBus.Kind) async throws {
    try await withStage(kind) { stage in
      for (command, text) in [
        (call("Fail", ["s", "because"], on: stage), "because"),
        (call("Divide", ["ii", "1", "0"], on: stage), "the divisor is 0"),
        (call("EchoNested", ["s", "x"], on: stage), #"EchoNested takes "a{sa(iv)}", not "s""#),
        (call("Dance", [], on: stage), "org.stagedoor.Showcase1 has no method Dance"),
        (
          call("Dance", [], in: "org.example.Dance", on: stage),
          "the object /org/stagedoor/Showcase1 has no interface org.example.Dance"
        ),
        (call("DoNothing", [], at: "/nowhere", on: stage), "there is no object at /nowhere"),
      ] {
        let result = try await command.run()
        #expect(!result.status.isSuccess && result.standardError.contains(text), "\(result)")
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
