/// A loop that was made for what lives on it, and ends with the last of these.
final class LoopLease: Sendable {
  let loop: EventLoop
  private let holders = Lock(0)

  init() throws(ConnectionError) { loop = try EventLoop() }

  func hold() { holders.withLock { $0 += 1 } }

  /// The loop ends behind whoever lets go last; it is not waited for.
  func letGo() {
    let isLast = holders.withLock { holders in
      holders -= 1
      return holders == 0
    }
    if isLast { loop.beginStopping() }
  }

  /// Waits for the end of the loop, where everyone has let go.
  func ended() async {
    if holders.withLock({ $0 <= 0 }) { await loop.stop() }
  }
}
