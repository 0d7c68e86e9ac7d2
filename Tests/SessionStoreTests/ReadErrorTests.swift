import Glibc
import SceneModel
import SessionStore
import StoreTestSupport
import Testing

/// One failed read is no damage: the file has not changed.
struct ReadErrorTests {
  /// The store of a killed process: some records in rows, some in the log alone.
  private func killed() throws -> (directory: TemporaryDirectory, model: StoreModel) {
    var generator = RecordGenerator(seed: 23)
    var model = StoreModel()
    let directory = TemporaryDirectory()
    let store = try open(directory)
    for step in 0..<16 {
      try generator.commit(to: store, &model)
      if step == 5 { try store.rest(at: generator.now) }
      if step == 10 { try store.writeRows() }
    }
    return (directory.copy(), model)
  }

  /// It checks less than `expectSame`, since there are hundreds of reads.
  private func expectServed(_ store: SessionStore, _ model: StoreModel, _ comment: Comment) throws {
    #expect(try store.sessions(limit: .max) == model.sessionsByAge, comment)
    #expect(try store.deliveries(limit: .max) == model.deliveries.reversed().map(\.summary), comment)
    #expect(try store.events(after: 0, limit: .max) == model.events, comment)
    #expect(try store.preferences() == model.preferences, comment)
  }

  private func expectWhole(_ directory: TemporaryDirectory, _ model: StoreModel, _ comment: Comment) throws {
    let store = try open(directory)
    #expect(store.setAside == nil, comment)
    try expectServed(store, model, comment)
    store.close()
    #expect(!directory.names.contains { $0.contains("set-aside") || $0.contains("doubt") }, comment)
  }

  @Test(arguments: [1, 2])
  func `wherever a read fails while a store is opened, all of it is there at the next start`(failures: Int) throws {
    let (left, model) = try killed()
    let counted = left.copy()
    let reads = try DiskFaults.reads(in: counted) { try open(counted).close() }
    #expect(reads > 50)
    for after in 0..<reads {
      let comment = Comment(rawValue: "\(failures) from read \(after) of \(reads)")
      let directory = left.copy()
      DiskFaults.during([.read], in: directory, error: EIO, after: after, count: failures) {
        let error = failure { () throws(StoreError) in
          let store = try open(directory)
          #expect(store.setAside == nil, comment)
          store.close()
        }
        #expect(error == nil || failures > 1 && error?.kind == .io, comment)
      }
      try expectWhole(directory, model, comment)
    }
  }

  /// Does everything that a service does with the store; it does not repeat what fails.
  private func use(_ store: SessionStore, _ session: Session, _ event: Record) -> (committed: Bool, error: StoreError?)
  {
    var committed = false
    let error = failure { () throws(StoreError) in
      try store.forEachSession { _ in }
      for delivery in try store.deliveries(limit: 100) ?? [] { _ = try store.delivery(delivery.identifier) }
      _ = try store.events(after: 0, limit: .max)
      _ = try store.connectedSessions()
      try store.commit([.session(session), event], at: noon)
      committed = true
      try store.rest(at: noon)
    }
    return (committed, error)
  }

  @Test func `wherever a read fails in use, the next call is served, and all of it is there at the next start`() throws
  {
    let (left, model) = try killed()
    let sequence = (model.events.last?.sequence ?? 0) + 1
    func opened() throws -> (TemporaryDirectory, SessionStore) {
      let directory = left.copy()
      try open(directory).close()
      return (directory, try open(directory))
    }
    let (counted, first) = try opened()
    let reads = DiskFaults.reads(in: counted) { _ = use(first, session(1), event(sequence)) }
    #expect(reads > 10)
    for after in 0..<reads {
      let comment = Comment(rawValue: "read \(after) of \(reads)")
      let (directory, store) = try opened()
      var model = model
      var committed = false
      DiskFaults.during([.read], in: directory, error: EIO, after: after, count: 1) {
        let answer = use(store, session(1), event(sequence))
        committed = answer.committed
        #expect(answer.error == nil || answer.error?.kind == .io, comment)
      }
      if !committed { #expect(use(store, session(1), event(sequence)).error == nil, comment) }
      #expect(store.damage == nil, comment)
      model.apply([.session(session(1)), event(sequence)])
      try expectServed(store, model, comment)
      store.close()
      try expectWhole(directory, model, comment)
    }
  }
}
