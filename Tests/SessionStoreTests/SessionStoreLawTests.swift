import Glibc
import SceneModel
import SessionStore
import StoreTestSupport
import Testing

/// Generated records against a model in plain dictionaries. The test prints the seed when a law breaks.
struct SessionStoreLawTests {
  @Test(arguments: 0..<seeds)
  func `what was committed is read back, settled or not, reopened or not, killed or not`(seed: UInt64) throws {
    var generator = RecordGenerator(seed: seed)
    var model = StoreModel()
    var directory = TemporaryDirectory()
    var store = try open(directory)
    for step in 0..<40 {
      try generator.commit(to: store, &model)
      switch generator.below(6) {
      case 0: try store.writeRows()
      case 1:
        store.close()
        store = try open(directory)
      case 2:
        directory = directory.copy()
        store = try open(directory)
      default: break
      }
      if generator.below(4) == 0 { try expectSame(store, model, "seed \(seed), step \(step)") }
    }
    try expectSame(store, model, "seed \(seed)")
  }

  @Test func `a store in memory knows the same`() throws {
    var generator = RecordGenerator(seed: 7)
    var model = StoreModel()
    let store = try SessionStore(directory: "", durability: .memory, rules: rules, at: noon)
    for _ in 0..<300 {
      try generator.commit(to: store, &model)
    }
    try expectSame(store, model)
  }

  @Test(arguments: 0..<seeds)
  func `pages of any size, put together, are the whole list`(seed: UInt64) throws {
    var generator = RecordGenerator(seed: seed)
    var model = StoreModel()
    let directory = TemporaryDirectory()
    let store = try open(directory)
    for step in 0..<30 {
      try generator.commit(to: store, &model)
      if step == 20 { try store.writeRows() }
    }
    for limit in 1...4 {
      var sessions: [Session] = []
      while let page = try store.sessions(after: sessions.last?.identifier, limit: limit), !page.sessions.isEmpty {
        #expect(page.sessions.count <= limit)
        sessions += page.sessions
      }
      #expect(sessions == model.sessionsByAge, "seed \(seed), pages of \(limit)")

      var deliveries: [DeliverySummary] = []
      while let page = try store.deliveries(after: deliveries.last?.identifier, limit: limit), !page.isEmpty {
        #expect(page.count <= limit)
        deliveries += page
      }
      #expect(deliveries == model.deliveries.reversed().map(\.summary), "seed \(seed), pages of \(limit)")

      var events: [StoredEvent] = []
      while case let page = try store.events(after: events.last?.sequence ?? 0, limit: limit), !page.isEmpty {
        #expect(page.count <= limit)
        events += page
      }
      #expect(events == model.events, "seed \(seed), pages of \(limit)")
    }
  }

  @Test(arguments: 0..<seeds)
  func `a disk that fails anywhere takes nothing away and leaves nothing behind`(seed: UInt64) throws {
    var generator = RecordGenerator(seed: seed)
    var model = StoreModel()
    let directory = TemporaryDirectory()
    let store = try open(directory, .full)
    var (refusals, faults) = (0, 0)
    for step in 0..<60 {
      let calls: Set<DiskFaults.Call> = [[.write], [.sync], [.write, .sync], [.read]][generator.below(4)]
      let error = [EIO, ENOSPC][generator.below(2)]
      let records = generator.records()
      let failed = DiskFaults.during(
        calls, in: directory.path, error: error, after: generator.below(6), count: 1 + generator.below(3)
      ) {
        do throws(StoreError) {
          try store.commit(records, at: generator.now)
          model.apply(records, at: generator.now)
        } catch {
          #expect(error.kind == .full || error.kind == .io)
          generator.wasRefused(records)
          refusals += 1
        }
        if generator.below(4) == 0 { try? store.writeRows() }
      }
      if failed { faults += 1 }
      let comment = Comment(rawValue: "seed \(seed), step \(step)")
      // First a copy of what a process that is killed now leaves, because reading the store may mend it.
      try expectSame(try open(directory.copy()), model, comment)
      try expectSame(store, model, comment)
    }
    #expect(refusals > 0 && faults > refusals / 2)
  }
}
