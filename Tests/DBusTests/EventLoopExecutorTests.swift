import DBus
import DBusTestSupport
import ExitTestSupport
import FoundationEssentials
import Testing

/// A loop is the executor of actors and tasks, which run on its thread in the order in which they came.
@Suite(.timeLimit(.minutes(5))) struct EventLoopExecutorTests {
  private struct Refusal: Error, Equatable { let reason: String }

  @Test(.ownThreads) func `whoever claims to be on the loop and is not traps`() async {
    await #expect(processExitsWith: .failure) {
      let loop = try EventLoop()
      EventLoopGuest(loop).addAssumingIsolation(1)
    }
    await #expect(processExitsWith: .failure) {
      let (loop, other) = (try EventLoop(), try EventLoop())
      let guest = EventLoopGuest(loop)
      await other.run { _ in guest.addAssumingIsolation(1) }
    }
  }

  @Test func `run comes back with the value, to where it came from`() async throws {
    let loop = try EventLoop()
    let guest = EventLoopGuest(loop)
    let value = await loop.run { _ in loop.isCurrent ? "on the loop" : "elsewhere" }
    #expect(value == "on the loop")
    #expect(!loop.isCurrent)
    let sum = await loop.run { _ in
      await guest.add(1)
      await Task.yield()
      await guest.add(2)
      return (await guest.numbers, loop.isCurrent)
    }
    #expect(sum.0 == [1, 2] && sum.1)
    await loop.stop()
  }

  @Test func `run comes back with the error, of its type`() async throws {
    let loop = try EventLoop()
    do throws(Refusal) {
      _ = try await loop.run { (_) async throws(Refusal) -> Int in throw Refusal(reason: "not today") }
      Issue.record("no error came")
    } catch {
      #expect(error == Refusal(reason: "not today"))
    }
    await loop.stop()
  }

  @Test func `run within run, on one loop and across two`() async throws {
    let (first, second) = (try EventLoop(), try EventLoop())
    let places = await first.run { _ in
      let outer = first.isCurrent
      let inner = await second.run { _ in second.isCurrent && !first.isCurrent }
      let same = await first.run { _ in first.isCurrent }
      return [outer, inner, same, first.isCurrent]
    }
    #expect(places == [true, true, true, true])
    await first.stop()
    await second.stop()
  }

  @Test func `a task that is cancelled sees it on the loop`() async throws {
    let loop = try EventLoop()
    let waiting = Task {
      await loop.run { _ in
        while !Task.isCancelled { await Task.yield() }
        return loop.isCurrent
      }
    }
    waiting.cancel()
    #expect(await waiting.value)
    await loop.stop()
  }

  @Test(arguments: [
    ("short", "short"), ("exactly-fifteen", "exactly-fifteen"), ("longer than fifteen bytes", "longer than fif"),
  ])
  func `the thread has the loop's name`(name: String, expected: String) async throws {
    let loop = try EventLoop(name: name)
    let found = try await loop.run { _ in try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8) }
    #expect(found == "\(expected)\n")
    await loop.stop()
  }

  // MARK: Order

  @Test func `calls from many threads run on the loop, each thread's in its order`() async throws {
    let loop = try EventLoop()
    try await loop.expectOrder(threads: 8, each: 2000)
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

extension EventLoop {
  /// Calls `body` on the loop many times from many threads, and expects that the calls of each thread keep their order.
  func expectOrder(threads: Int, each: Int, _ body: @escaping @Sendable () -> Void = {}) async throws {
    let seen = Lock([[Int]](repeating: [], count: threads))
    for thread in 0..<threads {
      try OwnThread.start {
        for number in 0..<each {
          self.execute {
            body()
            seen.withLock { $0[thread].append(self.isCurrent ? number : -1) }
          }
        }
      }
    }
    try await eventually("the calls of all threads") { seen.withLock { $0.allSatisfy { $0.count == each } } }
    #expect(seen.withLock { $0 } == [[Int]](repeating: Array(0..<each), count: threads))
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
