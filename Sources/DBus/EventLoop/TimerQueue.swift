internal import Glibc

/// A time on the clock that stops while the machine sleeps, in nanoseconds.
typealias Instant = UInt64

/// The future actions of a loop. On the loop only.
///
/// A heap by deadline. Cancelling only removes the action; its entry is removed when it reaches the top, so a loop never wakes for a cancelled action.
final class TimerQueue {
  struct Token: Hashable {
    fileprivate let place: Int
    fileprivate let number: UInt64
  }

  /// By deadline; entries with the same deadline in the order in which they were scheduled.
  private struct Entry {
    let deadline: Instant
    let token: Token

    static func < (one: Entry, other: Entry) -> Bool {
      one.deadline != other.deadline ? one.deadline < other.deadline : one.token.number < other.token.number
    }
  }

  /// An action and its number; 0 if it is free.
  private struct Slot {
    var number: UInt64
    var action: (() -> Void)?
  }

  // As in the loop: one thread, and no access that spans a call to other code.
  @exclusivity(unchecked) private var heap: [Entry] = []
  @exclusivity(unchecked) private var slots: [Slot] = []
  @exclusivity(unchecked) private var free: [Int] = []
  private var lastNumber: UInt64 = 0

  static var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(time.tv_sec) * 1_000_000_000 + Instant(time.tv_nsec)
  }

  func schedule(at deadline: Instant, _ action: @escaping () -> Void) -> Token {
    lastNumber += 1
    let slot = Slot(number: lastNumber, action: action)
    let place = free.popLast() ?? slots.count
    if place < slots.count { slots[place] = slot } else { slots.append(slot) }
    let token = Token(place: place, number: lastNumber)
    heap.append(Entry(deadline: deadline, token: token))
    siftUp()
    return token
  }

  func cancel(_ token: Token) {
    _ = take(token)
    // Calls are answered long before their deadlines: without this, the heap would hold the calls of the last half minute.
    if heap.count > 64 && slots.count - free.count < heap.count / 2 { compact() }
  }

  private func isWaiting(_ token: Token) -> Bool { slots[token.place].number == token.number }

  private func take(_ token: Token) -> (() -> Void)? {
    guard token.place < slots.count, isWaiting(token) else { return nil }
    let action = slots[token.place].action
    slots[token.place] = Slot(number: 0, action: nil)
    free.append(token.place)
    return action
  }

  private func compact() {
    // A sorted array is a heap too.
    heap = heap.filter { isWaiting($0.token) }.sorted { $0 < $1 }
  }

  func removeAll() { (heap, slots, free) = ([], [], []) }

  /// For epoll: rounded up, so that a deadline has really passed; -1 if there is none.
  func millisecondsToNext() -> Int32 {
    removeCancelled()
    guard let next = heap.first?.deadline else { return -1 }
    let now = Self.now
    if next <= now { return 0 }
    return Int32(clamping: (next - now + 999_999) / 1_000_000)
  }

  func fire() {
    if heap.isEmpty { return }
    let now = Self.now
    removeCancelled()
    while let first = heap.first, first.deadline <= now {
      removeFirst()
      take(first.token)?()
      removeCancelled()
    }
  }

  private func removeCancelled() {
    while let first = heap.first, !isWaiting(first.token) { removeFirst() }
  }

  private func siftUp() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if !(heap[child] < heap[parent]) { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      let left = 2 * parent + 1
      if left >= heap.count { return }
      let right = left + 1
      let child = right < heap.count && heap[right] < heap[left] ? right : left
      if !(heap[child] < heap[parent]) { return }
      heap.swapAt(parent, child)
      parent = child
    }
  }
}

extension Duration {
  /// The deadline this much later than now.
  var deadline: Instant {
    let (seconds, attoseconds) = components
    if seconds < 0 || attoseconds < 0 { return TimerQueue.now }
    let nanoseconds = UInt64(attoseconds / 1_000_000_000)
    // A century stands for ever, and can be added without overflow.
    return TimerQueue.now + min(UInt64(seconds), 3_155_760_000) * 1_000_000_000 + nanoseconds
  }
}
