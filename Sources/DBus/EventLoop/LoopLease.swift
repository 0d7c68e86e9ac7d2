/// The loop of connections and listeners. If it was made for them, it ends with the last of them.
final class LoopLease: Sendable {
  let loop: EventLoop
  private let endsLoop: Bool
  private let holders = Lock(0)

  /// Without a loop it makes one.
  init(of loop: EventLoop?) throws(ConnectionError) {
    endsLoop = loop == nil
    if let loop { self.loop = loop } else { self.loop = try EventLoop() }
  }

  func hold() { holders.withLock { $0 += 1 } }

  /// Releases the loop. It ends after its last resident, without anyone waiting for the end.
  func letGo() {
    let isLast = holders.withLock { holders in
      holders -= 1
      return holders == 0
    }
    if isLast && endsLoop { loop.beginStopping() }
  }

  /// Waits for the end of the loop, if all residents have released it.
  func ended() async {
    if endsLoop && holders.withLock({ $0 <= 0 }) { await loop.stop() }
  }
}
