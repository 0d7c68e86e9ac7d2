import Glibc
import SceneModel
import SessionStore
import StoreTestSupport
import Testing

struct OpeningTests {
  private let directory = TemporaryDirectory()

  // MARK: One owner, and nobody else

  @Test func `the directory and the files are their owner's alone, also where others could read them before`() throws {
    chmod(directory.path, 0o755)
    for sequence: UInt64 in 1...2 {
      let store = try open(directory)
      try store.commit([event(sequence)], at: noon)
      #expect(directory.mode() == 0o700)
      #expect(directory.names == ["lock", "stagedoor.db", "stagedoor.db-reserve", "stagedoor.db-wal"])
      for name in directory.names { #expect(directory.mode(of: name) == 0o600, "\(name)") }
      for name in directory.names { chmod("\(directory.path)/\(name)", 0o644) }
    }
  }

  @Test(arguments: [
    "lock", "stagedoor.db", "stagedoor.db-wal", "stagedoor.db-journal", "stagedoor.db-shm", "stagedoor.db-doubt",
    "stagedoor.db-wal-mended", "stagedoor.db-reserve",
  ])
  func `what is no file is refused where a file of the store belongs, is never waited for, and leads nowhere`(
    name: String
  ) throws {
    try leave([event(1)], in: directory)
    let (path, before, elsewhere) = (
      "\(directory.path)/\(name)", directory.bytes(of: "stagedoor.db"), TemporaryDirectory()
    )
    let other = elsewhere.write("precious".utf8, to: "other")
    chmod(other, 0o644)
    let isStore = name == "stagedoor.db"
    for kind in isStore ? [S_IFLNK] : [S_IFIFO, S_IFDIR, S_IFLNK] {
      remove(path)
      switch kind {
      case S_IFIFO: #expect(mkfifo(path, 0o600) == 0)
      case S_IFDIR: #expect(mkdir(path, 0o700) == 0)
      default: #expect(symlink(other, path) == 0)
      }
      let what =
        kind == S_IFLNK
        ? "is a symbolic link; put the file itself there, or link to the directory"
        : "is no file; take it away, and start stagedoord again"
      let opening = failure(of: try open(directory))
      // A process that would replace another learns this before the other one has ended.
      let checking = failure(of: try SessionStore.check(directory: directory.path))
      #expect(opening?.message == "\(path): \(what)")
      #expect(checking?.message == opening?.message)
      #expect(isStore || directory.bytes(of: "stagedoor.db") == before)
      #expect(elsewhere.mode(of: "other") == 0o644 && elsewhere.bytes(of: "other") == Array("precious".utf8))
    }
    remove(path)
    if isStore { directory.write(before, to: name) }
    let store = try open(directory)
    #expect((store.setAside, store.lastEventSequence) == (nil, 1))
  }

  @Test func `a pipe in the place of the store is set aside, and is never waited for`() throws {
    mkfifo(directory.path + "/stagedoor.db", 0o600)
    try SessionStore.check(directory: directory.path)
    #expect(try open(directory).setAside?.reason == "\(directory.path)/stagedoor.db: it is no file")
  }

  @Test func `a directory with others' files that others may look into is refused, and stays as it is`() throws {
    directory.write([], to: "another program's")
    chmod(directory.path, 0o755)
    let expected =
      "\(directory.path): is shared with other users; give --state a directory of its own, or keep them out with \"chmod go= "
      + "\(directory.path)\""
    #expect(failure(of: try open(directory))?.message == expected)
    #expect(failure(of: try SessionStore.check(directory: directory.path))?.message == expected)
    #expect(directory.mode() == 0o755)
    #expect(directory.names == ["another program's"])
    chmod(directory.path, 0o700)
    try open(directory).commit([event(1)], at: noon)
  }

  @Test func `directories that are missing are made`() throws {
    // The directories above are shared, as a home often is.
    directory.write([], to: "another program's")
    chmod(directory.path, 0o755)
    let path = directory.path + "/state/stagedoor"
    let store = try SessionStore(directory: path, rules: rules, at: noon)
    try store.commit([event(1)], at: noon)
    #expect(directory.mode(of: "state") == 0o700)
    #expect(directory.mode(of: "state/stagedoor") == 0o700)
  }

  @Test func `two never have one store`() throws {
    let store = try open(directory)
    let error = failure(of: try open(directory))
    #expect(error?.kind == .locked)
    #expect(error?.message == "\(directory.path)/stagedoor.db: process \(getpid()) has it")
    try store.commit([event(1)], at: noon)
    store.close()
  }

  @Test
  func `a store that was closed is one file with its reserve, and the next opens it while the first is still there`()
    throws
  {
    let store = try open(directory)
    try store.commit([event(1)], at: noon)
    store.close()
    #expect(directory.names == ["lock", "stagedoor.db", "stagedoor.db-reserve"])
    #expect(try open(directory).lastEventSequence == 1)
    #expect(failure(of: try store.commit([event(2)], at: noon))?.message == "the store is closed")
  }

  @Test func `a directory that is a file is an error that names it`() {
    directory.write([1], to: "state")
    let path = directory.path + "/state"
    let error = failure(of: try SessionStore(directory: path, rules: rules, at: noon))
    #expect(error?.message == "\(path): is no directory")
  }

  @Test func `a store that may not be opened is left where it is`() throws {
    try leave([event(1)], in: directory)
    try DiskFaults.during([.open], in: directory.path, error: EACCES) {
      let error = failure(of: try open(directory))
      #expect(error?.kind == .readOnly)
      #expect(error?.message == "\(directory.path)/stagedoor.db: unable to open database file (Permission denied)")
    }
    #expect(directory.names == ["lock", "stagedoor.db", "stagedoor.db-reserve"])
    let store = try open(directory)
    #expect((store.setAside, store.lastEventSequence) == (nil, 1))
  }

  // MARK: Files that are not stores

  @Test func `an empty file is where a store begins`() throws {
    directory.write([], to: "stagedoor.db")
    let store = try open(directory)
    #expect(store.setAside == nil)
    // Somebody may have emptied the file.
    #expect(store.problems == ["\(directory.path)/stagedoor.db: was there and empty, and a store begins in it"])
    try store.commit([event(1)], at: noon)
    store.close()
    #expect(try open(directory).problems == [])
    #expect(try open(TemporaryDirectory()).problems == [])
  }

  /// A change of a store that breaks it, and the reason that is then given.
  private struct Breakage: Sendable, CustomTestStringConvertible {
    let reason: String
    var wasKilled = false
    let change: @Sendable (TemporaryDirectory) -> Void
    var testDescription: String { reason }

    init(_ reason: String, wasKilled: Bool = false, _ change: @escaping @Sendable (TemporaryDirectory) -> Void) {
      (self.reason, self.wasKilled, self.change) = (reason, wasKilled, change)
    }

    init(_ reason: String, _ sql: String) { self.init(reason) { tamper($0, sql) } }
  }

  private static let breakages = [
    Breakage("file is not a database") { directory in
      directory.write((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }, to: "stagedoor.db")
    },
    Breakage("file is not a database") { $0.write("SQLite".utf8, to: "stagedoor.db") },
    Breakage("database disk image is malformed") { directory in
      directory.write(directory.bytes(of: "stagedoor.db").prefix(9000), to: "stagedoor.db")
    },
    Breakage("it is empty", wasKilled: true) { $0.write([], to: "stagedoor.db") },
    Breakage("it is gone, and its write-ahead log is not", wasKilled: true) { unlink($0.path + "/stagedoor.db") },
    Breakage("it is no file") { directory in
      unlink(directory.path + "/stagedoor.db")
      mkdir(directory.path + "/stagedoor.db", 0o700)
    },
    Breakage("is a database of another program", "PRAGMA application_id = 1"),
    Breakage("has no version", "PRAGMA user_version = 0"),
    Breakage("its ledger is empty", "DELETE FROM ledger"),
    Breakage("its ledger does not add up", "UPDATE ledger SET first_event = 9"),
    Breakage("its ledger does not add up", "UPDATE ledger SET settled = \(Int64.max)"),
    Breakage("its ledger does not add up", "UPDATE ledger SET last_event = \(Int64.max)"),
    Breakage("its log is full", "INSERT INTO log VALUES (\(Int64.max), 6, x'')"),
  ]

  @Test(arguments: breakages)
  private func `what is broken is set aside, whole, and a new store begins`(breakage: Breakage) throws {
    let made = TemporaryDirectory()
    let broken = try open(made)
    try broken.commit((1...200).map { .session(session($0)) }, at: noon)
    let directory = breakage.wasKilled ? made.copy() : made
    broken.close()
    breakage.change(directory)
    let before = directory.names.filter { $0 != "lock" && $0 != "stagedoor.db-reserve" }.map { directory.bytes(of: $0) }
    let store = try open(directory)
    let setAside = try #require(store.setAside)
    #expect(setAside.path == "\(directory.path)/stagedoor.db-set-aside-20260501T120000Z")
    #expect(setAside.reason.hasPrefix("\(directory.path)/stagedoor.db: "), "\(setAside.reason)")
    #expect(setAside.reason.hasSuffix(breakage.reason), "\(setAside.reason)")
    #expect(directory.names.filter { $0.hasPrefix("stagedoor.db-set-aside") }.map { directory.bytes(of: $0) } == before)

    #expect(try store.sessionCounts().isEmpty)
    // Nobody knows how many records there were.
    let last = store.lastEventSequence
    #expect(last == UInt64(noon.microseconds))
    try store.commit([event(last + 1)], at: noon)
    store.close()
    let next = try open(directory)
    #expect(next.setAside == nil)
    #expect(next.lastEventSequence == last + 1)
  }

  @Test func `a second broken store does not take the name of the first`() throws {
    for _ in 0..<3 {
      directory.write(Array("no database, but longer than a header".utf8), to: "stagedoor.db")
      let store = try open(directory)
      #expect(store.setAside != nil)
      store.close()
    }
    let name = "stagedoor.db-set-aside-20260501T120000Z"
    #expect(directory.names.filter { $0.hasPrefix(name) } == [name, name + "-2", name + "-3"])
  }

  // MARK: Versions

  private static let next = Schema(steps: Schema.current.steps + ["ALTER TABLE session ADD COLUMN later TEXT"])

  @Test func `a later version's store is not touched`() throws {
    for isKilled in [false, true] {
      var directory = TemporaryDirectory()
      let store = try open(directory, schema: OpeningTests.next)
      try store.commit([event(1)], at: noon)
      if isKilled { directory = directory.copy() } else { store.close() }
      let names = directory.names.filter { $0 != "lock" }
      let before = names.map { directory.bytes(of: $0) }
      let error = failure(of: try open(directory))
      #expect(error?.kind == .newer)
      #expect(
        error?.message
          == "\(directory.path)/stagedoor.db: has version \(OpeningTests.next.steps.count), of a later Stagedoor; this one knows "
          + "\(Schema.current.steps.count). It was left as it is: start the later one, or give this one another --state"
      )
      // The content of the write-ahead log cannot be seen before the store is opened.
      if !isKilled { #expect(failure(of: try SessionStore.check(directory: directory.path)) == error) }
      #expect(directory.names.filter { $0 != "lock" } == names)
      #expect(names.map { directory.bytes(of: $0) } == before)
      #expect(try open(directory, schema: OpeningTests.next).lastEventSequence == 1)
    }
  }

  @Test func `steps are one transaction: where the last fails, none was made`() throws {
    try leave([.session(session(1))], in: directory)
    let broken = Schema(steps: OpeningTests.next.steps + ["CREATE TABLE session (twice)"])
    let error = failure(of: try open(directory, schema: broken))
    #expect(error?.kind == .other)
    #expect(error?.message == "\(directory.path)/stagedoor.db: table session already exists")
    #expect(try open(directory).session(session(1).identifier) == session(1))
  }
}
