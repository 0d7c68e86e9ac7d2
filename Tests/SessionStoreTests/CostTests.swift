import SceneModel
import SessionStore
import StoreTestSupport
import Testing

/// The cost of a commit and of an opening, counted in pages rather than in time: it must not grow with the number of sessions.
struct CostTests {
  private func store(of count: UInt64) throws -> TemporaryDirectory {
    let directory = TemporaryDirectory()
    try leave((1...count).map { .session(session($0)) }, in: directory)
    return directory
  }

  /// The bytes that go to the disk until a hundred activations of sessions all over the store are acknowledged. They need no read.
  private func bytesOfActivations(among count: UInt64) throws -> Int {
    let directory = try store(of: count)
    let store = try open(directory)
    try store.commit([event(1)], at: noon)
    let before = directory.size(of: "stagedoor.db-wal")
    let reads = try DiskFaults.reads(in: directory.path) {
      for number: UInt64 in 0..<100 {
        let activation = SessionActivation(
          session: session(1 + number * count / 100).identifier, at: instant(Int64(number)))
        try store.commit([.sessionActivated(activation)], at: noon)
      }
    }
    #expect(reads == 0)
    return directory.size(of: "stagedoor.db-wal") - before
  }

  @Test func `an activation reads nothing, and writes as much among many sessions as among few`() throws {
    #expect(try bytesOfActivations(among: 5000) == bytesOfActivations(among: 10))
  }

  @Test func `a session that was read is not read again, unless long ones were read after it`() throws {
    let directory = TemporaryDirectory()
    var store = try open(directory)
    // Longer than SQLite's page cache.
    let much = Text(String(repeating: "x", count: 6 << 20))
    for number: UInt64 in 1...4 {
      var session = session(number)
      if number > 2 { session.userInfo = ["x": .string(much)] }
      try store.commit([.session(session)], at: noon)
    }
    store.close()
    store = try open(directory)
    func reads(_ number: UInt64) throws -> Int {
      try DiskFaults.reads(in: directory.path) { _ = try store.session(session(number).identifier) }
    }
    #expect(try reads(1) > 0)
    #expect(try reads(3) > 0)
    #expect(try reads(3) == 0)
    #expect(try reads(4) > 0)
    #expect(try reads(3) > 0)
  }

  @Test func `opening reads as much of a store of many sessions as of one of few`() throws {
    var reads: [Int] = []
    for count: UInt64 in [10, 5000] {
      let directory = try store(of: count)
      reads.append(
        try DiskFaults.reads(in: directory.path) {
          let store = try open(directory)
          try store.commit([event(1)], at: noon)
        })
    }
    #expect(reads[0] > 0)
    #expect(reads[1] == reads[0])
  }

  @Test func `what is concerned with a key is found without a look at what is not`() throws {
    let directory = try store(of: 5000)
    let store = try open(directory)
    var waiting = session(6000)
    waiting.canActivatePredicate = "SELF == 'photo-77'"
    try store.commit([.session(waiting)], at: noon)
    try store.writeRows()
    let reads = try DiskFaults.reads(in: directory.path) {
      let found = try store.sessions(of: "org.example.A", concernedWith: "photo-77", limit: 9)
      #expect(found.map(Set.init) == [session(77), waiting])
      #expect(try store.sessions(of: "org.example.A", concernedWith: "photo-none", limit: 9) == [])
    }
    #expect(reads < 20)
  }

  @Test func `a session that is chosen and shows what it showed is where it was in every index`() throws {
    let directory = try store(of: 5000)
    let store = try open(directory)
    /// The pages that are written when sessions all over the store get something to show.
    func pages(showing key: (UInt64) -> Text) throws -> Int {
      let before = directory.size(of: "stagedoor.db-wal")
      let activations = stride(from: 1 as UInt64, to: 5000, by: 100).map { number in
        let activity = UserActivity(activityType: "org.example.show", targetContentIdentifier: key(number))
        return SessionActivation(session: session(number).identifier, at: noon, userActivity: activity)
      }
      try store.commit(activations.map { .sessionActivated($0) }, at: noon)
      try store.writeRows()
      return (directory.size(of: "stagedoor.db-wal") - before) / 4096
    }
    try store.commit([event(1)], at: noon)
    let same = try pages { Text("photo-\($0)") }
    let others = try pages { Text("another-\($0)") }
    #expect(others > same + 20, "\(same) and \(others)")
  }
}
