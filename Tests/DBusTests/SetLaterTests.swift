import DBus
import DBusTestSupport
import Testing

/// Properties whose change is answered after the setter returns.
@Suite struct SetLaterTests {
  private static let name: InterfaceName = "org.example.Player"

  /// A change that waits for the end of the batch.
  private struct Change {
    let value: Int32
    let reply: Reply<>
  }

  private func withPlayer(
    _ body: (_ player: RemoteObject, _ changes: Lock<[Change]>, _ volume: Lock<Int32>) async throws -> Void
  ) async throws {
    try await withPeers { server, client in
      let changes = Lock<[Change]>([])
      let volume = Lock<Int32>(0)
      var player = Interface(Self.name)
      player.property(
        "Volume", get: { (_: PropertyAccess) in volume.withLock { $0 } },
        set: { (_: PropertyAccess, value: Int32, reply: Reply<>) in
          if value < 0 { throw ErrorReply(.invalidArgs, "a volume is not negative") }
          changes.withLock { $0.append(Change(value: value, reply: reply)) }
        })
      server.export(player, at: "/")
      try await body(client.object(nil, at: "/", Self.name), changes, volume)
      changes.withLock { $0 = [] }
    }
  }

  @Test func `changes that are stored together are announced, and then answered, once they are stored`() async throws {
    try await withPlayer { player, changes, volume in
      let signals = try await player.propertyChanges()
      async let first: Void = player.set("Volume", to: Int32(1))
      async let second: Void = player.set("Volume", to: Int32(2))
      try await eventually("both changes") { changes.withLock { $0.count } == 2 }
      #expect(try await player.get("Volume", as: Int32.self) == 0)
      for change in changes.withLock({ $0 }) {
        volume.withLock { $0 = change.value }
        change.reply.send()
      }
      _ = try await (first, second)
      // The signal had arrived when the answers arrived.
      signals.cancel()
      var values: [Variant?] = []
      for await signal in signals {
        values.append(try signal.values(as: String.self, [String: Variant].self, [String].self).1["Volume"])
      }
      let last = changes.withLock { $0.last?.value }
      #expect(values.last == last.map { .int32($0) })
    }
  }

  @Test func `a change that is refused, now or later, or let go of is announced to nobody`() async throws {
    try await withPlayer { player, changes, _ in
      let signals = try await player.propertyChanges()
      let refusedLater = Task { try await player.set("Volume", to: Int32(1)) }
      try await eventually("the change") { changes.withLock { $0.count } == 1 }
      changes.withLock { $0 }.first?.reply.fail(ErrorReply(.failed, "it could not be stored"))
      #expect(await refusal { try await refusedLater.value }?.text == "it could not be stored")
      changes.withLock { $0 = [] }
      #expect(await refusal { try await player.set("Volume", to: Int32(-1)) }?.name == .invalidArgs)
      let forgotten = Task { try await player.set("Volume", to: Int32(2)) }
      try await eventually("the change") { changes.withLock { $0.count } == 1 }
      changes.withLock { $0 = [] }
      #expect(await refusal { try await forgotten.value }?.name == .noReply)
      signals.cancel()
      for await signal in signals { Issue.record("\(signal.member) was announced") }
    }
  }
}
