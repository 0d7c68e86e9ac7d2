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
