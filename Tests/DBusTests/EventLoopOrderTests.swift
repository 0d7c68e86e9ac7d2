import DBus
import DBusTestSupport
import Testing

/// Jobs that are handed to a loop run on its thread, in the order in which they came.
@Suite(.timeLimit(.minutes(5))) struct EventLoopOrderTests {
  @Test func `calls from many threads run on the loop, each thread's in its order`() async throws {
    let loop = try EventLoop()
    let (threads, each) = (8, 2000)
    let seen = Lock([[Int]](repeating: [], count: threads))
    for thread in 0..<threads {
      try OwnThread.start {
        for number in 0..<each {
          loop.execute { seen.withLock { $0[thread].append(loop.isCurrent ? number : -1) } }
        }
      }
    }
    try await eventually("the calls of all threads") { seen.withLock { $0.allSatisfy { $0.count == each } } }
    #expect(seen.withLock { $0 } == [[Int]](repeating: Array(0..<each), count: threads))
    await loop.stop()
  }

  @Test func `calls from the loop itself run later, in their order`() async throws {
    let loop = try EventLoop()
    let seen = Lock<[String]>([])
    @Sendable func say(_ word: String) { seen.withLock { $0.append(word) } }
    loop.execute {
      loop.execute {
        say("second")
        loop.execute { say("fourth") }
      }
      loop.execute { say("third") }
      say("first")
    }
    await loop.stop()
    #expect(seen.withLock { $0 } == ["first", "second", "third", "fourth"])
  }

  @Test func `calls and the jobs of tasks keep their order among each other`() async throws {
    let loop = try EventLoop()
    let guest = EventLoopGuest(loop)
    for round in 0..<100 {
      loop.execute { guest.assumeIsolated { $0.add(2 * round) } }
      await guest.add(2 * round + 1)
    }
    #expect(await guest.numbers == Array(0..<200))
    await loop.stop()
  }
}

/// An actor that lives on a loop.
actor EventLoopGuest {
  nonisolated let loop: EventLoop
  private(set) var numbers: [Int] = []

  init(_ loop: EventLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func add(_ number: Int) { numbers.append(loop.isCurrent ? number : -1) }

  nonisolated func addAssumingIsolation(_ number: Int) { assumeIsolated { $0.add(number) } }
}
