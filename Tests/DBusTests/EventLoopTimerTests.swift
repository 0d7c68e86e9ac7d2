import DBusTestSupport
import Testing

@testable import DBus

/// Timers and descriptors, as the connections on a loop use them, and what a loop does when nothing happens.
@Suite(.timeLimit(.minutes(5))) struct EventLoopTimerTests {
  @Test func `a job that begets jobs starves nobody`() async throws {
    let loop = try EventLoop()
    let pipe = try OwnedFileDescriptor.pipe()
    let readEnd = pipe.readEnd.withRawValue { $0 }
    let waitedFor = Lock<Set<String>>(["timer", "descriptor", "end of the turn", "another thread", "a task"])
    @Sendable func arrived(_ what: String) { _ = waitedFor.withLock { $0.remove(what) } }
    loop.execute {
      _ = loop.timers.schedule(at: TimerQueue.now + 1_000_000) { arrived("timer") }
      loop.descriptors.add(readEnd, events: .readable) { _ in
        arrived("descriptor")
        loop.descriptors.remove(readEnd)
      }
      loop.atEndOfTurn { arrived("end of the turn") }
      pipe.writeEnd.close()
    }
    @Sendable func beget() { if !waitedFor.withLock({ $0.isEmpty }) { loop.execute(beget) } }
    loop.execute(beget)
    try OwnThread.start { loop.execute { arrived("another thread") } }
    Task { await loop.run { _ in arrived("a task") } }
    try await eventually("whoever might be starved") { waitedFor.withLock { $0.isEmpty } }
    await loop.stop()
  }

  @Test func `what a timer held is let go on the loop as it stops, and may still queue`() async throws {
    final class Holder: Sendable {
      let loop: EventLoop
      let gone: @Sendable (Bool) -> Void
      init(_ loop: EventLoop, gone: @escaping @Sendable (Bool) -> Void) {
        self.loop = loop
        self.gone = gone
      }
      deinit {
        let (loop, gone) = (loop, gone)
        loop.execute { gone(loop.isCurrent) }
      }
    }
    let place = try await withLimit(usualLimit, "what was queued as the loop stopped") {
      let loop = try EventLoop()
      return await withCheckedContinuation { continuation in
        loop.execute {
          let holder = Holder(loop) { continuation.resume(returning: $0) }
          _ = loop.timers.schedule(at: .max) { withExtendedLifetime(holder) {} }
        }
        Task { await loop.stop() }
      }
    }
    #expect(place)
  }

  @Test func `what the end of a turn queues runs before the messages of the turn leave`() async throws {
    let loop = try EventLoop()
    let order = Lock<[String]>([])
    final class Sender: LoopResident {
      let order: Lock<[String]>
      init(_ order: Lock<[String]>) { self.order = order }
      func drain() -> Bool { false }
      func depart() { order.withLock { $0.append("leaves") } }
      func evict() {}
    }
    loop.execute {
      loop.atEndOfTurn {
        loop.setDeparting(Sender(order))
        loop.execute { order.withLock { $0.append("queued") } }
      }
    }
    try await eventually("both") { order.withLock { $0.count } == 2 }
    #expect(order.withLock { $0 } == ["queued", "leaves"])
    await loop.stop()
  }

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
