import DBusTestSupport
import ExitTestSupport
import FoundationEssentials
import Glibc
import SceneTestSupport
import Testing

@testable import DBus

/// Everything at once, and for a long time. Each test runs in a process of its own, where nobody else opens descriptors and takes memory.
@Suite(.ownThreads) struct SoakTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `whatever sixteen clients do, every call ends once and nothing is left of it`(kind: PrivateBus.Kind) async {
    await #expect(processExitsWith: .success) { [name = kind.rawValue as String] in
      // An error that ends the process would print nothing.
      do { try await Self.soak(name) } catch { Issue.record(error) }
    }
  }

  private static func soak(_ name: String) async throws {
    let kind = try #require(PrivateBus.Kind(rawValue: name))
    let calls = isStress ? 200_000 : 1_600
    try await withPrivateBus(kind) { bus in
      // The first run makes everything that is made once and kept.
      try await Soak(bus).run(calls: calls / 4)
      let descriptors = OpenDescriptors.count
      let memory = try SoakMemory.used()
      try await Soak(bus).run(calls: calls)
      // Swift's executor opens a few of its own at any time.
      try await eventually("all descriptors are closed") { OpenDescriptors.count < descriptors + 8 }
      let growth = try SoakMemory.used() - memory
      #expect(growth < SoakMemory.bound, "memory grew by \(growth >> 10) KiB")
    }
  }
}

enum SoakMemory {
  /// How much the memory may grow. AddressSanitizer keeps 256 MiB of freed memory, to see whether somebody still uses it.
  static let bound = dlsym(nil, "__asan_init") == nil ? 32 << 20 : 320 << 20

  /// The memory of this process, in bytes.
  static func used() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return try #require(Int(text.split(separator: " ")[1])) * sysconf(Int32(_SC_PAGESIZE))
  }
}

/// A service, its clients, and a slow listener.
final class Soak: Sendable {
  static let path: ObjectPath = "/org/example/Soak"
  static let interface: InterfaceName = "org.example.Soak"
  private static let clients = 16

  private let bus: PrivateBus
  private let service = SoakService()
  private let tally = Lock(SoakTally())

  init(_ bus: PrivateBus) { self.bus = bus }

  func run(calls: Int) async throws {
    try await withLimit(calls > 10_000 ? .seconds(1200) : .seconds(120), "the end of \(calls) calls") {
      try await self.runToTheEnd(calls: calls)
    }
    try await eventually("every connection and loop is gone") { self.tally.withLock { $0.isDeserted } }
  }

  private func runToTheEnd(calls: Int) async throws {
    let shared = try EventLoop()
    let host = try await bus.connect()
    let watcher = try await bus.connect(on: shared)
    tally.withLock { $0.know(host, watcher) }
    host.export(service.declaration, at: Self.path)
    let name = try #require(await host.uniqueName)

    let ticks = try await watcher.signals(MatchRule(sender: name, member: "Tick"), buffering: .newest(16))
    let ends = try await watcher.signals(MatchRule(sender: name, member: "End"))
    let taken = Lock(0)
    let reader = Task {
      for await _ in ticks {
        taken.withLock { $0 += 1 }
        // This is slower than the signals come: each one costs the listener a call to the service.
        _ = try await watcher.call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping", timeout: nil)
      }
    }

    try await withThrowingTaskGroup { group in
      for number in 0..<Self.clients {
        let client = SoakClient(bus: bus, shared: shared, service: name, tally: tally)
        group.addTask {
          var random = SeededRandom(seed: UInt64(number))
          try await client.run(calls: calls / Self.clients, &random)
        }
      }
      try await group.waitForAll()
    }
    let final = tally.withLock { $0 }
    #expect(final.surprises.isEmpty, "\(final.surprises.prefix(5))")
    #expect(final.ended == final.made && final.made == calls / Self.clients * Self.clients)

    // When the last signal is here, so are all earlier ones. Calls of clients who left may still be under way.
    service.stopTicking()
    try host.emit(from: Self.path, Self.interface, "End")
    #expect(try await collect(1, from: ends).count == 1)
    ticks.cancel()
    try await reader.value
    #expect(taken.withLock { $0 } + ticks.dropped == service.ticks)
    try await eventually("no handler runs") { await host.runningHandlers == 0 }
    let pending = await (host.pendingCalls, watcher.pendingCalls)
    #expect(pending == (0, 0))
    await watcher.close()
    await host.close()
    await shared.stop()
    // From now on no call comes any more.
    service.releaseAll()
  }
}

extension Connection {
  fileprivate var pendingCalls: Int { calls.entries.count }
  fileprivate var runningHandlers: Int { handlers.senders.count }
}

/// The results of the calls, and who is still there.
struct SoakTally: Sendable {
  struct Resident: Sendable {
    weak var connection: Connection?
    weak var loop: EventLoop?
  }

  var made = 0
  var ended = 0
  var surprises: [String] = []
  private var residents: [Resident] = []

  mutating func know(_ connections: Connection...) {
    for connection in connections { residents.append(Resident(connection: connection, loop: connection.loop)) }
  }

  var isDeserted: Bool { residents.allSatisfy { $0.connection == nil && $0.loop == nil } }
}

/// A service with each way to answer, and one that keeps callers waiting.
final class SoakService: Sendable {
  private struct State {
    var kept: [Reply<UInt32>] = []
    var calls = 0
    var ticks = 0
    var isTicking = true
  }

  private let state = Lock(State())

  /// The signals that were emitted.
  var ticks: Int { state.withLock { $0.ticks } }

  func stopTicking() { state.withLock { $0.isTicking = false } }

  /// Answers the callers that were kept waiting, all of whom have left.
  func releaseAll() {
    for reply in state.withLock({ exchange(&$0.kept, with: []) }) { reply.send(0) }
  }

  var declaration: Interface {
    var interface = Interface(Soak.interface)
    let tick = interface.signal("Tick", "number", of: UInt32.self)
    interface.method("Echo", in: "value", out: "value") { [self] (call: Call, value: Variant) in
      if let number = nextTick() { try call.connection.emit(tick, from: call.path, number) }
      return value
    }
    interface.method("EchoInTime", in: "value", out: "value") { (value: Variant) async in
      await Task.yield()
      return value
    }
    interface.method("EchoDescriptor", in: "file", out: "file") { (file: OwnedFileDescriptor) in file }
    interface.method("Fail", in: "why") { (why: String) throws -> Void in throw ErrorReply(.failed, why) }
    interface.method("Keep", out: "number") { [self] (reply: Reply<UInt32>) in keep(reply) }
    return interface
  }

  private func nextTick() -> UInt32? {
    state.withLock { state in
      state.calls += 1
      if state.calls % 4 != 0 || !state.isTicking { return nil }
      state.ticks += 1
      return UInt32(state.ticks)
    }
  }

  /// The callers that waited longest are released without an answer.
  private func keep(_ reply: Reply<UInt32>) {
    let forgotten = state.withLock { state in
      state.kept.append(reply)
      return state.kept.count > 100 ? state.kept.removeFirst() : nil
    }
    withExtendedLifetime(forgotten) {}
  }
}

/// One of many clients: it comes, calls and leaves, again and again, and does not always wait for its answers.
struct SoakClient: Sendable {
  private enum Plan: Sendable {
    case echo(Variant, MemberName)
    case descriptor
    case fail(String)
    case timeOut(Duration)
    case cancel
    case echoAndCancel(Variant)
  }

  let bus: PrivateBus
  let shared: EventLoop
  let service: BusName
  let tally: Lock<SoakTally>

  func run(calls: Int, _ random: inout SeededRandom) async throws {
    var left = calls
    while left > 0 {
      let share = min(left, 20 + random.below(300))
      left -= share
      try await live(calls: share, &random)
    }
  }

  private func live(calls: Int, _ random: inout SeededRandom) async throws {
    let ownLoop = random.once(in: 2) ? try EventLoop() : nil
    let connection = try await bus.connect(on: ownLoop ?? shared)
    tally.withLock { $0.know(connection) }
    let vanishes = random.once(in: 4)
    var left = calls
    while left > 0 {
      var generator = VariantGenerator(seed: random.next())
      let plans = (0..<min(left, 1 + random.below(8))).map { _ in plan(&random, &generator) }
      left -= plans.count
      let goesNow = vanishes && left == 0
      await withTaskGroup { group in
        for plan in plans { group.addTask { await carryOut(plan, on: connection, vanishing: goesNow) } }
        // The client leaves in the middle of its calls, and if it may, without closing its connection.
        if goesNow, let ownLoop { await ownLoop.stop() } else if goesNow { await connection.close() }
      }
    }
    #expect(await connection.pendingCalls == 0)
    await connection.close()
    await ownLoop?.stop()
  }

  private func plan(_ random: inout SeededRandom, _ generator: inout VariantGenerator) -> Plan {
    switch random.below(32) {
    case 0: .fail("on purpose, for the \(random.below(100)). time")
    case 1: .timeOut(.microseconds(random.below(4000)))
    case 2: .cancel
    case 3: .echoAndCancel(generator.variant(depth: 3))
    case 4: .descriptor
    case 5: .echo(.bytes([UInt8](repeating: 7, count: random.below(1 << 17))), "Echo")
    case 6..<12: .echo(generator.variant(depth: 4), "EchoInTime")
    default: .echo(generator.variant(depth: 4), "Echo")
    }
  }

  private func carryOut(_ plan: Plan, on connection: Connection, vanishing: Bool) async {
    tally.withLock { $0.made += 1 }
    let surprise = await surprise(of: plan, on: connection, vanishing: vanishing)
    tally.withLock { tally in
      tally.ended += 1
      if let surprise { tally.surprises.append(surprise) }
    }
  }

  private func surprise(of plan: Plan, on connection: Connection, vanishing: Bool) async -> String? {
    do {
      return try await outcome(of: plan, on: connection.object(service, at: Soak.path, Soak.interface))
    } catch {
      return vanishing && error as? CallError == .disconnected ? nil : "\(plan) failed: \(error)"
    }
  }

  /// Carries out the plan. Returns what was wrong with the result, if anything.
  private func outcome(of plan: Plan, on soak: RemoteObject) async throws -> String? {
    switch plan {
    case .echo(let value, let member):
      let echo: Variant = try await soak.call(member, value, timeout: nil)
      return echo == value ? nil : "\(value) came back as \(echo)"
    case .descriptor:
      let (readEnd, _) = try OwnedFileDescriptor.pipe()
      let echo: OwnedFileDescriptor = try await soak.call("EchoDescriptor", readEnd, timeout: nil)
      return echo.file == readEnd.file ? nil : "another file came back"
    case .fail(let why):
      do {
        try await soak.call("Fail", why, timeout: nil)
        return "it should have failed"
      } catch .replied(let reply) {
        return reply.text == why ? nil : "it failed with \(reply)"
      }
    case .timeOut(let timeout):
      let task = Task { try await soak.call("Keep", timeout: timeout, returning: UInt32.self) }
      switch await task.result {
      case .success(let number): return "it was to be kept waiting, and has \(number)"
      case .failure(CallError.timedOut): return nil
      // Many others wait too, and this caller was released without an answer.
      case .failure(CallError.replied(let reply)) where reply.name == .noReply: return nil
      case .failure(let error): throw error
      }
    case .cancel:
      let task = Task { try await soak.call("Keep", timeout: nil, returning: UInt32.self) }
      return await ending(of: task) { _ in "it was cancelled, and has a reply" }
    case .echoAndCancel(let value):
      let task = Task { try await soak.call("Echo", value, timeout: nil, returning: Variant.self) }
      return await ending(of: task) { $0 == value ? nil : "\(value) came back as \($0)" }
    }
  }

  private func ending<Value>(of task: Task<Value, any Error>, _ judge: (Value) -> String?) async -> String? {
    await Task.yield()
    task.cancel()
    return switch await task.result {
    case .success(let value): judge(value)
    case .failure(CallError.cancelled), .failure(CallError.disconnected): nil
    case .failure(let error): "it was cancelled, and failed with \(error)"
    }
  }
}
