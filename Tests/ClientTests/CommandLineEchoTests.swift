import DBus
import DBusTestSupport
import Testing
import dbus_showcase

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

/// The declaration of the main object's interface.
func declaration() async throws -> Introspection.Interface {
  let loop = try EventLoop()
  let introspection = Showcase(on: loop, quit: {}).interface.introspection
  await loop.stop()
  return introspection
}
