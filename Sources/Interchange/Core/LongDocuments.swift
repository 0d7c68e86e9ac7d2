import SceneModel

/// Handled deliveries whose documents are long. The documents stay until the delivery is due, because somebody may redirect it.
struct LongDocuments: Sendable, Settled {
  private struct Entry: Sendable {
    let order: Int64
    let bytes: Int
    let handled: DeliveryProgress
    let due: Int64
  }

  private var entries = Table<UniqueIdentifier, Entry>()
  private var byAge = Queues<Bool, Ordered>()
  @Undoable private var bytes = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func keep(_ delivery: OpenDelivery, _ handled: DeliveryProgress, bytes: Int, order: Int64) {
    entries[delivery.identifier] = Entry(order: order, bytes: bytes, handled: handled, due: delivery.due)
    byAge.insert(Ordered(order: order, identifier: delivery.identifier), for: true)
    self.bytes += bytes
  }

  /// The documents are gone, or the delivery is open again.
  mutating func forget(_ delivery: UniqueIdentifier) {
    guard let entry = entries[delivery] else { return }
    entries[delivery] = nil
    byAge.remove(Ordered(order: entry.order, identifier: delivery), for: true)
    bytes -= entry.bytes
  }

  /// Forgets the oldest delivery, if it is due or the bytes exceed `limit`, and returns it. The progress says how the delivery was handled; `nil` if its
  /// documents are no longer stored.
  mutating func nextToGo(at now: Int64, limit: Int) -> (delivery: UniqueIdentifier, stored: DeliveryProgress?)? {
    guard let oldest = byAge.first(of: true)?.identifier, let entry = entries[oldest] else { return nil }
    let isDue = entry.due <= now
    guard isDue || bytes > limit else { return nil }
    forget(oldest)
    return (oldest, isDue ? nil : entry.handled)
  }

  var isSettled: Bool { entries.isSettled && byAge.isSettled && _bytes.isSettled }

  mutating func settle(_ settlement: Settlement) {
    entries.settle(settlement)
    byAge.settle(settlement)
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
