import SceneModel
import SceneTestSupport
import SessionStore
import Testing

/// Of a finished delivery the store keeps the decision, and no document.
struct SpentDeliveryTests {
  private static let mark = "something that only its payload says. "

  private let directory = TemporaryDirectory()

  private func large(_ number: UInt64, isPrivate: Bool = false, megabytes: Int = 1) -> StoredDelivery {
    var delivery = delivery(number, .routed, isOpen: true)
    delivery.isPrivate = isPrivate
    delivery.payload = Text(String(repeating: Self.mark, count: (megabytes << 20) / Self.mark.utf8.count))
    delivery.decision = "a decision"
    delivery.fingerprint = "a digest"
    delivery.previous = PreviouslyShown(
      userActivity: UserActivity(activityType: "org.example.show"), openedContent: "file:///a", title: "A title",
      isPrivate: isPrivate, shownBy: nil)
    return delivery
  }

  private func end(
    _ delivery: StoredDelivery, _ state: DeliveryState, _ store: SessionStore, at now: Instant = noon
  ) throws {
    let progress = DeliveryProgress(state, isOpen: false, ended: now)
    try store.commit([.deliveryProgress(delivery.identifier, progress)], at: now)
  }

  @Test(arguments: [DeliveryState.failed, .cancelled, .routed], [false, true])
  func `what is over loses its documents at once, not its decision`(state: DeliveryState, isSettledFirst: Bool) throws {
    let store = try open(directory)
    let delivery = large(1)
    try store.commit([.delivery(delivery)], at: noon)
    if isSettledFirst { try store.writeRows() }
    #expect(try store.delivery(delivery.identifier) == delivery)
    try end(delivery, state, store)
    for isSettled in [false, true] {
      if isSettled { try store.writeRows() }
      let found = try #require(try store.delivery(delivery.identifier))
      #expect((found.payload, found.decision, found.fingerprint) == ("", "a decision", "a digest"))
      if isSettled || !found.cameToNothing { #expect(found.previous == PreviouslyShown()) }
      #expect((found.progress.state, found.progress.ended) == (state, noon))
    }
    store.close()
    tamper(directory, "CREATE TABLE t (n CHECK (n = 0)); INSERT INTO t SELECT max(length(payload)) FROM delivery")
  }

  @Test func `what was handled keeps its documents until its deadline has passed, to the microsecond`() throws {
    var store = try open(directory)
    let delivery = large(1)
    try store.commit([.delivery(delivery)], at: noon)
    try end(delivery, .handled, store)
    try store.rest(at: delivery.deadline)
    #expect(try store.delivery(delivery.identifier)?.payload == delivery.payload)
    #expect(try store.delivery(delivery.identifier)?.previous == delivery.previous)
    try store.rest(at: Instant(microseconds: delivery.deadline.microseconds + 1))
    #expect(try store.delivery(delivery.identifier)?.payload == "")
    store.close()
    store = try open(directory)
    #expect(try store.delivery(delivery.identifier)?.payload == "")
    #expect(try store.delivery(delivery.identifier)?.decision == "a decision")
  }

  @Test func `what was handled and goes elsewhere is handed over with its documents`() throws {
    let store = try open(directory)
    let delivery = large(1)
    try store.commit([.delivery(delivery)], at: noon)
    try end(delivery, .handled, store)
    try store.writeRows()
    let again = DeliveryProgress(.held, isOpen: true, attempt: 2)
    try store.commit([.deliveryRedirected(delivery.identifier, again, PreviouslyShown())], at: noon)
    try store.rest(at: instant(1000))
    #expect(try store.delivery(delivery.identifier)?.payload == delivery.payload)
  }

  @Test func `what a failed delivery found stays until no delivery that stands on it can fail any more`() throws {
    let store = try open(directory)
    let first = large(1)
    var (second, third) = (large(2), large(3))
    second.previous.shownBy = first.identifier
    third.previous.shownBy = second.identifier
    try store.commit([.delivery(first), .delivery(second), .delivery(third)], at: noon)
    try end(first, .failed, store)
    try end(second, .cancelled, store)
    for _ in 0..<3 {
      try store.rest(at: noon)
      for delivery in [first, second] {
        #expect(try store.delivery(delivery.identifier)?.previous == delivery.previous)
        #expect(try store.delivery(delivery.identifier)?.payload == "")
      }
    }
    try end(third, .handled, store)
    try store.rest(at: third.deadline)
    #expect(try store.delivery(first.identifier)?.previous == first.previous)
    for _ in 0..<3 { try store.rest(at: instant(1000)) }
    for delivery in [first, second, third] {
      #expect(try store.delivery(delivery.identifier)?.previous.openedContent == "")
    }
  }

  @Test func `a hundred megabytes of payloads that are over are not on the disk`() throws {
    let directory = TemporaryDirectory(in: "/tmp")
    let store = try open(directory)
    // Four hundred in `make stress`.
    let count = rounds(25)
    for number in 1...UInt64(count) {
      let delivery = large(number, megabytes: 4)
      try store.commit([.delivery(delivery)], at: noon)
      try end(delivery, number % 2 == 0 ? .handled : .failed, store)
      // Their deadlines pass ten deliveries later.
      try store.rest(at: instant(Int64(2 * number)))
    }
    while try !store.rest(at: instant(10_000)) {}
    #expect(try store.deliveryCount() == count)
    let sizes = directory.names.map { directory.size(of: $0) }
    #expect(sizes.reduce(0, +) < 64 << 20, "\(sizes)")
    store.close()
    tamper(directory, "CREATE TABLE t (n CHECK (n = 0)); INSERT INTO t SELECT max(length(payload)) FROM delivery")
  }

  @Test(arguments: [false, true])
  func `of private deliveries that are over no byte is left in any file`(isHandled: Bool) throws {
    let store = try open(directory)
    for number: UInt64 in 1...8 {
      let delivery = large(number, isPrivate: true)
      try store.commit([.delivery(delivery)], at: noon)
      if number % 2 == 0 { try store.writeRows() }
      try end(delivery, isHandled ? .handled : .failed, store)
    }
    try store.rest(at: noon)
    while try !store.rest(at: instant(1000)) {}
    #expect(directory.files(with: Self.mark) == [])
  }

  /// How private content leaves a store.
  enum Way: CaseIterable { case activated, written, spent, forgotten, tooOld }

  @Test(arguments: Way.allCases)
  func `of private content that was replaced, spent or forgotten no byte is left in any file`(way: Way) throws {
    let long = Text(String(repeating: Self.mark, count: 2_000))
    var history = HistoryLimits()
    if way == .forgotten { history = HistoryLimits(deliveries: 1) }
    if way == .tooOld { history = HistoryLimits(age: 1) }
    let store = try open(directory, history: history)
    var (window, over, other) = (session(1), delivery(1), delivery(2, .routed, isOpen: true))
    (window.isPrivate, window.openedContent) = (true, long)
    (over.isPrivate, over.decision) = (true, long)
    other.previous = PreviouslyShown(openedContent: long, isPrivate: true)
    switch way {
    case .activated, .written: try store.commit([.session(window)], at: noon)
    case .spent: try store.commit([.delivery(other)], at: noon)
    case .forgotten, .tooOld: try store.commit([.delivery(over)], at: noon)
    }
    try store.writeRows()
    switch way {
    case .activated:
      let activation = SessionActivation(
        session: window.identifier, at: noon, openedContent: "file:///public", isPrivate: false)
      try store.commit([.sessionActivated(activation)], at: noon)
    case .written: try store.commit([.session(session(1))], at: noon)
    case .spent: try end(other, .handled, store)
    case .forgotten, .tooOld: try store.commit([.delivery(delivery(3, at: instant(1000)))], at: instant(1000))
    }
    while try !store.rest(at: instant(1000)) {}
    #expect(directory.files(with: Self.mark) == [])
  }
}
