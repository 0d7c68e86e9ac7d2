import DBus
import DBusTestSupport
import ExitTestSupport
import Testing

/// How loops end, and what happens afterwards.
@Suite(.timeLimit(.minutes(5))) struct EventLoopLifetimeTests {
  @Test func `stop waits for what is queued, and for what that queues`() async throws {
    for _ in 0..<50 {
      let loop = try EventLoop()
      let count = Lock(0)
      for _ in 0..<20 {
        loop.execute { loop.execute { loop.execute { count.withLock { $0 += 1 } } } }
      }
      await loop.stop()
      #expect(count.withLock { $0 } == 20)
    }
  }

  @Test func `stopping twice, at once and after, comes back`() async throws {
    let loop = try EventLoop()
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await loop.stop() } }
    }
    await loop.stop()
  }

  @Test func `a loop can be stopped from itself`() async throws {
    let loop = try EventLoop()
    try await withLimit(usualLimit, "the loop to stop itself") { await loop.run { _ in await loop.stop() } }
    await loop.stop()
  }

  @Test func `a job on a loop that is being stopped runs once, there or afterwards`() async throws {
    let seen = Lock<[Int]>([])
    for round in 0..<200 {
      let loop = try EventLoop()
      async let stopped: Void = loop.stop()
      await withCheckedContinuation { continuation in
        loop.execute {
          seen.withLock { $0.append(round) }
          continuation.resume()
        }
      }
      await stopped
    }
    #expect(seen.withLock { $0 } == Array(0..<200))
  }

  // MARK: After the end

  @Test func `calls, actors and tasks of a stopped loop run, in order and one at a time`() async throws {
    let loop = try EventLoop()
    let guest = EventLoopGuest(loop)
    await guest.add(1)
    await loop.stop()
    await guest.add(2)
    #expect(await loop.run { _ in loop.isCurrent })
    let busy = Lock((now: 0, most: 0))
    try await loop.expectOrder(threads: 4, each: 500) {
      busy.withLock { busy in
        busy.now += 1
        busy.most = max(busy.most, busy.now)
      }
      guest.assumeIsolated { $0.add(0) }
      busy.withLock { $0.now -= 1 }
    }
    #expect(busy.withLock { $0.most } == 1)
    #expect(await guest.numbers.prefix(2) == [1, 2])
  }

  @Test func `an actor may outlive its loop's thread and go in its own time`() async throws {
    let gone = Lock(false)
    do {
      let loop = try EventLoop()
      let mortal = Mortal(loop) { gone.withLock { $0 = true } }
      await mortal.live()
      await loop.stop()
      await mortal.live()
    }
    try await eventually("the end of an actor on a stopped loop") { gone.withLock { $0 } }
  }

  private actor Mortal {
    private nonisolated let loop: EventLoop
    private let end: @Sendable () -> Void
    init(_ loop: EventLoop, end: @escaping @Sendable () -> Void) {
      self.loop = loop
      self.end = end
    }
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    func live() {}
    isolated deinit { end() }
  }

  // MARK: Leaks

  @Test(.ownThreads) func `1000 loops leave no descriptor and no thread`() async {
    await #expect(processExitsWith: .success) {
      try await FileDescriptorLeak.settle()
      let descriptors = OpenDescriptors.count
      for round in 0..<1000 {
        let loop = try EventLoop()
        if round % 3 == 0 { loop.execute {} }
        await loop.stop()
        if round % 5 == 0 { await loop.run { _ in } }
      }
      // A thread reports that it has stopped before it is gone.
      try await eventually("the threads and descriptors to go") {
        ContextSwitches.now().count <= 20 && OpenDescriptors.count <= descriptors + 20
      }
    }
  }
}
