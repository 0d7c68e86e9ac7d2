import SceneModel
import SceneTestSupport
import SessionStore
import StoreTestSupport
import Testing

/// A store of an earlier version, and a process that is killed during the migration.
struct MigrationTests {
  /// A store that the version has left, and its content: sessions in rows, sessions in the log alone, and everything else.
  private func left(by version: Int, killed isKilled: Bool) throws -> (directory: TemporaryDirectory, model: StoreModel)
  {
    var generator = RecordGenerator(seed: 17, version: version)
    var model = StoreModel()
    let directory = TemporaryDirectory()
    let store = try open(directory)
    for step in 0..<60 {
      let records = generator.records()
      // An earlier version has one entry in each row of the log.
      for record in records { try store.commit([record], at: generator.now) }
      model.apply(records, at: generator.now)
      if step == 40 { try store.writeRows() }
    }
    // The store is not closed, so its last records are in no row.
    return (try directory.copy().asVersion(version, killed: isKilled), model.stored(by: version))
  }

  /// The index entries that this version makes for each session.
  private func filed(_ model: StoreModel) throws -> TemporaryDirectory {
    let fresh = TemporaryDirectory()
    let store = try open(fresh)
    try store.commit(model.sessionsByAge.map { .session($0) }, at: noon)
    store.close()
    return fresh
  }

  /// Everything is there, and each session is indexed once.
  private func expectMigrated(
    _ directory: TemporaryDirectory, _ model: StoreModel, _ filed: TemporaryDirectory, _ comment: Comment
  ) throws {
    let store = try open(directory)
    #expect(store.setAside == nil, comment)
    try expectSame(store, model, comment)
    store.close()
    let keys = "SELECT session, application, key FROM"
    tamper(
      directory,
      """
      ATTACH '\(filed.path)/stagedoor.db' AS filed; CREATE TEMP TABLE zero (n CHECK (n = 0));
      INSERT INTO zero SELECT count(*) FROM (\(keys) condition_key EXCEPT \(keys) filed.condition_key);
      INSERT INTO zero SELECT count(*) FROM (\(keys) filed.condition_key EXCEPT \(keys) condition_key)
      """)
  }

  @Test func `a new file has the format that the migrations make`() throws {
    let (new, migrated) = (TemporaryDirectory(), TemporaryDirectory())
    try open(new).close()
    try open(migrated, schema: Schema(steps: Schema.current.steps)).close()
    let format = "SELECT type, name, replace(replace(replace(sql, ' ', ''), char(10), ''), '\"', '') FROM"
    tamper(
      new,
      """
      ATTACH '\(migrated.path)/stagedoor.db' AS migrated; CREATE TEMP TABLE zero (n CHECK (n = 0));
      INSERT INTO zero SELECT count(*) FROM (\(format) main.sqlite_master EXCEPT \(format) migrated.sqlite_master);
      INSERT INTO zero SELECT count(*) FROM (\(format) migrated.sqlite_master EXCEPT \(format) main.sqlite_master);
      INSERT INTO zero SELECT count(*) FROM (SELECT * FROM main.ledger EXCEPT SELECT * FROM migrated.ledger)
      """)
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7], [false, true])
  func `a migration whose log was cut anywhere is made whole by the next`(version: Int, wasKilled: Bool) throws {
    let (earlier, model) = try left(by: version, killed: wasKilled)
    let (migrated, filed) = (earlier.copy(), try filed(model))
    let store = try open(migrated)
    try expectSame(store, model)
    #expect(migrated.bytes(of: "stagedoor.db") == earlier.bytes(of: "stagedoor.db"), "all of it is in the log")
    let (before, whole) = (earlier.size(of: "stagedoor.db-wal"), migrated.size(of: "stagedoor.db-wal"))
    try #require(wasKilled == (before > 0) && whole > before)
    var random = SeededRandom(seed: 5)
    let lengths = (0..<4).map { _ in before + random.below(whole - before) } + [before, before + 1, whole - 1, whole]
    for length in lengths {
      try expectMigrated(migrated.copy(walLength: length), model, filed, "\(length) of \(whole) bytes, after \(before)")
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7])
  func `of a private session that is discarded afterwards no byte is left in any file`(version: Int) throws {
    let directory = TemporaryDirectory()
    var store = try open(directory)
    var secret = session(1)
    secret.isPrivate = true
    secret.userInfo = ["x": .string(Text(String(repeating: "s3cr3t", count: 2_000)))]
    try store.commit([.session(secret), .session(session(2))], at: noon)
    store.close()
    let migrated = try directory.asVersion(version)
    store = try open(migrated)
    try store.commit([.sessionDiscarded(secret.identifier)], at: noon)
    while try !store.rest(at: noon) {}
    #expect(migrated.files(with: "s3cr3ts3cr3t") == [])
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7], [false, true])
  func `one that is killed at any write, or at the log's move, has lost nothing`(version: Int, wasKilled: Bool) throws {
    let (earlier, model) = try left(by: version, killed: wasKilled)
    let filed = try filed(model)
    var random = SeededRandom(seed: 6)
    var writes = 0
    var left: [(write: Int, directory: TemporaryDirectory)] = []
    try DiskFaults.beforeEachWrite(in: earlier.path) {
      writes += 1
      if random.once(in: 25) { left.append((writes, earlier.copy())) }
    } during: {
      let store = try open(earlier)
      store.close()
    }
    #expect(left.count > 2)
    for (write, directory) in left { try expectMigrated(directory, model, filed, "write \(write) of \(writes)") }
    try expectMigrated(earlier, model, filed, "the last of \(writes) writes")
  }
}
