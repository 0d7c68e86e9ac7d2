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
  /// From now on all threads share one heap, so that memory returns to the system whichever thread freed it last. Blocks of up to 32 MiB come from
  /// this heap: a block of its own gets new pages each time, and clearing them takes longer than reading a message of some megabytes. Free memory at
  /// the end of the heap returns when it is more than 64 MiB, and the rest with ``giveBack()``. Call this before any other thread starts.
  package static func useOneHeap() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_MMAP_THRESHOLD, 1 << 25)
    mallopt(M_TRIM_THRESHOLD, 1 << 26)
  }

  /// Returns free memory between used blocks to the system.
  package static func giveBack() { malloc_trim(0) }
}
