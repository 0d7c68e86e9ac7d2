import SceneModel

@testable import SessionStore

/// What is stored, to look at and to compare.
struct Shelf: Hashable {
  private(set) var sessions: [UniqueIdentifier: Session] = [:]
  private(set) var deliveries: [UniqueIdentifier: StoredDelivery] = [:]
  /// The deliveries, oldest first.
  let deliveryOrder: [UniqueIdentifier]
  let events: [StoredEvent]
  let preferences: [Text: Text]
  private(set) var owed: [Text: [UniqueIdentifier]] = [:]
  private(set) var baggage: [UniqueIdentifier: Baggage] = [:]

  init(_ store: SessionStore) throws(StoreError) {
    events = try store.events(after: 0, limit: .max)
    preferences = try store.preferences()
    deliveryOrder = (try store.deliveries(limit: .max) ?? []).reversed().map(\.identifier)
    for delivery in deliveryOrder { deliveries[delivery] = try store.delivery(delivery) }
    try store.forEachSession { sessions[$0.identifier] = $0 }
    for application in try store.owedCounts().keys { owed[application] = try store.owedDiscards(of: application) }
    for summary in try store.baggageSummaries() { baggage[summary.delivery] = try store.baggage(summary.delivery) }
  }
}
