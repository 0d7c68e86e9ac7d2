import DBus
import DBusTestSupport
import Glibc
import Testing

/// Jobs that are handed to a loop run on its thread, in the order in which they came.
@Suite(.timeLimit(.minutes(5))) struct EventLoopOrderTests {
  @Test func `calls from many threads run on the loop, each thread's in its order`() async throws {
    let loop = try EventLoop()
    let (threads, each) = (8, 2000)
    let seen = Lock([[Int]](repeating: [], count: threads))
    try await withLimit(usualLimit, "the calls of all threads") {
      await withCheckedContinuation { continuation in
        for thread in 0..<threads {
          EventLoopThread.start {
            for number in 0..<each {
              loop.execute {
                let isLast = seen.withLock { seen in
                  seen[thread].append(loop.isCurrent ? number : -1)
                  return seen.allSatisfy { $0.count == each }
                }
                if isLast { continuation.resume() }
              }
            }
          }
        }
      }
    }
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

  @Test func `a job that begets jobs starves nobody`() async throws {
    let loop = try EventLoop()
    let waitedFor = Lock<Set<String>>(["another thread", "a task"])
    let rounds = Lock(0)
    try await withLimit(usualLimit, "whoever might be starved") {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        @Sendable func beget() {
          if waitedFor.withLock({ $0.isEmpty }) { return continuation.resume() }
          rounds.withLock { $0 += 1 }
          loop.execute(beget)
        }
        loop.execute(beget)
        EventLoopThread.start { loop.execute { _ = waitedFor.withLock { $0.remove("another thread") } } }
        Task { await loop.run { _ in _ = waitedFor.withLock { $0.remove("a task") } } }
      }
    }
    #expect(rounds.withLock { $0 } > 0)
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

  /// Does not use pthread_self: the optimiser takes it for the same value everywhere in a function, even across an `await`.
  func isAtHome() -> Bool { loop.isCurrent }
}

/// A thread that belongs neither to a loop nor to Swift's pool.
enum EventLoopThread {
  private final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    let code = pthread_create(
      &thread, nil,
      { pointer in
        pointer.map { Unmanaged<Box>.fromOpaque($0).takeRetainedValue().body() }
        return nil
      }, box)
    precondition(code == 0, "no thread: \(code)")
    pthread_detach(thread)
  }
}
