import DBus
import DBusTestSupport
import Glibc
import Testing
import dbus_showcase

/// A service that the bus starts for a call. The call waits for the name, and comes in the moment the service has it: often in
/// the same read as the answer to `RequestName`. Nothing comes after it, so a loop that polled before it drained would leave it there.
@Suite struct ActivatedServiceTests {
  private static let rounds = getenv("STAGEDOOR_STRESS") == nil ? 25 : 1000

  @Test(arguments: PrivateBus.Kind.available)
  func `an activated service answers the call that started it, each time it is started`(
    kind: PrivateBus.Kind
  ) async throws {
    try await withPrivateBus(kind) { bus in
      try await bus.install(Showcase.busName, executable: Command.built("dbus-showcase").program)
      let client = try await bus.connect()
      for round in 0..<Self.rounds {
        try await withLimit(usualLimit, "round \(round)") { try await Self.play(round, on: client) }
      }
    }
  }

  /// No service runs before the round, and none after it.
  private static func play(_ round: Int, on client: Connection) async throws {
    let showcase = client.object(Showcase.busName, at: Showcase.path, "org.stagedoor.Showcase1")
    var owners = try await client.owners(of: Showcase.busName).makeAsyncIterator()
    let before = try #require(await owners.next())
    #expect(before == nil, "round \(round) began with the service there")
    switch round % 3 {
    case 0: try await echo(round, by: showcase)
    case 1: break  // The call that starts it is the one that ends it.
    default:
      async let first: Void = echo(round, by: showcase)
      async let second: Void = echo(-round, by: showcase)
      _ = try await (first, second)
    }
    try await showcase.call("Quit", timeout: nil)
    let owner = try #require(await owners.next())
    #expect(owner?.isUnique == true)
    let after = try #require(await owners.next())
    #expect(after == nil)
  }

  private static func echo(_ number: Int, by showcase: RemoteObject) async throws {
    let echo: Int64 = try await showcase.call("EchoInt64", Int64(number), timeout: nil)
    #expect(echo == Int64(number))
  }
}
