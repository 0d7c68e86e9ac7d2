import DBus
import DBusTestSupport
import Testing

@Suite struct CommandLineErrorTests {
  struct Wrong: Sendable {
    var words: [CommandLineClient: [String]]
    var name: ErrorName
    var text: String
  }

  private static let wrongUses: [Wrong] = [
    Wrong(
      words: [
        .dbusSend: CommandLineClient.dbusSend.words(calling: "Fail", ["string:because"]),
        .gdbus: CommandLineClient.gdbus.words(calling: "Fail", ["because"]),
        .busctl: CommandLineClient.busctl.words(calling: "Fail", ["s", "because"]),
      ],
      name: "org.stagedoor.Showcase1.Error.AsAsked", text: "because"),
    Wrong(
      words: [
        .dbusSend: CommandLineClient.dbusSend.words(calling: "Divide", ["int32:1", "int32:0"]),
        .gdbus: CommandLineClient.gdbus.words(calling: "Divide", ["1", "0"]),
        .busctl: CommandLineClient.busctl.words(calling: "Divide", ["ii", "1", "0"]),
      ],
      name: "org.stagedoor.Showcase1.Error.DivisionByZero", text: "the divisor is 0"),
    Wrong(
      words: [
        .dbusSend: CommandLineClient.dbusSend.words(calling: "EchoNested", ["string:x", "int32:1"]),
        // gdbus itself would refuse another type, because it has read the signature; it passes on an argument too many.
        .gdbus: CommandLineClient.gdbus.words(calling: "EchoNested", ["{}", "1"]),
        .busctl: CommandLineClient.busctl.words(calling: "EchoNested", ["s", "x"]),
      ],
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
