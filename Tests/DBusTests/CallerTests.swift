import DBus
import DBusTestSupport
import ExitTestSupport
import FoundationEssentials
import Glibc
import Testing

/// The caller of a call: looked up once for each sender, and remembered until the sender leaves.
@Suite struct CallerTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `the bus says who a sender is`(kind: PrivateBus.Kind) async throws {
    try await withPrivateBus(kind) { bus in
      let connection = try await bus.connect()
      let other = try await bus.connect()
      let credentials = try await connection.credentials(of: await other.uniqueName)
      #expect(credentials.userID == getuid())
      #expect(credentials.processID == UInt32(getpid()))
      // The descriptor belongs to this process, and not to a later one with its number, even if the bus reports only the number.
      let process = try #require(credentials.processDescriptor)
      let said = try process.withRawValue { descriptor in
        String(
          decoding: try #require(FileManager.default.contents(atPath: "/proc/self/fdinfo/\(descriptor)")), as: UTF8.self
        )
      }
      #expect(said.contains("Pid:\t\(getpid())\n"))
      await #expect(throws: CallError.self) { _ = try await connection.credentials(of: ":99.99") }
      await other.close()
      await connection.close()
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
    let seen = Guarded<[Int32]>([])
    var interface = Interface("org.example.Guarded")
    interface.method("Note", in: "n", out: "user") { (call: Call, number: Int32) -> UInt32 in
      seen.with { $0.append(number) }
      return call.knownCredentials?.userID ?? 99
    }
    interface.restrict("Note") { call in
      guard call.knownCredentials?.userID == getuid() else { throw ErrorReply(.accessDenied, "who are you?") }
    }
    let declared = interface
    try await withPrivateBus(kind) { bus in
      let service = try await bus.connect()
      let client = try await bus.connect()
      service.identifyCallers()
      service.export(declared, at: "/")
      let unique = await service.uniqueName
      for number in 0..<100 as Range<Int32> {
        try client.send(to: unique, at: "/", "org.example.Guarded", "Note", number)
      }
      let user: UInt32 = try await client.call(to: unique, at: "/", "org.example.Guarded", "Note", 100 as Int32)
      #expect(user == getuid())
      #expect(seen.with { $0 } == Array(0...100))
      await client.close()
      await service.close()
    }
  }

  @Test(arguments: [false, true])
  func `a caller that has left before it was looked at is denied, unless strangers are admitted`(
    admitted: Bool
  ) async throws {
    let reached = Guarded(false)
    var interface = Interface("org.example.Guarded")
    interface.method("Reach") { (call: Call) in
      #expect(call.knownCredentials == nil)
      reached.with { $0 = true }
    }
    let declared = interface
    try await withPrivateBus(.daemon) { bus in
      let service = try await bus.connect()
      let client = try await bus.connect()
      let looked = Guarded(false)
      service.observeCalls { call in if call.member == "Reach" { looked.with { $0 = true } } }
      service.identifyCallers(admittingStrangers: admitted)
      service.export(declared, at: "/")
      let unique = await service.uniqueName
      // The service's loop stands still while the caller calls and leaves.
      let (open, gate) = AsyncStream.makeStream(of: Void.self)
      let (standing, stands) = AsyncStream.makeStream(of: Void.self)
      let thread = Gate()
      service.loop.execute {
        stands.yield()
        thread.wait()
      }
      for await _ in standing { break }
      try client.send(to: unique, at: "/", "org.example.Guarded", "Reach")
      await client.close()
      let witness = try await bus.connect()
      for await owner in try await witness.owners(of: try #require(await client.uniqueName)) where owner == nil {
        break
      }
      thread.open()
      gate.finish()
      _ = open
      try await eventually("the call to be looked at") { looked.with { $0 } }
      // The call was carried out in the same step, or not at all.
      try await witness.call(to: unique, at: "/", "org.freedesktop.DBus.Peer", "Ping")
      #expect(reached.with { $0 } == admitted)
      await witness.close()
      await service.close()
    }
  }
}

/// How many descriptors of processes this process has.
private func processDescriptors() -> Int {
  let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  return files.count { file in
    var target = [CChar](repeating: 0, count: 64)
    _ = readlink("/proc/self/fd/\(file)", &target, target.count - 1)
    return String(decoding: target.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).contains("pidfd")
  }
}

/// Blocks a thread, not a task.
final class Gate: @unchecked Sendable {
  private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init() { sem_init(semaphore, 0, 0) }
  deinit { semaphore.deallocate() }
  func wait() { sem_wait(semaphore) }
  func open() { sem_post(semaphore) }
}
