import SceneModel

/// The entries that the log has and the rows do not. Reads look here first, so they are never out of date.
///
/// No entry needs a row to be read, so taking in a record costs the same however many rows there are.
struct Tail {
  enum SessionChange {
    case whole(Session)
    /// The row with this activation; nothing if there is no row.
    case activated(SessionActivation)
    case gone

    mutating func add(_ activation: SessionActivation) {
      // The changed value is taken out meanwhile, so that it is not copied.
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
    indirect case whole(StoredDelivery, number: Int64)
    /// The row with this progress; `nil` leaves the previous content of its session.
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
  /// The position of the entry; `nil` if the host has been told.
  var owed: [OwedKey: Int64?] = [:]
  /// `nil` if the contents were released.
  var baggage: [UniqueIdentifier: KeptBaggage?] = [:]

  /// Sessions that were read from their rows, with their changes since: a turn looks at a chosen session a few times.
  private(set) var readSessions: [UniqueIdentifier: Session] = [:]
  private static let maximumRead = 64
  /// The bytes of these. A document of a session may have 16 MiB, so when there are so many bytes, the next session takes the place of all.
  private var readBytes = 0
  private static let maximumReadBytes = 1 << 20

  private(set) var count = 0
  private(set) var bytes = 0
  /// Whether an entry of the log may have private content.
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
      whole.advance(to: progress)
      if let previous { whole.previous = previous }
      // A payload may be 16 MiB, so it is dropped at once. Documents with a deadline are dropped when the delivery is written to its row.
      if whole.isSpent(at: Instant(microseconds: .min)) { whole.forgetDocuments() }
      deliveries[delivery] = .whole(whole, number: number)
    case .changed(let before, let earlier):
      var progress = progress
      progress.deadline = progress.deadline ?? before.deadline
      deliveries[delivery] = .changed(progress, previous ?? earlier)
    case nil: deliveries[delivery] = .changed(progress, previous)
    }
  }

  mutating func rememberRead(_ session: Session, bytes: Int) {
    if readSessions.count >= Tail.maximumRead || readBytes >= Tail.maximumReadBytes {
      readSessions.removeAll(keepingCapacity: true)
      readBytes = 0
    }
    readSessions[session.identifier] = session
    readBytes += bytes
  }

  private mutating func activate(_ activation: SessionActivation) {
    // In its place: a copy would share the box, which would then be copied.
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
  /// Roughly the bytes of the record, for a store that does not write it.
  var roughSize: Int {
    let small = 256
    switch self {
    case .delivery(let delivery):
      // The payload counts twice, because the session shows the activity of the delivery.
      return small + 2 * delivery.payload.count + delivery.decision.count
    case .event(let event): return small + event.arguments.count
    case .session:
      var body = LogBodyWriter()
      put(into: &body)
      return body.bytes.count
    case .baggage(let baggage):
      // The document has data in base64.
      return baggage.items.joined().reduce(small) { size, entry in
        guard case .data(let bytes) = entry.parcel.content else { return size + small }
        return size + small + bytes.count / 3 * 4
      }
    default: return small
    }
  }

  /// Whether the file must not show its content, or the content that it replaces, once that is removed. Nobody here knows this of a discarded session.
  var mayBePrivate: Bool {
    switch self {
    case .session(let session): session.isPrivate || session.hasSecrets
    // It says so if the session is private now, and if it was.
    case .sessionActivated(let activation): activation.isPrivate != nil
    case .sessionDiscarded: true
    case .delivery(let delivery): delivery.isPrivate || delivery.previous.isPrivate
    case .deliveryRedirected(_, _, let previous): previous.isPrivate
    case .baggage(let baggage): baggage.isPrivate
    default: false
    }
  }
}
