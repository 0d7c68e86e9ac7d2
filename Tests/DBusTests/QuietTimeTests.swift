import DBusTestSupport
import Testing

@testable import DBus

/// What a loop does when nothing happens.
@Suite(.timeLimit(.minutes(5))) struct QuietTimeTests {
  @Test func `it is quiet once after each time that something happened`() async throws {
    let loop = try EventLoop()
    let count = Lock(0)
    loop.whenQuiet(for: .milliseconds(20)) { count.withLock { $0 += 1 } }
    for times in 1...3 {
      try await eventually("quiet") { count.withLock { $0 } == times }
      loop.execute {}
    }
    await loop.stop()
  }
}
