import DBusTestSupport
import Glibc
import Testing

@testable import DBus

/// Tasks that start on a loop, the timers and descriptors that they and connections wait for, and what a loop does when nothing happens.
@Suite(.timeLimit(.minutes(5))) struct EventLoopTaskTests {
  @Test func `a task goes on where it began, whatever it waited for`() async throws {
    let loop = try EventLoop()
    let pipe = try OwnedFileDescriptor.pipe()
    let readEnd = pipe.readEnd.withRawValue { $0 }
    let places = loop.task {
      var places = [loop.isCurrent]
      await loop.sleep(for: .milliseconds(1))
      places.append(loop.isCurrent)
      await loop.readable(readEnd)
      places.append(loop.isCurrent)
      await loop.task {}.value
      places.append(loop.isCurrent)
      return places
    }
    _ = pipe.writeEnd.withRawValue { write($0, "!", 1) }
    let found = try await withLimit(usualLimit, "the task") { await places.value }
    #expect(found == [true, true, true, true])
    pipe.readEnd.close()
    await loop.stop()
  }

  @Test func `a task is isolated as one of Task's would be`() async throws {
    actor Resident {
      nonisolated let loop: EventLoop
      nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
      private var steps = 0

      init(on loop: EventLoop) { self.loop = loop }

      func go() async -> Int {
        await loop.task {
          steps += 1
          await loop.sleep(for: .milliseconds(1))
          steps += 1
        }.value
        return steps
      }
    }
    let loop = try EventLoop()
    let resident = Resident(on: loop)
    #expect(try await withLimit(usualLimit, "its steps") { await resident.go() } == 2)
    await loop.stop()
  }

  @Test func `whoever sleeps no longer than its task and its loop`() async throws {
    let loop = try EventLoop()
    let cancelled = loop.task { await loop.sleep(for: .seconds(3_600)) }
    try await eventually("it sleeps") { await loop.run { _ in loop.timers.millisecondsToNext() > 0 } }
    cancelled.cancel()
    try await withLimit(usualLimit, "the end of the one that was cancelled") { await cancelled.value }

    let cancelledBefore = loop.task {
      await Task.yield()
      await loop.sleep(for: .seconds(3_600))
    }
    cancelledBefore.cancel()
    try await withLimit(usualLimit, "the end of the one that was cancelled first") { await cancelledBefore.value }

    let left = loop.task { await loop.sleep(for: .seconds(3_600)) }
    await loop.stop()
    try await withLimit(usualLimit, "the end of the one whose loop stopped") { await left.value }
  }

  @Test func `code that runs on a loop comes back to it after each call`() async throws {
    try await withPeers { _, client in
      let loop = client.loop
      let stays = try await loop.run { _ in
        var stays = loop.isCurrent
        for _ in 0..<10 {
          try await client.call(to: nil, at: "/", "org.freedesktop.DBus.Peer", "Ping")
          stays = stays && loop.isCurrent
        }
        return stays
      }
      #expect(stays)
    }
  }

  // MARK: Timers, descriptors and quiet

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
