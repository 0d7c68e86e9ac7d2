import DBus
import DBusTestSupport
import Testing

/// Calls through a bus: each one ends, and in which way.
@Suite struct BusCallTests {
  private static let path: ObjectPath = "/org/example/Slow"

  /// Runs `body` with a service that answers late or at once, as a client sees it, and with what makes it answer.
  private func withService(
    _ kind: PrivateBus.Kind, _ body: (PrivateBus, RemoteObject, Connection, Latecomer) async throws -> Void
  ) async throws {
    let late = Latecomer()
    var interface = late.interface
    interface.method("Echo", in: "n", out: "n") { (number: Int32) in number }
    try await withConnections(kind) { bus, service, client in
      service.export(interface, at: Self.path)
      _ = try await service.requestName("org.example.Slow")
      try await body(bus, client.object("org.example.Slow", at: Self.path, "org.example.Slow"), service, late)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a name that nobody has is an error reply of the bus`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, client, _ in
      let error = await refusal { try await client.call(to: "org.example.Nobody", at: "/", "org.example.Any", "Any") }
      #expect(error?.name == .serviceUnknown)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a call ends at its deadline, and a late reply is nobody's`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { _, slow, _, late in
      await #expect(throws: CallError.timedOut) {
        _ = try await slow.call("Wait", timeout: .milliseconds(50), returning: Int32.self)
      }
      late.answerAll()
      let echo: Int32 = try await slow.call("Echo", Int32(2))
      #expect(echo == 2)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a cancelled call ends at once`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { _, slow, _, late in
      let task = Task { try await slow.call("Wait", timeout: nil, returning: Int32.self) }
      try await late.waitForOne()
      task.cancel()
      await #expect(throws: CallError.cancelled) {
        _ = try await withLimit(usualLimit, "the cancelled call") { try await task.value }
      }
      // A call that is cancelled before it begins is not sent.
      let never = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await slow.call("Wait", timeout: nil, returning: Int32.self)
      }
      await #expect(throws: CallError.cancelled) { _ = try await never.value }
      #expect(late.count == 1)
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a service that goes in the middle ends the calls to it`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { _, slow, service, late in
      let task = Task { try await slow.call("Wait", timeout: nil, returning: Int32.self) }
      try await late.waitForOne()
      await service.close()
      let error = try await withLimit(usualLimit, "the end of the call") { await refusal { _ = try await task.value } }
      #expect(error?.name == .noReply)
      // An answer that comes after the connection has closed is dropped silently.
      late.answerAll()
    }
  }

  enum Leaver: CaseIterable { case caller, service }

  @Test(arguments: PrivateBus.Kind.available, Leaver.allCases)
  func `a handler is cancelled when its caller leaves, or its connection closes`(
    kind: PrivateBus.Kind, leaver: Leaver
  ) async throws {
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let (ended, ending) = AsyncStream.makeStream(of: Bool.self)
    var interface = Interface("org.example.Slow")
    interface.method("Forever") {
      beginning.yield()
      // It ends with the task.
      for await _ in AsyncStream(Void.self, { _ in }) {}
      ending.yield(Task.isCancelled)
    }
    try await withConnections(kind) { _, service, caller in
      service.export(interface, at: Self.path)
      try caller.send(to: await service.uniqueName, at: Self.path, "org.example.Slow", "Forever")
      try await withLimit(usualLimit, "the handler's beginning") { _ = await begun.first { true } }
      await (leaver == .caller ? caller : service).close()
      let wasCancelled = try await withLimit(usualLimit, "the handler's end") { await ended.first { _ in true } }
      #expect(wasCancelled == true)
    }
  }

  @Test func `a caller that never waits is stopped at the limit, and others are not`() async throws {
    let (release, releasing) = AsyncStream.makeStream(of: Void.self)
    var interface = Interface("org.example.Slow")
    interface.method("Hold") { for await _ in release { break } }
    try await withConnections { _, service, flood, other in
      service.export(interface, at: Self.path)
      let unique = await service.uniqueName
      for _ in 0..<1024 { try flood.send(to: unique, at: Self.path, "org.example.Slow", "Hold") }
      let error = await refusal { try await flood.call(to: unique, at: Self.path, "org.example.Slow", "Hold") }
      #expect(error?.name == .limitsExceeded)
      try await other.ping(unique)
      releasing.finish()
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `a connection is used from many threads at once`(kind: PrivateBus.Kind) async throws {
    try await withService(kind) { bus, slow, service, _ in
      let listener = try await bus.connect()
      let signals = try await listener.signals(
        MatchRule(interface: "org.example.Slow", member: "Said"), buffering: .oldest(10_000))
      try await withThrowingTaskGroup { group in
        for thread in 0..<8 as Range<Int32> {
          group.addTask {
            for number in 0..<250 as Range<Int32> {
              try service.emit(from: Self.path, "org.example.Slow", "Said", thread, number)
              #expect(try await slow.call("Echo", number, returning: Int32.self) == number)
            }
          }
        }
        try await group.waitForAll()
      }
      var next = [Int32](repeating: 0, count: 8)
      for signal in try await collect(2000, from: signals) {
        let (thread, number) = try signal.values(as: Int32.self, Int32.self)
        // The signals of each thread come in the order in which it sent them.
        #expect(number == next[Int(thread)])
        next[Int(thread)] += 1
      }
      #expect(signals.dropped == 0)
      await listener.close()
    }
  }
}
