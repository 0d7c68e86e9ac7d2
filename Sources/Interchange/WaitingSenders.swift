import DBus
import InterchangeWire
import SceneModel

/// Senders who are answered when a host has taken what they sent.
struct WaitingSenders {
  /// Several wait for one delivery where they sent it under one token.
  private var finishes: [UniqueIdentifier: [(sender: BusName?, finish: Finish)]] = [:]
  private var counts: [BusName?: Int] = [:]

  func count(of sender: BusName?) -> Int { counts[sender] ?? 0 }

  mutating func add(_ sender: BusName?, until delivery: UniqueIdentifier, _ finish: @escaping Finish) {
    finishes[delivery, default: []].append((sender, finish))
    counts[sender, default: 0] += 1
  }

  /// How to answer whoever waits for a delivery, who waits no more.
  mutating func removeValue(forKey delivery: UniqueIdentifier) -> Finish? {
    guard let entries = finishes.removeValue(forKey: delivery) else { return nil }
    for (sender, _) in entries {
      counts[sender, default: 1] -= 1
      if counts[sender] == 0 { counts[sender] = nil }
    }
    return { result in for (_, finish) in entries { finish(result) } }
  }

  /// The service ends before they can be answered. What they sent is stored, and goes on when it is back.
  mutating func leaveAll() {
    for (delivery, entries) in finishes {
      let left = InterchangeError(
        .noReply,
        "the service ended while the delivery \(delivery) waited; it goes on, and GetDelivery tells the end")
      for (_, finish) in entries { finish(.failure(left)) }
    }
    finishes = [:]
    counts = [:]
  }
}
