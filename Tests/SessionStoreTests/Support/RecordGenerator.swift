import SceneModel
import SceneTestSupport
import SessionStore

/// Makes records that follow each other. Most are about sessions and deliveries that exist, and a few about others.
struct RecordGenerator {
  private(set) var random: SeededRandom
  private var values: ValueGenerator
  private var sessions: [Session] = []
  private var deliveries: [StoredDelivery] = []
  private var sequence: UInt64 = 0
  private(set) var now = Instant(microseconds: 1_777_636_800_000_000)
  /// Deliveries say when they ended since the third version, and carry baggage since the fourth.
  private let version: Int

  /// - Parameter version: The version of the store for the records.
  init(seed: UInt64, version: Int = Schema.current.steps.count) {
    self.version = version
    random = SeededRandom(seed: seed)
    values = ValueGenerator(seed: seed ^ 0x5EED)
  }

  mutating func below(_ bound: Int) -> Int { random.below(bound) }

  mutating func records() -> [Record] { (0..<(1 + random.below(random.once(in: 10) ? 40 : 4))).map { _ in record() } }

  mutating func record() -> Record {
    now.microseconds += Int64(random.below(1_000_000))
    switch random.below(version < 4 ? 20 : 24) {
    case 0...2: return .session(newSession())
    case 3...7: return .sessionActivated(activation())
    case 8: return .session(changedSession())
    case 9: return .sessionDiscarded(someSession())
    case 10...12: return .delivery(newDelivery())
    case 13:
      var progress = progress()
      // Deliveries are forwarded since the fifth version.
      if version >= 5, random.once(in: 3) {
        progress.deadline = Instant(microseconds: now.microseconds + Int64(random.below(1_000_000_000)))
      }
      return .deliveryProgress(someDelivery(), progress)
    case 14: return .deliveryRedirected(someDelivery(), progress(), previous())
    case 15: return .preference(type: name(), application: random.once(in: 3) ? nil : name())
    case 16: return .discardOwed(application: name(), session: someSession())
    case 17: return .discardTold(application: name(), session: someSession())
    case 20...22: return .baggage(baggage())
    case 23: return .baggageReleased(someDelivery())
    default:
      sequence += 1
      return .event(
        StoredEvent(sequence: sequence, name: name(), application: name(), arguments: values.text(), at: now))
    }
  }

  /// Commits some records to a store, and to its model.
  mutating func commit(to store: SessionStore, _ model: inout StoreModel) throws(StoreError) {
    let records = records()
    try store.commit(records, at: now)
    model.apply(records, at: now)
  }

  /// A commit was refused, so the numbers of its events are used again.
  mutating func wasRefused(_ records: [Record]) { for case .event in records { sequence -= 1 } }

  private mutating func name() -> Text { random.one(of: ["org.example.A", "org.example.B", "org.example.C", "é\0x"]) }

  /// A text that a document may have: a message of the bus cannot hold a NUL.
  private mutating func sayable() -> Text { Text(values.text().string.filter { !$0.unicodeScalars.contains("\0") }) }

  /// One of a few keys, so that sessions share them.
  private mutating func key() -> Text { random.one(of: ["a", "ab", "é", "file:///a"]) }

  private mutating func predicate() -> Text {
    let key = key().string
    return random.one(of: [
      "", "", values.text(), "FALSEPREDICATE", Text("SELF == '\(key)'"), Text("SELF IN {'\(key)', 'a'}"),
      Text("SELF BEGINSWITH '\(key)'"),
    ])
  }

  private mutating func identifier() -> UniqueIdentifier { UniqueIdentifier(using: &random) }

  private mutating func someSession() -> UniqueIdentifier {
    sessions.isEmpty || random.once(in: 20) ? identifier() : random.one(of: sessions).identifier
  }

  private mutating func someDelivery() -> UniqueIdentifier {
    deliveries.isEmpty || random.once(in: 20) ? identifier() : random.one(of: deliveries).identifier
  }

  private mutating func activity() -> UserActivity? {
    if random.once(in: 3) { return nil }
    return UserActivity(
      activityType: random.one(of: ["org.example.show", "org.example.edit"]),
      targetContentIdentifier: random.once(in: 2) ? random.once(in: 3) ? sayable() : key() : nil, title: sayable(),
      userInfo: values.userInfo(depth: 3))
  }

  private mutating func newSession() -> Session {
    // Some sessions have the same time, so that their identifiers decide.
    let created = random.once(in: 3) ? Instant(microseconds: Int64(random.below(3)) - 1) : now
    var session = Session(identifier: identifier(), application: name(), configuration: name(), created: created)
    fill(&session)
    sessions.append(session)
    return session
  }

  private mutating func changedSession() -> Session {
    if sessions.isEmpty { return newSession() }
    var session = random.one(of: sessions)
    fill(&session)
    return session
  }

  private mutating func fill(_ session: inout Session) {
    session.state = random.one(of: SceneState.allCases)
    session.isConnected = random.once(in: 2)
    session.hasBeenConnected = random.once(in: 2)
    session.isPrivate = random.once(in: 4)
    session.hasSecrets = random.once(in: 4)
    session.shownBy = random.once(in: 3) ? someDelivery() : nil
    session.title = values.text()
    session.userActivity = activity()
    session.stateRestorationActivity = activity()
    session.openedContent = random.once(in: 2) ? values.text() : key()
    session.userInfo = values.userInfo(depth: 2)
    session.canActivatePredicate = predicate()
    session.prefersToActivatePredicate = predicate()
  }

  private mutating func activation() -> SessionActivation {
    SessionActivation(
      session: someSession(), at: now, userActivity: activity(),
      openedContent: random.once(in: 3) ? random.once(in: 2) ? values.text() : key() : nil,
      title: random.once(in: 4) ? values.text() : nil,
      isPrivate: random.once(in: 2) ? random.once(in: 2) : nil, shownBy: random.once(in: 2) ? someDelivery() : nil)
  }

  private mutating func progress() -> DeliveryProgress {
    let isOpen = random.once(in: 2)
    return DeliveryProgress(
      random.one(of: DeliveryState.allCases), isOpen: isOpen, session: random.once(in: 3) ? nil : someSession(),
      outcome: name(), attempt: Int64(random.below(4)), departures: Int64(random.below(4)),
      error: random.once(in: 2) ? DeliveryError(name: name(), message: values.text()) : nil,
      ended: isOpen || version < 3 ? nil : now)
  }

  private mutating func previous() -> PreviouslyShown {
    PreviouslyShown(
      userActivity: activity(), openedContent: values.text(), title: values.text(), isPrivate: random.once(in: 2),
      shownBy: random.once(in: 2) ? someDelivery() : nil)
  }

  private mutating func baggage() -> Baggage {
    let items = (0..<(1 + random.below(3))).map { _ in (0..<random.below(3)).map { _ in entry() } }
    return Baggage(delivery: someDelivery(), items: items, isPrivate: random.once(in: 3))
  }

  private mutating func entry() -> Baggage.Entry {
    let size: Int64? = random.once(in: 3) ? nil : Int64(random.below(1 << 40))
    let parcel: Parcel
    switch random.below(5) {
    case 0:
      let bytes = (0..<(random.once(in: 10) ? 20_000 : random.below(50))).map { _ in UInt8(random.below(256)) }
      parcel = Parcel(.data(bytes), size: Int64(bytes.count))
    case 1: parcel = Parcel(.kept(random.below(100)), size: size)
    case 2: parcel = Parcel(.held(random.below(100)), size: size)
    case 3: parcel = Parcel(.file(Text("file:///home/a%20b/\(random.below(9)).png")), size: size)
    default:
      let promise = Promise(
        source: Text(":1.\(random.below(99))"), path: "/a/b", item: random.below(9), type: "image/png")
      parcel = Parcel(.promise(promise), size: size)
    }
    return Baggage.Entry(type: pictures, visibility: random.one(of: Visibility.allCases), parcel)
  }

  private mutating func newDelivery() -> StoredDelivery {
    var delivery = StoredDelivery(
      identifier: identifier(), application: name(), sender: random.one(of: ["", "org.example.A"]),
      token: random.once(in: 2) ? random.one(of: ["t", "", "u"]) : nil, created: now,
      deadline: Instant(microseconds: now.microseconds + 20_000_000), progress: progress())
    delivery.sourceApplication = name()
    delivery.fingerprint = values.text()
    delivery.isPrivate = random.once(in: 3)
    if random.once(in: 2) { delivery.routing = RoutingPlace(item: 3, activity: random.once(in: 2) ? 0 : nil) }
    delivery.previous = previous()
    delivery.answer = values.text()
    delivery.decision = values.text()
    // Some payloads fill several pages.
    delivery.payload = Text(String(repeating: "x", count: random.once(in: 10) ? 20_000 : random.below(500)))
    deliveries.append(delivery)
    return delivery
  }
}
