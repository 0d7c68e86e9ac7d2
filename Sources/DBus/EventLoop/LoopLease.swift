/// A loop that was made for its residents, and ends with the last of them.
final class LoopLease: Sendable {
  let loop: EventLoop
  private let holders = Lock(0)

  init() throws(ConnectionError) { loop = try EventLoop() }

  func hold() { holders.withLock { $0 += 1 } }

  /// Releases the loop. It ends after its last resident, without anyone waiting for the end.
  func letGo() {
    let isLast = holders.withLock { holders in
      holders -= 1
      return holders == 0
    }
    if isLast { loop.beginStopping() }
  }

  /// Waits for the end of the loop, if all residents have released it.
  func ended() async {
    if holders.withLock({ $0 <= 0 }) { await loop.stop() }
  }
}
