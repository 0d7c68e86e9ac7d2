internal import CDBus

/// An action of a loop for the time when nothing has happened on it for a while. It runs once, and again only after something has happened. On the
/// loop only.
struct QuietTime {
  private let milliseconds: Int32
  private let body: () -> Void
  private var isDone = false

  init(_ duration: Duration, _ body: @escaping () -> Void) {
    let (seconds, attoseconds) = duration.components
    milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    self.body = body
  }

  /// Shortens a wait to its limit. Returns whether the quiet time is over if nothing ends the wait earlier.
  func shorten(_ timeout: inout Int32) -> Bool {
    if isDone || timeout == 0 || (timeout > 0 && timeout < milliseconds) { return false }
    timeout = milliseconds
    return true
  }

  mutating func somethingHappened() { isDone = false }

  /// Nothing has happened for the whole time.
  mutating func end() {
    isDone = true
    body()
  }
}

extension EventLoop {
  /// From now on calls `body` whenever nothing has come in for `duration`. This wakes the loop once after each activity.
  package func whenQuiet(for duration: Duration, _ body: @escaping @Sendable () -> Void) {
    execute { self.quiet = QuietTime(duration, body) }
  }
}

/// How the C library treats freed memory.
package enum FreeMemory {
  /// From now on large blocks return to the system as soon as they are freed, and others when there are many. Otherwise the C library would keep as
  /// much as twice the largest message so far, and would never return memory that another thread than the first freed last. With smaller limits, each
  /// message of some hundred kilobytes would get new pages, which takes longer than reading it. Call this before any other thread starts.
  package static func keepLittle() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_MMAP_THRESHOLD, 1 << 25)
    mallopt(M_TRIM_THRESHOLD, 1 << 26)
  }

  /// Returns free memory between used blocks to the system.
  package static func giveBack() { malloc_trim(0) }
}
