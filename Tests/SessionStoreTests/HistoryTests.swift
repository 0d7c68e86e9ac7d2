import Glibc
import SceneModel
import SessionStore
import Testing

struct HistoryTests {
  private let directory = TemporaryDirectory()
  private let few = HistoryLimits(deliveries: 5, events: 5, age: 3_600_000_000)

  @Test func `as many events are kept as the limit says, and the one before is gone`() throws {
    var store = try open(directory, history: few)
    try store.commit((1...5).map { event($0) }, at: noon)
    try store.inLogAndRows { () throws in
      #expect(store.firstEventSequence == 1)
      #expect(try store.events(after: 0, limit: 100).count == 5)
    }
    try store.commit([event(6)], at: noon)
    try store.inLogAndRows { () throws in
      #expect(store.firstEventSequence == 2)
      #expect(try store.events(after: 0, limit: 100).map(\.sequence) == [2, 3, 4, 5, 6])
    }
    store.close()
    store = try open(directory, history: few)
    #expect(store.firstEventSequence == 2)
  }

  @Test func `what carries contents is kept as long as they are, whatever comes and whatever the clock says`() throws {
    let store = try open(directory, history: few)
    try store.commit([.delivery(delivery(1)), .delivery(delivery(2)), .baggage(baggage(1))], at: noon)
    for number in 3...20 as ClosedRange<UInt64> {
      try store.commit([.delivery(delivery(number))], at: noon)
      try store.writeRows()
    }
    #expect(try store.delivery(delivery(2).identifier) == nil)
    #expect(try store.delivery(delivery(1).identifier) != nil)
    // The right time comes a week later.
    while try !store.rest(at: instant(604_800)) {}
    #expect(try store.deliveries(limit: 9)?.map(\.identifier) == [delivery(1).identifier])
    try store.commit([.baggageReleased(delivery(1).identifier)], at: instant(604_800))
    while try !store.rest(at: instant(604_800)) {}
    #expect(try store.deliveryCount() == 0)
  }

  @Test func `a flood of one sender takes no token from another, and its own but the newest`() throws {
    let store = try open(directory, history: HistoryLimits(deliveries: 20))
    try store.commit(
      (1...3).map { .delivery(delivery($0, token: Text("t\($0)"), sender: "org.example.Quiet")) }, at: noon)
    try store.commit((4...13).map { .delivery(delivery($0, token: Text("t\($0)"))) }, at: noon)
    try store.writeRows()
    try store.commit((14...60).map { .delivery(delivery($0)) }, at: noon)
    try store.writeRows()
    // The newest two of each.
    let kept = ([2, 3, 12, 13] + Array(45...60)).reversed().map { delivery($0).identifier }
    #expect(try store.deliveries(limit: 99)?.map(\.identifier) == kept)
    #expect(try store.deliveryCount() == 20)
    for (token, sender, isKept) in [
      ("t1", "org.example.Quiet", false), ("t2", "org.example.Quiet", true), ("t3", "org.example.Quiet", true),
      ("t11", "", false), ("t12", "", true), ("t13", "", true),
    ] as [(Text, Text, Bool)] {
      #expect(try store.deliveries(token: token, sender: sender).isEmpty != isKept, "\(token)")
    }
  }

  @Test func `what somebody waits for is kept, however old it is and however many there are`() throws {
    let store = try open(directory, history: few)
    try store.commit((1...8).map { .delivery(delivery($0, .held, isOpen: true)) }, at: noon)
    try store.commit([.delivery(delivery(9, .routed, isOpen: true))], at: noon)
    try store.commit([.delivery(delivery(10, .routed))], at: noon)
    try store.commit((11...20).map { .delivery(delivery($0, at: instant(10_000))) }, at: instant(10_000))
    try store.writeRows()
    #expect(try store.openDeliveries().map(\.identifier) == (1...9).map { delivery($0).identifier })
    #expect(try store.deliveryCount() == 9 + 5)
    #expect(try store.delivery(delivery(10).identifier) == nil)

    let over = DeliveryProgress(.handled, isOpen: false)
    try store.commit([.deliveryProgress(delivery(1).identifier, over)], at: instant(10_000))
    try store.writeRows()
    #expect(try store.delivery(delivery(1).identifier) == nil)
    #expect(try store.deliveryCount() == 8 + 5)
  }

  @Test func `who rests forgets what is too old by then, and leaves nothing to the log`() throws {
    let store = try open(directory, history: few)
    try store.commit((1...3).map { event($0) } + [.session(session(1))], at: noon)
    try store.rest(at: noon)
    #expect(store.firstEventSequence == 1)
    let copy = directory.copy()
    unlink(copy.path + "/stagedoor.db-wal")
    #expect(try open(copy, history: few).session(session(1).identifier) == session(1))
    try store.rest(at: instant(10_000))
    #expect(store.firstEventSequence == 4)
  }

  @Test func `what is older than the limit is forgotten, to the microsecond`() throws {
    let store = try open(directory, history: few)
    try store.commit([event(1, at: noon), .delivery(delivery(1, at: noon))], at: noon)
    let edge = instant(3600)
    let next = Instant(microseconds: noon.microseconds + 1)
    try store.commit([event(2, at: next), .delivery(delivery(2, at: next))], at: edge)
    try store.writeRows()
    #expect(try store.events(after: 0, limit: 9).count == 2)
    #expect(try store.deliveryCount() == 2)

    try store.commit([.preference(type: "t", application: "a")], at: Instant(microseconds: edge.microseconds + 1))
    try store.writeRows()
    #expect(try store.events(after: 0, limit: 9).map(\.sequence) == [2])
    #expect(try store.deliveryCount() == 1)
    #expect(try store.delivery(delivery(1).identifier) == nil)
  }

  @Test func `a delivery is kept from its end, however long it was open before`() throws {
    let store = try open(directory, history: HistoryLimits(deliveries: 3, age: 3_600_000_000))
    let long = delivery(1, .forwarded, isOpen: true)
    try store.commit([.delivery(long), .delivery(delivery(2))], at: noon)
    let over = DeliveryProgress(.handled, isOpen: false, ended: instant(10_000))
    try store.commit([.deliveryProgress(long.identifier, over)], at: instant(10_000))
    try store.writeRows()
    #expect(try store.deliveries(limit: 9)?.map(\.identifier) == [long.identifier])
    try store.commit((3...4).map { .delivery(delivery($0, at: instant(10_001))) }, at: instant(10_001))
    // The first to end goes first.
    try store.commit([.delivery(delivery(5, at: instant(9_000)))], at: instant(10_001))
    try store.writeRows()
    let kept = [4, 3, 1].map { delivery($0).identifier }
    #expect(try store.deliveries(limit: 9)?.map(\.identifier) == kept)
    try store.rest(at: instant(13_601))
    #expect(try store.delivery(long.identifier) == nil)
  }

  @Test func `a full history forgets what was made first, although a clock that was set back dates it in the future`()
    throws
  {
    for isOften in [false, true] {
      let directory = TemporaryDirectory()
      let store = try open(directory, history: HistoryLimits(deliveries: 5))
      // The wrong clock dates the last two, or all.
      for number in 1...5 as ClosedRange<UInt64> {
        let time = isOften || number > 3 ? instant(86_400) : noon
        try store.commit([.delivery(delivery(number, at: time))], at: time)
      }
      try store.writeRows()
      for number in 6...8 as ClosedRange<UInt64> {
        try store.commit([.delivery(delivery(number, at: instant(Int64(number))))], at: instant(Int64(number)))
        try store.writeRows()
        let kept = (number - 4...number).reversed().map { delivery($0).identifier }
        #expect(try store.deliveries(limit: 9)?.map(\.identifier) == kept)
      }
    }
  }

  @Test func `numbers of events never go back, even where all events were forgotten`() throws {
    var store = try open(directory, history: few)
    try store.commit((1...3).map { event($0) }, at: noon)
    try store.commit([.preference(type: "t", application: "a")], at: instant(100_000))
    store.close()
    store = try open(directory, history: few)
    #expect(try store.events(after: 0, limit: 9) == [])
    #expect((store.firstEventSequence, store.lastEventSequence) == (4, 3))
    #expect(failure(of: try store.commit([event(3)], at: noon))?.message == "event 3 does not follow event 3")
    #expect(failure(of: try store.commit([event(5)], at: noon)) != nil)
    #expect(failure(of: try store.commit([event(4), event(4)], at: noon)) != nil)
    try store.commit([event(4, at: instant(100_000))], at: instant(100_000))
    #expect(try store.events(after: 3, limit: 9).map(\.sequence) == [4])
    #expect(try store.events(after: .max, limit: 9) == [])
    #expect(try store.events(after: 4, limit: 9) == [])
  }

  @Test func `no events are kept where the limit is none`() throws {
    let store = try open(directory, history: HistoryLimits(deliveries: 0, events: 0))
    try store.commit([event(1), .delivery(delivery(1))], at: noon)
    try store.inLogAndRows { () throws in #expect((store.firstEventSequence, store.lastEventSequence) == (2, 1)) }
    #expect(try store.deliveryCount() == 0)
  }

  @Test func `what is too old goes, however much a wrong clock dates in the future before it`() throws {
    let store = try open(directory, history: HistoryLimits(age: 3_600_000_000))
    let wrong = Instant(microseconds: noon.microseconds + 86_400_000_000)
    for number in 1...200 as ClosedRange<UInt64> {
      try store.commit([.delivery(delivery(number, at: wrong)), event(number, at: wrong)], at: wrong)
    }
    try store.rest(at: wrong)
    try store.commit([.delivery(delivery(201)), event(201)], at: noon)
    let later = Instant(microseconds: noon.microseconds + 7_200_000_000)
    try store.rest(at: noon)
    try store.rest(at: later)
    #expect(try store.delivery(delivery(201).identifier) == nil)
    #expect(try store.deliveryCount() == 200)
    while try !store.rest(at: later) {}
    #expect(try store.events(after: 200, limit: 9) == [])
    // What only the wrong clock dates stays.
    try store.commit([.delivery(delivery(202, at: wrong)), event(202, at: wrong)], at: later)
    try store.rest(at: later)
    #expect(try store.deliveryCount() == 201)
    #expect(try store.events(after: 0, limit: 9).map(\.sequence) == [202])
  }

  @Test func `who rests hears that much is still to be forgotten`() throws {
    let store = try open(directory, history: HistoryLimits(age: 3_600_000_000))
    for number in 1...500 as ClosedRange<UInt64> {
      try store.commit([.delivery(delivery(number, .routed)), event(number)], at: noon)
    }
    while try !store.rest(at: noon) {}
    #expect(try store.rest(at: instant(10_000)) == false)
    while try !store.rest(at: instant(10_000)) {}
    #expect(try store.deliveryCount() == 0)
    #expect(store.firstEventSequence == 501)
  }

  @Test func `what is too old goes, although tokens keep more than the limit`() throws {
    let store = try open(directory, history: HistoryLimits(deliveries: 100, age: 3_600_000_000))
    let records = (1...200 as ClosedRange<UInt64>).map { number in
      Record.delivery(delivery(number, token: Text("t\(number)"), sender: Text("org.example.S\((number - 1) / 10)")))
    }
    try store.commit(records, at: noon)
    try store.rest(at: noon)
    #expect(try store.deliveryCount() == 200)
    while try !store.rest(at: instant(10_000)) {}
    #expect(try store.deliveryCount() == 0)
  }

  @Test func `who rests hears that more deliveries are left than the limit says`() throws {
    try leave((1...300).map { .delivery(delivery($0)) }, in: directory)
    let store = try open(directory, history: few)
    while try !store.rest(at: noon) {}
    #expect(try store.deliveryCount() == 5)
  }

  @Test func `what is new stays after the clock was set back`() throws {
    let store = try open(directory, history: HistoryLimits(age: 3_600_000_000))
    let wrong = Instant(microseconds: noon.microseconds + 86_400_000_000)
    try store.commit([.preference(type: "t", application: "a")], at: wrong)
    try store.rest(at: wrong)
    try store.commit([.delivery(delivery(1)), event(1)], at: noon)
    try store.rest(at: noon)
    #expect(try store.deliveryCount() == 1)
    #expect(try store.events(after: 0, limit: 9).count == 1)
  }

  @Test func `much that is too old goes in pieces, not at once`() throws {
    try leave((1...3000).map { event($0) } + (1...3000).map { .delivery(delivery($0)) }, in: directory)
    let store = try open(directory, history: few)
    var left = try store.deliveryCount()
    #expect(left == 3000 - 64 || left == 3000)
    var rounds = 0
    while left > 5 {
      try store.commit([.preference(type: "t", application: "a")], at: noon)
      try store.writeRows()
      let now = try store.deliveryCount()
      #expect(now < left && now >= left - 66)
      left = now
      rounds += 1
    }
    #expect(rounds > 40)
    // Events that can no longer be read are not read, whether or not they are gone.
    #expect(store.firstEventSequence == 2996)
  }
}
