import DBus
import DBusTestSupport
import Dispatch
import Testing

/// Runs `body` with a bus and two connections to it, and then closes the connections.
func withConnections(
  _ kind: PrivateBus.Kind = .daemon, _ body: (PrivateBus, Connection, Connection) async throws -> Void
) async throws {
  try await withPrivateBus(kind) { bus in
    let (one, two) = (try await bus.connect(), try await bus.connect())
    try await body(bus, one, two)
    for connection in [two, one] { await connection.close() }
  }
}

/// The same with three connections.
func withConnections(
  _ kind: PrivateBus.Kind = .daemon, _ body: (PrivateBus, Connection, Connection, Connection) async throws -> Void
) async throws {
  try await withConnections(kind) { bus, one, two in
    let three = try await bus.connect()
    try await body(bus, one, two, three)
    await three.close()
  }
}

/// An object for tests, which each test gives the methods and properties that it needs.
enum Thing {
  static let path: ObjectPath = "/org/example/Thing"
  static let name: InterfaceName = "org.example.Thing"
}

/// Runs `body` with the object of an interface that `declare` fills, as a peer of its server sees it, and with the server.
func withThing(
  _ declare: (inout Interface) -> Void, _ body: (RemoteObject, _ server: Connection) async throws -> Void
) async throws {
  var interface = Interface(Thing.name)
  declare(&interface)
  try await withPeers { server, client in
    server.export(interface, at: Thing.path)
    try await body(client.object(nil, at: Thing.path, Thing.name), server)
  }
}

extension Connection {
  /// Returns when the other side, or the owner of `name`, has answered: all that the two sent to each other before has arrived.
  func ping(_ name: BusName? = nil) async throws {
    try await call(to: name, at: "/", "org.freedesktop.DBus.Peer", "Ping")
  }
}

/// The error with which a call was answered; `nil` if it succeeded.
func refusal(_ body: () async throws -> Void) async -> ErrorReply? {
  do {
    try await body()
    return nil
  } catch let CallError.replied(error) {
    return error
  } catch {
    Issue.record("not an error reply: \(error)")
    return nil
  }
}

extension Connection {
  /// Calls the method "Note" with each of these numbers, and waits for no answer.
  nonisolated func note(_ numbers: ClosedRange<Int32>, at name: BusName? = nil) throws {
    for number in numbers { try send(to: name, at: "/", "org.example.Log", "Note", number) }
  }
}

extension Interface {
  /// An interface whose method "Note" adds its argument to `values`.
  static func noting<Value: BusValue>(_ values: Lock<[Value]>) -> Interface {
    var interface = Interface("org.example.Log")
    interface.method("Note", in: "value") { (value: Value) in values.withLock { $0.append(value) } }
    return interface
  }
}

/// Keeps replies until the test releases them.
final class Latecomer: Sendable {
  private let replies = Lock<[Reply<Int32>]>([])
  private let (arrivals, arriving) = AsyncStream.makeStream(of: Void.self)

  /// Its method "Wait" is answered when the test says so.
  var interface: Interface {
    var interface = Interface("org.example.Slow")
    interface.method("Wait", out: "n") { [self] (reply: Reply<Int32>) in keep(reply) }
    return interface
  }

  private func keep(_ reply: Reply<Int32>) {
    replies.withLock { $0.append(reply) }
    arriving.yield()
  }

  /// The replies that wait.
  var count: Int { replies.withLock { $0.count } }

  func answerAll() {
    for reply in replies.withLock({ exchange(&$0, with: []) }) { reply.send(1) }
  }

  func waitForOne() async throws {
    try await withLimit(usualLimit, "a call to arrive") { _ = await self.arrivals.first { true } }
  }
}

extension EventLoop {
  /// Blocks the thread of the loop until the result is signalled. When this returns, the thread stands.
  func stand() async -> DispatchSemaphore {
    let (standing, stands) = AsyncStream.makeStream(of: Void.self)
    let gate = DispatchSemaphore(value: 0)
    execute {
      stands.yield()
      gate.wait()
    }
    for await _ in standing { break }
    return gate
  }
}

/// A letter with a million accents. To compare it as people read it takes minutes.
let endlessLetter = "e" + String(repeating: "\u{301}\u{323}", count: 500_000)

// MARK: Messages

/// The error of making a message, or anything else. A message cannot be copied, so `#expect(throws:)` does not accept it.
func codingError<Made: ~Copyable>(_ make: () throws -> Made) -> CodingError? {
  do {
    _ = try make()
    return nil
  } catch let error as CodingError {
    return error
  } catch {
    Issue.record("not an error of coding: \(error)")
    return nil
  }
}

/// The error of making a signal with this value.
func codingError<Value: BusValue>(of value: Value) -> CodingError? {
  codingError { try signal(value) }
}

/// A signal that only carries its value.
func signal<Value: BusValue>(_ value: Value) throws(CodingError) -> Message {
  try Message.signal(from: "/a", "a.b", "C", value)
}

extension CodingError {
  var isInvalidSignature: Bool {
    if case .invalidSignature = self { true } else { false }
  }
}

/// A type of structure that is written by hand, and does not keep what it declares.
protocol Liar: BusValue { init() }

extension Liar {
  static func read(from reader: inout MessageReader) throws(CodingError) -> Self { Self() }
  func write(to writer: inout MessageWriter) throws(CodingError) {}
  init(_ variant: Variant) { self.init() }
  var variant: Variant { .boolean(true) }
}
