import DBus
import InterchangeWire
import SceneModel

/// Senders who are answered when a host has taken what they sent.
struct WaitingSenders {
  private var finishes: [UniqueIdentifier: (sender: BusName?, finish: Finish)] = [:]
  private var counts: [BusName?: Int] = [:]

  func count(of sender: BusName?) -> Int { counts[sender] ?? 0 }

  mutating func add(_ sender: BusName?, until delivery: UniqueIdentifier, _ finish: @escaping Finish) {
    finishes[delivery] = (sender, finish)
    counts[sender, default: 0] += 1
  }

  /// How to answer whoever waits for a delivery, who waits no more.
  mutating func removeValue(forKey delivery: UniqueIdentifier) -> Finish? {
    guard let (sender, finish) = finishes.removeValue(forKey: delivery) else { return nil }
    counts[sender, default: 1] -= 1
    if counts[sender] == 0 { counts[sender] = nil }
    return finish
  }

  /// The service ends before they can be answered. What they sent is stored, and goes on when it is back.
  mutating func leaveAll() {
    for (delivery, entry) in finishes {
      entry.finish(
        .failure(
          InterchangeError(
            .noReply,
            "the service ended while the delivery \(delivery) waited; it goes on, and GetDelivery tells the end")))
    }
    finishes = [:]
    counts = [:]
  }
}
