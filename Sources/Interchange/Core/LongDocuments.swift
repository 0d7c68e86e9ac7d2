import SceneModel

/// Handled deliveries whose documents are long. The documents stay until the delivery is due, because somebody may redirect it.
struct LongDocuments: Sendable, Settled {
  private struct Entry: Sendable {
    let place: Ordered
    let due: Due
    let bytes: Int
    let handled: DeliveryProgress
  }

  /// The time at which the documents go.
  private struct Due: Comparable {
    let time: Int64
    let place: Ordered

    static func < (one: Due, other: Due) -> Bool { (one.time, one.place) < (other.time, other.place) }
  }

  private var entries = Table<UniqueIdentifier, Entry>()
  private var byAge = Queues<Bool, Ordered>()
  private var byTime = Queues<Bool, Due>()
  @Undoable private var bytes = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func keep(_ delivery: OpenDelivery, _ handled: DeliveryProgress, bytes: Int, order: Int64) {
    let place = Ordered(order: order, identifier: delivery.identifier)
    let entry = Entry(place: place, due: Due(time: delivery.due, place: place), bytes: bytes, handled: handled)
    entries[delivery.identifier] = entry
    byAge.insert(place, for: true)
    byTime.insert(entry.due, for: true)
    self.bytes += bytes
  }

  /// The documents are gone, or the delivery is open again.
  mutating func forget(_ delivery: UniqueIdentifier) {
    guard let entry = entries[delivery] else { return }
    entries[delivery] = nil
    byAge.remove(entry.place, for: true)
    byTime.remove(entry.due, for: true)
    bytes -= entry.bytes
  }

  /// Forgets a delivery that is due, or the oldest if the bytes exceed `limit`, and returns it. The progress says how the delivery was handled; `nil` if
  /// its documents are no longer stored.
  mutating func nextToGo(at now: Int64, limit: Int) -> (delivery: UniqueIdentifier, stored: DeliveryProgress?)? {
    if let first = byTime.first(of: true), first.time <= now {
      forget(first.place.identifier)
      return (first.place.identifier, nil)
    }
    guard bytes > limit, let oldest = byAge.first(of: true)?.identifier, let entry = entries[oldest] else { return nil }
    forget(oldest)
    return (oldest, entry.handled)
  }

  var isSettled: Bool { entries.isSettled && byAge.isSettled && byTime.isSettled && _bytes.isSettled }

  mutating func settle(_ settlement: Settlement) {
    entries.settle(settlement)
    byAge.settle(settlement)
    byTime.settle(settlement)
    _bytes.settle(settlement)
  }
}

extension PromptBook {
  /// The host has taken a delivery. If the documents of such deliveries have too many bytes, the oldest go now.
  mutating func keepDocuments(of delivery: OpenDelivery, _ handled: DeliveryProgress) {
    guard let bytes = delivery.holding?.charge.amount, bytes > Allowance.shortDocuments else { return }
    memory.longDocuments.keep(delivery, handled, bytes: bytes, order: memory.nextOrder())
    while let next = memory.longDocuments.nextToGo(at: now.uptime, limit: ledger.allowance.handledDocuments) {
      guard var spent = next.stored else { continue }
      spent.deadline = now.time
      note(.deliveryProgress(next.delivery, spent))
    }
  }
}
