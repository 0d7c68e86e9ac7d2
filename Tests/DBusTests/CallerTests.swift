import DBus
import DBusTestSupport
import Dispatch
import ExitTestSupport
import FoundationEssentials
import Glibc
import Testing

/// The caller of a call: looked up once for each sender, and remembered until the sender leaves.
@Suite struct CallerTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `the bus says who a sender is`(kind: PrivateBus.Kind) async throws {
    try await withConnections(kind) { _, connection, other in
      let credentials = try await connection.credentials(of: await other.uniqueName)
      #expect(credentials.userID == getuid())
      #expect(credentials.processID == UInt32(getpid()))
      // The descriptor belongs to this process, and not to a later one with its number, even if the bus reports only the number.
      let process = try #require(credentials.processDescriptor)
      let said = try process.withRawValue { try String(contentsOfFile: "/proc/self/fdinfo/\($0)", encoding: .utf8) }
      #expect(said.contains("Pid:\t\(getpid())\n"))
      await #expect(throws: CallError.self) { _ = try await connection.credentials(of: ":99.99") }
    }
  }

  /// Each remembered sender costs a descriptor, and here no other test opens any.
  @Test(.ownThreads) func `256 senders are remembered, and who leaves makes room`() async {
    await #expect(processExitsWith: .success) {
      try await withPrivateBus(.daemon) { bus in
        let connection = try await bus.connect()
        var others: [Connection] = []
        for _ in 0..<258 {
          others.append(try await bus.connect())
          let credentials = try await connection.credentials(of: await others.last?.uniqueName)
          #expect(credentials.userID == getuid())
        }
        #expect(processDescriptors() == 256)
        await others[0].close()
        try await eventually("the room of the first") { processDescriptors() == 255 }
        for other in others.suffix(2) { _ = try await connection.credentials(of: await other.uniqueName) }
        #expect(processDescriptors() == 256)
        for other in others.dropFirst() { await other.close() }
        try await eventually("the room of all") { processDescriptors() == 0 }
        await connection.close()
      }
    }
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `calls wait until their sender is known, and keep their order`(kind: PrivateBus.Kind) async throws {
    let seen = Lock<[Int32]>([])
    var interface = Interface("org.example.Guarded")
    interface.method("Note", in: "n", out: "user") { (call: Call, number: Int32) -> UInt32 in
      seen.withLock { $0.append(number) }
      return call.knownCredentials?.userID ?? 99
    }
    interface.restrict("Note") { call in
      guard call.knownCredentials?.userID == getuid() else { throw ErrorReply(.accessDenied, "who are you?") }
    }
    try await withConnections(kind) { _, service, client in
      service.identifyCallers()
      service.export(interface, at: "/")
      let unique = await service.uniqueName
      for number in 0..<100 as Range<Int32> {
        try client.send(to: unique, at: "/", "org.example.Guarded", "Note", number)
      }
      let user: UInt32 = try await client.call(to: unique, at: "/", "org.example.Guarded", "Note", 100 as Int32)
      #expect(user == getuid())
      #expect(seen.withLock { $0 } == Array(0...100))
    }
  }

  @Test(arguments: [false, true])
  func `a caller that has left before it was looked at is denied, unless strangers are admitted`(
    admitted: Bool
  ) async throws {
    let reached = Lock(false)
    var interface = Interface("org.example.Guarded")
    interface.method("Reach") { (call: Call) in
      #expect(call.knownCredentials == nil)
      reached.withLock { $0 = true }
    }
    try await withConnections { _, service, client, witness in
      let looked = Lock(false)
      service.observeCalls { call in if call.member == "Reach" { looked.withLock { $0 = true } } }
      service.identifyCallers(admittingStrangers: admitted)
      service.export(interface, at: "/")
      let unique = await service.uniqueName
      // The service's loop stands still while the caller calls and leaves.
      let gate = await service.loop.stand()
      try client.send(to: unique, at: "/", "org.example.Guarded", "Reach")
      await client.close()
      for await owner in try await witness.owners(of: try #require(await client.uniqueName)) where owner == nil {
        break
      }
      gate.signal()
      try await eventually("the call to be looked at") { looked.withLock { $0 } }
      // The call was carried out in the same step, or not at all.
      try await witness.ping(unique)
      #expect(reached.withLock { $0 } == admitted)
    }
  }
}

// MARK: - Departures

/// What a service notices of callers that leave, on a bus that decides what comes when.
@Suite struct DepartureTests {
  private struct Noted {
    var calls: [String] = []
    var departed: [String] = []
  }

  /// Runs `body` with a played bus and a service of it. The service notes its callers, with a mark if they have left.
  private func withService(
    ofProcess process: pid_t = getpid(), _ body: (PlayedBus, Connection, Lock<Noted>) async throws -> Void
  ) async throws {
    let bus = try PlayedBus(process: process)
    let noted = Lock(Noted())
    let service = try await Connection.open(bus.address)
    var interface = Interface("org.example.Log")
    interface.method("Note") { (call: Call) in
      let mark = call.isAbandoned ? " has left" : call.knownCredentials == nil ? " is a stranger" : ""
      noted.withLock { $0.calls.append("\(call.sender?.rawValue ?? "")\(mark)") }
    }
    service.export(interface, at: "/")
    service.observeDepartures { name in noted.withLock { $0.departed.append(name.rawValue) } }
    service.identifyCallers(admittingStrangers: true)
    // The loop has taken everything in.
    _ = try await service.owner(of: .bus)
    try await body(bus, service, noted)
    bus.close()
    await service.close()
  }

  @Test func `the bus knows the rule for departures before it is asked about any caller`() async throws {
    try await withService { bus, _, noted in
      // Three callers come with one read.
      bus.send(
        try PlayedBus.call("Note", from: ":1.7", 1), try PlayedBus.call("Note", from: ":1.8", 1),
        try PlayedBus.call("Note", from: ":1.9", 1))
      try await eventually("all calls") { noted.withLock { $0.calls.count } == 3 }
      let seen = bus.seen.filter { $0 == "AddMatch" || $0.hasPrefix("GetConnectionCredentials") }
      #expect(seen.count == 4 && seen.first == "AddMatch", "\(seen)")
      #expect(Set(noted.withLock { $0.calls }) == [":1.7", ":1.8", ":1.9"])
    }
  }

  /// Otherwise a drag would stay when its source has left.
  @Test func `a caller that leaves as soon as the bus has said who it is has left`() async throws {
    try await withService { bus, _, noted in
      bus.leavesOnceKnown(":1.8")
      bus.send(try PlayedBus.call("Note", from: ":1.7", 1), try PlayedBus.call("Note", from: ":1.8", 1))
      try await eventually("the departure") { noted.withLock { $0.departed } == [":1.8"] }
      try await eventually("all calls") { noted.withLock { $0.calls.count } == 2 }
      #expect(noted.withLock { $0.calls }.contains(":1.8 has left"))
    }
  }

  /// The bus gives the number of a process only, and has answered before the caller left.
  @Test(arguments: [true, false])
  func `a caller whose name has no owner any more has left`(hasProcess: Bool) async throws {
    // No process has the greatest number.
    try await withService(ofProcess: hasProcess ? getpid() : .max) { bus, _, noted in
      bus.ownersLeave(":1.8")
      bus.send(try PlayedBus.call("Note", from: ":1.7", 1), try PlayedBus.call("Note", from: ":1.8", 1))
      try await eventually("all calls") { noted.withLock { $0.calls.count } == 2 }
      #expect(Set(noted.withLock { $0.calls }) == [":1.7", ":1.8 has left"])
    }
  }

  @Test func `a refusal is not sent to a caller that has left`() async throws {
    try await withService { bus, service, noted in
      for sender in [":1.7", ":1.8"] { bus.send(try PlayedBus.call("Note", from: sender, 1)) }
      try await eventually("both callers") { noted.withLock { $0.calls.count } == 2 }
      // The service reads, but there is no room for its answers: calls wait, and further ones are refused.
      bus.reads(false)
      func sendMany(from sender: String) throws {
        bus.send(try (0..<3_000 as Range<UInt32>).flatMap { try PlayedBus.call("Note", from: sender, $0 + 2) })
      }
      // Until the other's answers have filled the buffer, a refusal may leave before the departure is known.
      try sendMany(from: ":1.8")
      var calls = 0
      repeat {
        calls = noted.withLock { $0.calls.count }
        // It returns early only if all answers have left.
        await service.flush(timeout: .milliseconds(200))
      } while !bus.isRead || noted.withLock { $0.calls.count } != calls
      try sendMany(from: ":1.7")
      bus.send(try PlayedBus.departure(of: ":1.7"))
      try await eventually("everything to be read") { bus.isRead }
      try await eventually("the departure") { noted.withLock { $0.departed } == [":1.7"] }
      bus.reads(true)
      try await eventually("a refusal") { bus.seen.contains("error :1.8") }
      _ = try await service.owner(of: ":1.8")
      #expect(!bus.seen.contains("error :1.7"))
    }
  }

  @Test(.ownThreads) func `a service that identifies its callers has a small buffer for its answers`() async {
    await #expect(processExitsWith: .success) {
      try await withPrivateBus(.daemon) { bus in
        let service = try await bus.connect()
        #expect(sendBuffers().filter { $0 < 64 << 10 } == [])
        service.identifyCallers()
        _ = try await service.owner(of: .bus)
        #expect(sendBuffers().filter { $0 < 64 << 10 } == [40 << 10])
        await service.close()
      }
    }
  }
}

/// The sizes of the send buffers of this process's sockets.
private func sendBuffers() -> [Int32] {
  (0..<1_024 as Range<Int32>).compactMap { number in
    var (size, length) = (0 as Int32, socklen_t(4))
    return getsockopt(number, SOL_SOCKET, SO_SNDBUF, &size, &length) == 0 ? size : nil
  }
}

/// How many descriptors of processes this process has.
private func processDescriptors() -> Int { OpenDescriptors.list.values.count { $0.contains("pidfd") } }
