import SceneModel

/// What the log has and the rows have not yet. Reads look here first, so they are never behind.
///
/// Nothing in it needed a row to be read, so that taking a record in costs the same however many rows there are.
struct Tail {
  enum SessionChange {
    case whole(Session)
    /// The row, with this done to it; where there is no row, nothing.
    case activated(SessionActivation)
    case gone

    mutating func add(_ activation: SessionActivation) {
      // What is changed is taken out meanwhile, so that it is not copied.
      switch self {
      case .whole(var session):
        self = .gone
        activation.apply(to: &session)
        self = .whole(session)
      case .activated(var earlier):
        self = .gone
        earlier.add(activation)
        self = .activated(earlier)
      case .gone: break
      }
    }
  }

  enum DeliveryChange {
    case whole(StoredDelivery, number: Int64)
    /// The row, with this in place of what it has; `nil` leaves what its session showed.
    case changed(DeliveryProgress, PreviouslyShown?)

    var isWhole: Bool { if case .whole = self { true } else { false } }

    var progress: DeliveryProgress {
      switch self {
      case .whole(let delivery, _): delivery.progress
      case .changed(let progress, _): progress
      }
    }
  }

  struct TokenKey: Hashable {
    let token: Text
    let sender: Text
  }

  struct KeptBaggage {
    let baggage: Baggage
    /// The position of the entry.
    let number: Int64
  }

  struct OwedKey: Hashable {
    let application: Text
    let session: UniqueIdentifier
  }

  var sessions: [UniqueIdentifier: SessionChange] = [:]
  var deliveries: [UniqueIdentifier: DeliveryChange] = [:]
  var tokens: [TokenKey: [UniqueIdentifier]] = [:]
  /// In the order of their numbers.
  var events: [StoredEvent] = []
  var preferences: [Text: Text?] = [:]
  /// The position of the entry; `nil` where the host has been told.
  var owed: [OwedKey: Int64?] = [:]
  /// `nil` where the baggage was released.
  var baggage: [UniqueIdentifier: KeptBaggage?] = [:]

  /// Sessions that were read from their rows, with what was done to them since: one that is chosen is looked at a few times in a turn.
  private(set) var readSessions: [UniqueIdentifier: Session] = [:]
  private static let maximumRead = 64

  private(set) var count = 0
  private(set) var bytes = 0
  /// An entry of the log may hold what is private.
  private(set) var hasPrivate = false

  mutating func apply(_ record: Record, at position: Int64, bytes: Int) {
    count += 1
    self.bytes += bytes
    hasPrivate = hasPrivate || record.mayBePrivate
    switch record {
    case .session(let session):
      sessions[session.identifier] = .whole(session)
      readSessions[session.identifier] = nil
    case .sessionActivated(let activation): activate(activation)
    case .sessionDiscarded(let identifier):
      sessions[identifier] = .gone
      readSessions[identifier] = nil
    case .delivery(let delivery):
      deliveries[delivery.identifier] = .whole(delivery, number: position)
      if let token = delivery.token {
        tokens[TokenKey(token: token, sender: delivery.sender), default: []].append(delivery.identifier)
      }
    case .deliveryProgress(let identifier, let progress): change(identifier, progress, nil)
    case .deliveryRedirected(let identifier, let progress, let previous): change(identifier, progress, previous)
    case .event(let event): events.append(event)
    case .preference(let type, let application): preferences[type] = .some(application)
    case .discardOwed(let application, let session):
      owed[OwedKey(application: application, session: session)] = .some(position)
    case .discardTold(let application, let session):
      owed[OwedKey(application: application, session: session)] = .some(nil)
    case .baggage(let baggage):
      self.baggage[baggage.delivery] = .some(KeptBaggage(baggage: baggage, number: position))
    case .baggageReleased(let delivery): baggage[delivery] = .some(nil)
    }
  }

  private mutating func change(
    _ delivery: UniqueIdentifier, _ progress: DeliveryProgress, _ previous: PreviouslyShown?
  ) {
    switch deliveries[delivery] {
    case .whole(var whole, let number):
      whole.progress = progress
      if let previous { whole.previous = previous }
      // A payload may be 16 MiB, so it goes at once. What has a deadline goes when it is written to its row.
      if whole.isSpent(at: Instant(microseconds: .min)) { whole.forgetDocuments() }
      deliveries[delivery] = .whole(whole, number: number)
    case .changed(_, let earlier): deliveries[delivery] = .changed(progress, previous ?? earlier)
    case nil: deliveries[delivery] = .changed(progress, previous)
    }
  }

  mutating func keepRead(_ session: Session) {
    if readSessions.count >= Tail.maximumRead { readSessions.removeAll(keepingCapacity: true) }
    readSessions[session.identifier] = session
  }

  private mutating func activate(_ activation: SessionActivation) {
    // In their places, since sessions are large.
    if let place = readSessions.index(forKey: activation.session) {
      activation.apply(to: &readSessions.values[place])
    }
    if let place = sessions.index(forKey: activation.session) {
      sessions.values[place].add(activation)
    } else {
      sessions[activation.session] = .activated(activation)
    }
  }
}

extension Record {
  /// What it says is not to be found in the file once it is gone. Of a session that is discarded nobody knows here.
  var mayBePrivate: Bool {
    switch self {
    case .session(let session): session.isPrivate || session.hasSecrets
    case .sessionActivated(let activation): activation.isPrivate ?? false
    case .sessionDiscarded: true
    case .delivery(let delivery): delivery.isPrivate
    case .deliveryRedirected(_, _, let previous): previous.isPrivate
    case .baggage(let baggage): baggage.isPrivate
    default: false
    }
  }
}
