import SceneModel
import SessionStore
import Testing

/// The expected content of a store, in plain dictionaries.
struct StoreModel: Equatable {
  var sessions: [UniqueIdentifier: Session] = [:]
  /// The deliveries, oldest first.
  var deliveries: [StoredDelivery] = []
  var events: [StoredEvent] = []
  var preferences: [Text: Text] = [:]
  /// The discarded sessions, in the order in which they were discarded.
  var owed: [Owed] = []
  /// The baggage, in the order in which it was stored.
  var baggage: [Baggage] = []
  /// Deliveries that were spent at some time: their documents may be gone, whatever happened since.
  var spent: Set<UniqueIdentifier> = []

  struct Owed: Hashable {
    let application: Text
    let session: UniqueIdentifier
  }

  mutating func apply(_ record: Record) {
    switch record {
    case .session(let session): sessions[session.identifier] = session
    case .sessionActivated(let activation):
      guard var session = sessions[activation.session] else { return }
      session.lastActivated = activation.instant
      if let activity = activation.userActivity { session.userActivity = activity }
      if let content = activation.openedContent { session.openedContent = content }
      if let title = activation.title { session.title = title }
      if let isPrivate = activation.isPrivate { session.isPrivate = isPrivate }
      if let delivery = activation.shownBy { session.shownBy = delivery }
      sessions[session.identifier] = session
    case .sessionDiscarded(let identifier): sessions[identifier] = nil
    case .delivery(let delivery):
      deliveries.removeAll { $0.identifier == delivery.identifier }
      deliveries.append(delivery)
    case .deliveryProgress(let identifier, let progress):
      if let index = deliveries.firstIndex(where: { $0.identifier == identifier }) {
        deliveries[index].deadline = progress.deadline ?? deliveries[index].deadline
        deliveries[index].progress = progress
        deliveries[index].progress.deadline = nil
      }
    case .deliveryRedirected(let identifier, let progress, let previous):
      if let index = deliveries.firstIndex(where: { $0.identifier == identifier }) {
        deliveries[index].progress = progress
        deliveries[index].previous = previous
      }
    case .event(let event): events.append(event)
    case .preference(let type, let application): preferences[type] = application
    case .discardOwed(let application, let session):
      owed.removeAll { $0 == Owed(application: application, session: session) }
      owed.append(Owed(application: application, session: session))
    case .discardTold(let application, let session):
      owed.removeAll { $0 == Owed(application: application, session: session) }
    case .baggage(let baggage):
      self.baggage.removeAll { $0.delivery == baggage.delivery }
      self.baggage.append(baggage)
    case .baggageReleased(let delivery): baggage.removeAll { $0.delivery == delivery }
    }
  }

  /// - Parameter now: The time; by default no deadline has passed.
  mutating func apply(_ records: [Record], at now: Instant = noon) {
    for record in records {
      apply(record)
      for delivery in deliveries where delivery.isSpent(at: now) { spent.insert(delivery.identifier) }
    }
  }

  /// The model as if an earlier version had stored all of it: since the third version the fingerprints are digests.
  func stored(by version: Int) -> StoreModel {
    var model = self
    if version >= 3 { return model }
    for index in deliveries.indices where !deliveries[index].fingerprint.isEmpty {
      model.deliveries[index].fingerprint = Digest(of: deliveries[index].fingerprint).hex
    }
    return model
  }

  var sessionsByAge: [Session] { sessions.values.sorted { ($0.created, $0.identifier) < ($1.created, $1.identifier) } }
}

/// Compares everything that a store answers with the model.
func expectSame(
  _ store: SessionStore, _ model: StoreModel, _ comment: Comment? = nil, _ place: SourceLocation = #_sourceLocation
) throws {
  var sessions: [Session] = []
  try store.forEachSession { sessions.append($0) }
  #expect(sessions == model.sessionsByAge, comment, sourceLocation: place)
  #expect(try store.sessionCounts().values.reduce(0, +) == model.sessions.count, comment, sourceLocation: place)
  let counts = model.sessions.values.reduce(into: [:]) { $0[$1.application, default: 0] += 1 }
  #expect(try store.sessionCounts() == counts, comment, sourceLocation: place)
  let bytes = model.sessions.values.reduce(into: [:]) { $0[$1.application, default: 0] += $1.keptBytes }
  #expect(try store.sessionBytes() == bytes.filter { $0.value > 0 }, comment, sourceLocation: place)
  let applications = Set(model.sessions.values.map(\.application))
  for application in applications {
    let some = try store.sessions(of: application, limit: .max)?.sessions
    #expect(some == model.sessionsByAge.filter { $0.application == application }, comment, sourceLocation: place)
  }
  for session in sessions { #expect(try store.session(session.identifier) == session, comment, sourceLocation: place) }
  for application in applications {
    for key in Set(sessions.map(\.shownKey) + sessions.flatMap(\.conditionKeys) + ["nobody's"]) where !key.isEmpty {
      try expectConcerned(store, sessions.filter { $0.application == application }, application, key, comment, place)
    }
  }

  let summaries = model.deliveries.map(\.summary)
  #expect(try store.deliveries(limit: .max) == summaries.reversed(), comment, sourceLocation: place)
  #expect(try store.openDeliveries() == summaries.filter(\.progress.isOpen), comment, sourceLocation: place)
  let connected = try store.connectedSessions().reduce(into: [:]) { $0[$1.session] = $1.application }
  let expected = sessions.filter(\.isConnected).reduce(into: [:]) { $0[$1.identifier] = $1.application }
  #expect(connected == expected, comment, sourceLocation: place)
  for state in DeliveryState.allCases {
    let some = summaries.reversed().filter { $0.progress.state == state }
    #expect(try store.deliveries(in: state, limit: .max) == some, comment, sourceLocation: place)
  }
  for delivery in model.deliveries {
    let found = try store.delivery(delivery.identifier)
    var (emptied, bare) = (delivery, delivery)
    (emptied.payload, bare.payload) = (.empty, .empty)
    bare.previous.forgetDocuments()
    // The store does not know whether a deadline has passed until somebody tells it the time.
    let isOver = delivery.isSpent(at: Instant(microseconds: .min))
    let isSame =
      !isOver && found == delivery || model.spent.contains(delivery.identifier) && [emptied, bare].contains(found)
    #expect(isSame, comment, sourceLocation: place)
    guard let token = delivery.token else { continue }
    let same = model.deliveries.filter { $0.token == token && $0.sender == delivery.sender }.map(\.identifier)
    #expect(try store.deliveries(token: token, sender: delivery.sender) == same, comment, sourceLocation: place)
  }

  #expect(try store.events(after: 0, limit: .max) == model.events, comment, sourceLocation: place)
  #expect(store.lastEventSequence == model.events.last?.sequence ?? 0, comment, sourceLocation: place)
  #expect(try store.preferences() == model.preferences, comment, sourceLocation: place)
  let owed = model.owed.reduce(into: [:]) { $0[$1.application, default: 0] += 1 }
  #expect(try store.owedCounts() == owed, comment, sourceLocation: place)
  for application in Set(model.owed.map(\.application)) {
    let owed = model.owed.filter { $0.application == application }.map(\.session)
    #expect(try store.owedDiscards(of: application) == owed, comment, sourceLocation: place)
  }
  let carried = model.baggage.map { baggage in
    let progress = model.deliveries.first { $0.identifier == baggage.delivery }?.progress
    return BaggageSummary(
      delivery: baggage.delivery, session: progress?.session, bytes: baggage.keptBytes,
      isOpen: progress?.isOpen ?? false)
  }
  #expect(try store.baggageSummaries() == carried, comment, sourceLocation: place)
  for baggage in model.baggage {
    #expect(try store.baggage(baggage.delivery) == baggage, comment, sourceLocation: place)
  }
  for delivery in model.deliveries where !model.baggage.contains(where: { $0.delivery == delivery.identifier }) {
    #expect(try store.baggage(delivery.identifier) == nil, comment, sourceLocation: place)
  }
  #expect(store.problems == [], comment, sourceLocation: place)
}

/// The store finds the sessions that a key may concern, each once and unchanged.
private func expectConcerned(
  _ store: SessionStore, _ sessions: [Session], _ application: Text, _ key: Text, _ comment: Comment?,
  _ place: SourceLocation
) throws {
  let found = try #require(try store.sessions(of: application, concernedWith: key, limit: .max))
  let concerned = sessions.filter { session in
    session.shownKey == key || session.conditionKeys.contains { $0.isEmpty || $0 == key }
  }
  #expect(Set(found).isSuperset(of: concerned), "\(application) \(key) \(comment ?? "")", sourceLocation: place)
  #expect(Set(sessions).isSuperset(of: found), "\(application) \(key) \(comment ?? "")", sourceLocation: place)
  #expect(Set(found).count == found.count, comment, sourceLocation: place)
}
