import SceneModel

@testable import InterchangeCore

/// The store as a model in memory: the sum of the records of all turns.
struct Shelf: Hashable {
  private(set) var sessions: [UniqueIdentifier: Session] = [:]
  /// The sessions, oldest first.
  private(set) var sessionOrder: [UniqueIdentifier] = []
  private(set) var deliveries: [UniqueIdentifier: StoredDelivery] = [:]
  private(set) var deliveryOrder: [UniqueIdentifier] = []
  private(set) var events: [StoredEvent] = []
  private(set) var preferences: [Text: Text] = [:]
  private(set) var owed: [Text: [UniqueIdentifier]] = [:]
  private(set) var baggage: [UniqueIdentifier: Baggage] = [:]

  mutating func commit(_ records: [Record]) { for record in records { apply(record) } }

  private mutating func apply(_ record: Record) {
    switch record {
    case .session(let session):
      if sessions.updateValue(session, forKey: session.identifier) == nil { sessionOrder.append(session.identifier) }
    case .sessionActivated(let activation):
      if var session = sessions[activation.session] {
        activation.apply(to: &session)
        sessions[activation.session] = session
      }
    case .sessionDiscarded(let identifier):
      sessions[identifier] = nil
      sessionOrder.removeAll { $0 == identifier }
    case .delivery(let delivery):
      deliveries[delivery.identifier] = delivery
      deliveryOrder.append(delivery.identifier)
    case .deliveryProgress(let identifier, let progress): deliveries[identifier]?.advance(to: progress)
    case .deliveryRedirected(let identifier, let progress, let previous):
      deliveries[identifier]?.progress = progress
      deliveries[identifier]?.previous = previous
    case .event(let event): events.append(event)
    case .preference(let type, let application): preferences[type] = application
    case .discardOwed(let application, let session): owed[application, default: []].append(session)
    case .discardTold(let application, let session): owed[application]?.removeAll { $0 == session }
    case .baggage(let carried): baggage[carried.delivery] = carried
    case .baggageReleased(let delivery): baggage[delivery] = nil
    }
  }

  // MARK: Reading

  func sessions(of application: Text) -> [Session] {
    sessionOrder.compactMap { sessions[$0] }.filter { $0.application == application }
  }

  func deliveries(token: Text, sender: Text) -> [StoredDelivery] {
    deliveryOrder.compactMap { deliveries[$0] }.filter { $0.token == token && $0.sender == sender }
  }

  /// What a new service finds in the store.
  var remembered: Remembered {
    var remembered = Remembered()
    remembered.preferences = preferences
    for session in sessions.values {
      remembered.sessionCounts[session.application, default: 0] += 1
      remembered.sessionBytes[session.application, default: 0] += session.keptBytes
    }
    remembered.owed = owed.filter { !$0.value.isEmpty }
    remembered.open = deliveryOrder.compactMap { deliveries[$0] }.filter(\.progress.isOpen).map(\.summary)
    remembered.connected = sessionOrder.compactMap { sessions[$0] }.filter(\.isConnected)
    remembered.baggage = deliveryOrder.compactMap { identifier in
      guard let carried = baggage[identifier], let progress = deliveries[identifier]?.progress else { return nil }
      return BaggageSummary(
        delivery: identifier, session: progress.session, bytes: carried.keptBytes, isOpen: progress.isOpen)
    }
    remembered.lastEvent = events.last?.sequence ?? 0
    return remembered
  }

  // MARK: Accidents

  mutating func loseBaggage(of delivery: UniqueIdentifier) { baggage[delivery] = nil }

  /// Loses a delivery or session, as a damaged disk would.
  mutating func lose(_ identifier: UniqueIdentifier) {
    sessions[identifier] = nil
    sessionOrder.removeAll { $0 == identifier }
    deliveries[identifier] = nil
  }
}
