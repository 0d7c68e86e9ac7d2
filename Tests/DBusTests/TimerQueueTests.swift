import SceneTestSupport
import Testing

@testable import DBus

/// The heap against a list that is sorted each time.
@Suite struct TimerQueueTests {
  private struct Naive {
    var timers: [(deadline: Instant, number: Int)] = []

    mutating func due(at now: Instant) -> [Int] {
      let due = timers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      timers.removeAll { $0.deadline <= now }
      return due.map(\.number)
    }
  }

  /// Deadlines lie in the past or far away, so that the clock has no say; no two are the same.
  @Test func `it fires what a sorted list would, in that order`() {
    var random = SeededRandom(seed: 41)
    for _ in 0..<200 {
      let queue = TimerQueue()
      var naive = Naive()
      var tokens: [(number: Int, token: TimerQueue.Token)] = []
      var fired: [Int] = []
      var deadlines = Set<Instant>()
      for number in 0..<random.below(300) {
        let isDue = random.once(in: 3)
        let deadline =
          isDue ? Instant(1 + random.below(1 << 20)) : .max - Instant(random.below(1 << 20))
        guard deadlines.insert(deadline).inserted else { continue }
        tokens.append((number, queue.schedule(at: deadline) { fired.append(number) }))
        naive.timers.append((deadline, number))
        while random.once(in: 2) {
          // It may have fired, or been cancelled before.
          let victim = random.one(of: tokens)
          queue.cancel(victim.token)
          naive.timers.removeAll { $0.number == victim.number }
        }
        if random.once(in: 10) {
          fired = []
          queue.fire()
          #expect(fired == naive.due(at: 1 << 30))
        }
        let timeout = queue.millisecondsToNext()
        let next = naive.timers.map(\.deadline).min()
        #expect(timeout == (next == nil ? -1 : next.map { $0 < 1 << 30 } == true ? 0 : .max))
      }
      fired = []
      queue.fire()
      #expect(fired == naive.due(at: 1 << 30))
      fired = []
      for victim in tokens { queue.cancel(victim.token) }
      queue.fire()
      #expect(fired == [] && queue.millisecondsToNext() == -1)
    }
  }

  @Test func `timers may schedule and cancel as they fire`() {
    let queue = TimerQueue()
    var fired: [String] = []
    var victim: TimerQueue.Token?
    _ = queue.schedule(at: 10) {
      fired.append("first")
      _ = queue.schedule(at: 15) { fired.append("made by the first") }
      _ = queue.schedule(at: .max) { fired.append("never") }
      if let victim { queue.cancel(victim) }
    }
    victim = queue.schedule(at: 20) { fired.append("cancelled by the first") }
    _ = queue.schedule(at: 30) { fired.append("last") }
    queue.fire()
    #expect(fired == ["first", "made by the first", "last"])
  }

  @Test func `what is removed is let go`() {
    final class Held {}
    let queue = TimerQueue()
    weak var cancelled: Held?
    weak var removed: Held?
    weak var fired: Held?
    do {
      let (one, two, three) = (Held(), Held(), Held())
      (cancelled, removed, fired) = (one, two, three)
      let token = queue.schedule(at: .max) { withExtendedLifetime(one) {} }
      _ = queue.schedule(at: 1) { withExtendedLifetime(three) {} }
      queue.cancel(token)
      queue.fire()
      _ = queue.schedule(at: .max) { withExtendedLifetime(two) {} }
    }
    #expect(cancelled == nil)
    #expect(fired == nil)
    #expect(removed != nil)
    queue.removeAll()
    #expect(removed == nil)
    #expect(queue.millisecondsToNext() == -1)
  }

  @Test func `the wait is rounded up, so that a deadline has passed when it ends`() {
    let queue = TimerQueue()
    _ = queue.schedule(at: TimerQueue.now + 3_600_000_000_000) {}
    let wait = queue.millisecondsToNext()
    #expect(wait > 3_590_000 && wait <= 3_600_000)
    _ = queue.schedule(at: TimerQueue.now + 500_000_000_000) {}
    #expect(queue.millisecondsToNext() > 490_000)
  }

  @Test func `a duration is a deadline from now on, and for ever is one too`() {
    let before = TimerQueue.now
    let second = Duration.seconds(1).deadline
    #expect(second >= before + 1_000_000_000 && second <= TimerQueue.now + 1_000_000_000)
    #expect(Duration.seconds(-5).deadline <= TimerQueue.now)
    #expect(Duration.nanoseconds(-1).deadline <= TimerQueue.now)
    #expect(Duration.milliseconds(1500).deadline >= before + 1_500_000_000)
    #expect(Duration.seconds(Int64.max).deadline > TimerQueue.now + 3_000_000_000 * 1_000_000_000)
  }
}
