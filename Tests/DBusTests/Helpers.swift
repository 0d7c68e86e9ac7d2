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

/// Keeps replies until the test releases them.
final class Latecomer: Sendable {
  private let replies = Lock<[Reply<Int32>]>([])
  private let (arrivals, arriving) = AsyncStream.makeStream(of: Void.self)

  func keep(_ reply: Reply<Int32>) {
    replies.withLock { $0.append(reply) }
    arriving.yield()
  }

  /// The replies that wait.
  var count: Int { replies.withLock { $0.count } }

  func answerAll() {
    let waiting = replies.withLock { replies in
      defer { replies = [] }
      return replies
    }
    for reply in waiting { reply.send(1) }
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
