import Glibc
import SceneModel
import SessionStore
import StoreTestSupport
import Testing

struct DiskErrorTests {
  private let directory = TemporaryDirectory()

  /// The laws over generated records look at what is left meanwhile.
  @Test(arguments: [ENOSPC, EDQUOT])
  func `a full disk and a quota that is used up refuse, and the store goes on when there is room`(error: Int32) throws {
    let store = try open(directory)
    try store.commit([.session(session(1))], at: noon)
    try store.writeRows()
    try DiskFaults.during([.write], in: directory.path, error: error) {
      let refusal = failure(of: try store.commit([event(1)], at: noon))
      #expect(refusal?.kind == .full)
      if error == ENOSPC { #expect(refusal?.message == "\(directory.path)/stagedoor.db: database or disk is full") }
      #expect(try store.session(session(1).identifier) == session(1))
    }
    try store.commit([event(1)], at: noon)
  }

  @Test(arguments: [ENOSPC, EDQUOT])
  func `on a full disk the release of contents is stored all the same, in the space that is kept for it`(
    error: Int32
  ) throws {
    let store = try open(directory)
    let reserve = "stagedoor.db-reserve"
    #expect(directory.size(of: reserve) == 256 << 10)
    DiskFaults.during([.write], in: directory.path, error: error, count: 1) {
      #expect(failure(of: try store.commit([event(1)], at: noon))?.kind == .full)
    }
    #expect(directory.size(of: reserve) == 256 << 10)
    try DiskFaults.during([.write], in: directory.path, error: error, count: 1) {
      try store.commit([.baggageReleased(session(1).identifier), event(1)], at: noon)
    }
    #expect(!TemporaryDirectory.names(in: directory.path).contains(reserve))
    DiskFaults.during([.write], in: directory.path, error: error, count: 1) {
      let release = [Record.baggageReleased(session(1).identifier)]
      #expect(failure(of: try store.commit(release, at: noon))?.kind == .full)
    }
    try store.rest(at: noon)
    #expect(directory.size(of: reserve) == 256 << 10)
    #expect(try open(directory.copy()).lastEventSequence == 1)
  }

  @Test func `a store of an earlier version opens on a full disk, in the space that is kept`() throws {
    try open(directory).close()
    let earlier = try directory.asVersion(Schema.current.steps.count - 1)
    earlier.write([UInt8](repeating: 0, count: 256 << 10), to: "stagedoor.db-reserve")
    let isRefused = try DiskFaults.during([.write], in: earlier.path, error: ENOSPC, count: 1) {
      _ = try open(earlier)
    }
    #expect(isRefused)
  }

  @Test func `after an fsync that failed the log is written anew: the kernel forgot what it could not write`() throws {
    let store = try open(directory, .full)
    try store.commit([event(1)], at: noon)
    let before = directory.inode(of: "stagedoor.db-wal")
    try DiskFaults.during([.sync], in: directory.path, error: EIO, count: 1) {
      let error = failure(of: try store.commit([event(2)], at: noon))
      #expect(error?.kind == .io)
      #expect(error?.message == "\(directory.path)/stagedoor.db: disk I/O error (Input/output error)")
    }
    #expect(try open(directory.copy(), .full).lastEventSequence == 1)
    #expect(directory.inode(of: "stagedoor.db-wal") != before)
    try store.commit([event(2)], at: noon)
    #expect(try open(directory.copy(), .full).lastEventSequence == 2)
  }

  /// The log then starts anew: its head is synced first, and then the commit.
  @Test(arguments: [0, 1])
  func `what an fsync refused right after the log was moved into the file is not found either`(after: Int) throws {
    let store = try open(directory, .full)
    let before = directory.size(of: "stagedoor.db")
    // Two batches of single commits have more frames than the log may hold.
    let count = UInt64(2 * SessionStore.batch)
    for number in 1...count { try store.commit([event(number)], at: noon) }
    #expect(directory.size(of: "stagedoor.db") > before)
    DiskFaults.during([.sync], in: directory.path, error: EIO, after: after, count: 1) {
      #expect(failure(of: try store.commit([event(count + 1)], at: noon))?.kind == .io)
    }
    let next = try open(directory.copy(), .full)
    #expect(next.lastEventSequence == count)
    #expect(try next.events(after: 0, limit: .max).count == Int(count))
    try store.commit([event(count + 1)], at: noon)
  }

  @Test(arguments: [false, true])
  func `after a kill an fsync that fails at once takes nothing, also if the disk was full`(wasFull: Bool) throws {
    var directory = TemporaryDirectory()
    var model = StoreModel()
    try open(directory, .full).commit([.session(session(1)), event(1)], at: noon)
    model.apply([.session(session(1)), event(1)])
    directory = directory.copy()
    var opened: SessionStore?
    try DiskFaults.during(wasFull ? [.write] : [], in: directory.path, error: ENOSPC) {
      opened = try open(directory, .full)
      try expectSame(try #require(opened), model)
    }
    let store = try #require(opened)
    DiskFaults.during([.sync], in: directory.path, error: EIO, count: 1) {
      #expect(failure(of: try store.commit([event(2)], at: noon))?.kind == .io)
    }
    try expectSame(try open(directory.copy(), .full), model)
    try expectSame(store, model)
    try store.commit([event(2)], at: noon)
    model.apply(event(2))
    try expectSame(try open(directory.copy(), .full), model)
  }

  @Test func `while no fsync works each commit is refused, and the first after it is not`() throws {
    let store = try open(directory, .full)
    try store.commit([event(1)], at: noon)
    var model = StoreModel()
    model.apply([event(1)])
    // Now the log cannot be written anew either.
    mkdir(directory.path + "/stagedoor.db-wal-mended", 0o700)
    DiskFaults.during([.sync], in: directory.path, error: EIO) {
      for _ in 0..<4 {
        #expect(failure(of: try store.commit([event(2)], at: noon))?.kind == .io)
        #expect(failure(of: try store.session(session(1).identifier))?.kind == .io)
      }
    }
    try expectSame(try open(directory.copy(), .full), model)
    rmdir(directory.path + "/stagedoor.db-wal-mended")
    try store.commit([event(2)], at: noon)
    model.apply([event(2)])
    try expectSame(store, model)
    try expectSame(try open(directory.copy(), .full), model)
  }

  @Test func `a log that cannot be written anew leaves no copy, and that of a process that died goes`() throws {
    let store = try open(directory, .full)
    try store.commit([event(1)], at: noon)
    let copy = directory.path + "/stagedoor.db-wal-mended"
    // It does not follow a link, and so fails.
    symlink("nowhere", copy)
    DiskFaults.during([.sync], in: directory.path, error: EIO, count: 1) {
      #expect(failure(of: try store.commit([event(2)], at: noon))?.kind == .io)
    }
    #expect(!directory.names.contains("stagedoor.db-wal-mended"))
    store.close()
    close(Glibc.open(copy, O_CREAT | O_WRONLY, 0o600))
    _ = try open(directory, .full)
    #expect(!directory.names.contains("stagedoor.db-wal-mended"))
  }

  @Test func `a batch that cannot be written to rows fails no commit, and is written later`() throws {
    let store = try open(directory)
    var model = StoreModel()
    let records = (1...UInt64(SessionStore.batch)).map { event($0) }
    try store.commit(Array(records.dropLast()), at: noon)
    // The writes of the log's own pages succeed: four writes of a frame's header and its page.
    let failed = try DiskFaults.during([.write], in: directory.path, error: ENOSPC, after: 8) {
      try store.commit([try #require(records.last)], at: noon)
    }
    #expect(failed)
    model.apply(records)
    try expectSame(store, model)
    try expectSame(try open(directory.copy()), model)
    try store.writeRows()
    try expectSame(store, model)
    store.close()
    try expectSame(try open(directory), model)
  }

  @Test(arguments: ["stagedoor.db", "stagedoor.db-wal"], [false, true])
  func `a file that goes long after the directory's last change is missed`(name: String, isReplaced: Bool) throws {
    let store = try open(directory)
    try store.commit([event(1)], at: noon)
    usleep(500_000)
    // This commit sees that the directory has not changed for a while.
    try store.commit([event(2)], at: noon)
    var status = stat()
    stat(directory.path, &status)
    let file = "\(directory.path)/\(name)"
    rename(file, file + ".away")
    if isReplaced { directory.write([], to: name) }
    // Programs that copy backups back do this.
    utimensat(AT_FDCWD, directory.path, [status.st_atim, status.st_mtim], 0)
    let error = failure(of: try store.commit([event(3)], at: noon))
    #expect(error?.message.contains("was deleted, moved or replaced") == true, "\(error?.message ?? "no error")")
    remove(file)
    rename(file + ".away", file)
    try store.commit([event(3)], at: noon)
  }
}

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
    #expect(try store.sessions(limit: .max)?.sessions == model.sessionsByAge, comment)
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
    let reads = try DiskFaults.reads(in: counted.path) { try open(counted).close() }
    #expect(reads > 50)
    for after in 0..<reads {
      let comment = Comment(rawValue: "\(failures) from read \(after) of \(reads)")
      let directory = left.copy()
      DiskFaults.during([.read], in: directory.path, error: EIO, after: after, count: failures) {
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

  @Test func `wherever a read fails in use, the next call is served, and all of it is there at the next start`() throws
  {
    let (left, model) = try killed()
    let records = [.session(session(1)), event((model.events.last?.sequence ?? 0) + 1)]
    func opened() throws -> (TemporaryDirectory, SessionStore) {
      let directory = left.copy()
      try open(directory).close()
      return (directory, try open(directory))
    }
    let (counted, first) = try opened()
    let reads = DiskFaults.reads(in: counted.path) { _ = first.work(committing: records) }
    #expect(reads > 10)
    for after in 0..<reads {
      let comment = Comment(rawValue: "read \(after) of \(reads)")
      let (directory, store) = try opened()
      var model = model
      var committed = false
      DiskFaults.during([.read], in: directory.path, error: EIO, after: after, count: 1) {
        let answer = store.work(committing: records)
        committed = answer.committed
        #expect(answer.error == nil || answer.error?.kind == .io, comment)
      }
      if !committed { #expect(store.work(committing: records).error == nil, comment) }
      #expect(store.damage == nil, comment)
      model.apply(records)
      try expectServed(store, model, comment)
      store.close()
      try expectWhole(directory, model, comment)
    }
  }
}
