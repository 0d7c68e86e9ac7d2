internal import CDBus

/// What a loop does once nothing has happened on it for a while: once, until something has happened again. On the loop only.
struct QuietTime {
  private let milliseconds: Int32
  private let body: () -> Void
  private var isDone = false

  init(_ duration: Duration, _ body: @escaping () -> Void) {
    let (seconds, attoseconds) = duration.components
    milliseconds = Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    self.body = body
  }

  /// Makes a wait no longer than it may be. Returns whether the end of the wait, where nothing ends it before, is the end of the while.
  func shorten(_ timeout: inout Int32) -> Bool {
    if isDone || timeout == 0 || (timeout > 0 && timeout < milliseconds) { return false }
    timeout = milliseconds
    return true
  }

  mutating func somethingHappened() { isDone = false }

  /// It has not, for so long.
  mutating func end() {
    isDone = true
    body()
  }
}

extension EventLoop {
  /// From now on `body` is called whenever nothing has come in for `duration`. It wakes the loop once for each time that something has.
  package func whenQuiet(for duration: Duration, _ body: @escaping @Sendable () -> Void) {
    execute { self.quiet = QuietTime(duration, body) }
  }
}

/// What the C library does with memory that nobody uses.
package enum FreeMemory {
  /// From now on what was large goes back to the system as soon as it is freed. The C library would keep as much as twice the largest message that there
  /// ever was; and what another thread than the first one freed last it would never give back. Before any other thread begins.
  package static func keepLittle() {
    mallopt(M_ARENA_MAX, 1)
    mallopt(M_MMAP_THRESHOLD, 1 << 18)
    mallopt(M_TRIM_THRESHOLD, 1 << 18)
  }

  /// Gives back what lies between pieces that are in use.
  package static func giveBack() { malloc_trim(0) }
}
