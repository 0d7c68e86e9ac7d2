import SceneModel
import SceneTestSupport
import SessionStore
import Testing

/// What remains of a store if its process is killed or its machine loses power: the write-ahead log ends somewhere.
struct CrashTests {
  /// A store, and what it had acknowledged at each length of its write-ahead log.
  private struct History {
    let directory = TemporaryDirectory()
    var acknowledged: [(length: Int, model: StoreModel)] = []

    init(seed: UInt64) throws {
      var generator = RecordGenerator(seed: seed)
      var model = StoreModel()
      let store = try open(directory)
      acknowledged.append((directory.size(of: "stagedoor.db-wal"), model))
      for step in 0..<25 {
        try generator.commit(to: store, &model)
        acknowledged.append((directory.size(of: "stagedoor.db-wal"), model))
        if step % 10 == 9 { try store.writeRows() }
      }
    }

    /// What the store must have if nothing after this byte was written.
    func model(at length: Int) -> StoreModel { acknowledged.last { $0.length <= length }?.model ?? StoreModel() }
  }

  @Test(arguments: 0..<seeds)
  func `a log that was cut anywhere has each commit that it holds whole, and no half one`(seed: UInt64) throws {
    let history = try History(seed: seed)
    var random = SeededRandom(seed: seed)
    let whole = try #require(history.acknowledged.last).length
    #expect(whole > 0)
    var lengths = (0..<20).map { _ in random.below(whole + 1) } + [0, 1, 31, 32, 33, whole - 1, whole]
    // Cut at each commit, one byte before it, and one byte after it.
    lengths += history.acknowledged.suffix(8).flatMap { [$0.length - 1, $0.length, $0.length + 1] }
    for length in lengths {
      let copy = history.directory.copy(walLength: length)
      try expectSame(try open(copy), history.model(at: length), "seed \(seed), \(length) bytes")
    }
  }

  @Test func `what is replayed after a kill is no longer than a batch`() throws {
    var directory = TemporaryDirectory()
    for round: UInt64 in 0..<12 {
      let store = try open(directory)
      for number: UInt64 in 1...100 { try store.commit([event(100 * round + number)], at: noon) }
      directory = directory.copy()
    }
    tamper(
      directory, "CREATE TABLE few AS SELECT count(*) FROM log; CREATE TABLE t (n CHECK (n < \(SessionStore.batch)));")
    tamper(directory, "INSERT INTO t SELECT count(*) FROM log")
  }
}
