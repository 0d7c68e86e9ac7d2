import SceneModel
import SessionStore
import StoreTestSupport
import Testing

/// The baggage of deliveries.
struct BaggageTests {
  private static let mark = "something that only the baggage says. "

  private let directory = TemporaryDirectory()

  private func marked(_ number: UInt64, times: Int = 1) -> Baggage {
    // A document has bytes in base64, so the mark stands in a name, which is not encoded.
    let url = Text("file:///" + String(repeating: Self.mark, count: times))
    let entry = Baggage.Entry(type: pictures, visibility: .all, Parcel(.file(url), size: nil))
    return Baggage(delivery: delivery(number).identifier, items: [[entry]], isPrivate: true)
  }

  @Test func `every kind of parcel comes back as it was stored`() throws {
    let promise = Promise(source: ":1.7", path: "/org/example/source", item: 3, type: "Image/PNG")
    let parcels: [(Text, Visibility, Parcel)] = [
      ("text/plain; charset=utf-8", .all, Parcel(.data(Array(0...255)), size: 256)),
      ("public.data", .application, Parcel(.data([]), size: 0)),
      ("public.png", .ownProcess, Parcel(.kept(7), size: 1 << 40)), ("public.jpeg", .all, Parcel(.kept(0), size: nil)),
      ("public.tiff", .all, Parcel(.file("file:///home/a%20b/c.tiff"), size: 12)),
      ("Image/PNG", .application, Parcel(.promise(promise), size: nil)),
    ]
    let entries = try parcels.map { Baggage.Entry(type: try #require(ContentType($0)), visibility: $1, $2) }
    let baggage = Baggage(delivery: delivery(1).identifier, items: [entries, [], [entries[0]]], isPrivate: true)
    var directory = TemporaryDirectory()
    var store = try open(directory)
    try store.commit([.baggage(baggage)], at: noon)
    for step in 0..<3 {
      #expect(try store.baggage(baggage.delivery) == baggage, "step \(step)")
      #expect(try store.baggageSummaries().map(\.bytes) == [256 + 1 << 40 + Parcel.smallestFile + 256])
      if step == 0 {
        directory = directory.copy()
        store = try open(directory)
      }
      if step == 1 { try store.writeRows() }
    }
    #expect(try store.baggage(delivery(2).identifier) == nil)
  }

  @Test(arguments: [false, true], [false, true])
  func `baggage of a forgotten delivery is nobody's, and told of`(isSettledBefore: Bool, isChangedAfter: Bool) throws {
    let store = try open(directory, history: HistoryLimits(deliveries: 0))
    try store.commit([.delivery(delivery(1))], at: noon)
    try store.writeRows()
    #expect(try store.delivery(delivery(1).identifier) == nil)
    // An earlier version forgot a delivery before its baggage.
    try store.commit([.baggage(baggage(1))], at: noon)
    if isSettledBefore { try store.writeRows() }
    if isChangedAfter {
      let progress = DeliveryProgress(.held, isOpen: true, session: session(1).identifier)
      try store.commit([.deliveryProgress(delivery(1).identifier, progress)], at: noon)
    }
    let forgotten = BaggageSummary(
      delivery: delivery(1).identifier, session: nil, bytes: Parcel.smallestFile + 3, isOpen: false)
    #expect(try store.baggageSummaries() == [forgotten])
    // Baggage in the log, for a delivery of which only the log knows a change.
    try store.commit([.baggage(baggage(1))], at: noon)
    #expect(try store.baggageSummaries() == [forgotten])
  }

  @Test func `summaries read no document`() throws {
    var store = try open(directory)
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    for number: UInt64 in 1...10 {
      try store.commit([.delivery(delivery(number)), .baggage(baggage(number, bytes))], at: noon)
    }
    store.close()
    store = try open(directory)
    var summaries: [BaggageSummary] = []
    let reads = try DiskFaults.reads(in: directory.path) { summaries = try store.baggageSummaries() }
    #expect(summaries.map(\.bytes) == [Int](repeating: Parcel.smallestFile + 1 << 20, count: 10))
    #expect(reads < 50, "pages of more than three hundred that each document has")
  }

  @Test func `baggage that does not parse is passed over and reported`() throws {
    try leave([.baggage(baggage(1)), .baggage(baggage(2)), .baggage(baggage(3))], in: directory)
    tamper(directory, "UPDATE baggage SET document = '{\"items\": 7}' WHERE number = 1")
    tamper(directory, "UPDATE baggage SET delivery = x'00' WHERE number = 2")
    let store = try open(directory)
    #expect(try store.baggage(delivery(1).identifier) == nil)
    #expect(try store.baggageSummaries().map(\.delivery) == [delivery(1).identifier, delivery(3).identifier])
    #expect(store.problems.count == 2, "\(store.problems)")
    #expect(store.problems.allSatisfy { $0.contains("is passed over") }, "\(store.problems)")
  }

  // MARK: Private

  @Test(arguments: [false, true], [1, 2000])
  func `of private baggage that was released no byte is left in any file`(isReplaced: Bool, times: Int) throws {
    let store = try open(directory)
    for number: UInt64 in 1...8 {
      try store.commit([.baggage(marked(number, times: times))], at: noon)
      if number % 2 == 0 { try store.writeRows() }
      try store.commit(
        [isReplaced ? .baggage(baggage(number)) : .baggageReleased(delivery(number).identifier)], at: noon)
    }
    try store.rest(at: noon)
    while try !store.rest(at: noon) {}
    #expect(directory.files(with: Self.mark) == [])
  }

  @Test func `private baggage is not left in the log by what was written to its page later`() throws {
    let store = try open(directory)
    try store.commit([.baggage(marked(1))], at: noon)
    try store.rest(at: noon)
    // The page of the private row is written once more, much later in the log.
    for sequence: UInt64 in 1...200 { try store.commit([event(sequence)], at: noon) }
    try store.commit([.baggage(baggage(2))], at: noon)
    try store.rest(at: noon)
    try #require(directory.files(with: Self.mark).contains("stagedoor.db-wal"), "it is in the log")
    try store.commit([.baggageReleased(delivery(1).identifier)], at: noon)
    try store.rest(at: noon)
    #expect(directory.files(with: Self.mark) == [])
  }
}
