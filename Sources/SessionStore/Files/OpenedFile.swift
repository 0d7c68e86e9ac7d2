import SceneModel

/// A file that looks like one of our stores, with its contents.
struct OpenedFile {
  let database: Database
  private(set) var ledger: Ledger
  /// The entries that the log has and the rows do not.
  private(set) var tail = Tail()
  private(set) var position: Int64
  private(set) var lastEvent: UInt64
  private(set) var unreadable: [LogEntry] = []
  private(set) var problems: [String] = []

  /// - Parameter looksThrough: Whether a doubtful file is checked first. A file that is known to be damaged is not.
  init(
    _ directory: StoreDirectory?, _ durability: Durability, _ schema: Schema, _ rules: ReadingRules,
    looksThrough: Bool = true
  ) throws(StoreError) {
    if let directory { problems = try OpenedFile.prepare(directory) }
    database = try Database(path: directory?.file)
    if database.isReadOnly { throw StoreError(.readOnly, "\(database.name): may not be written") }
    // No other process uses the file, so SQLite's index of its log is in memory, and looking at a file writes nothing.
    try database.execute("PRAGMA locking_mode = EXCLUSIVE")
    let version = try OpenedFile.version(of: database, schema)
    try OpenedFile.configure(database, durability)
    if version < schema.version { try schema.migrate(database, from: version, rules) }
    if let directory, directory.isDoubted, looksThrough {
      try OpenedFile.lookThrough(database)
      directory.forgetDoubt()
    }
    ledger = try Ledger(database)
    position = ledger.settled
    lastEvent = UInt64(ledger.lastEvent)
    try replay(rules)
  }

  /// Prepares the directory. Returns the sentences to report.
  private static func prepare(_ directory: StoreDirectory) throws(StoreError) -> [String] {
    switch try directory.content() {
    case .somethingElse(let reason): throw StoreError(.corrupt, "\(directory.file): \(reason)")
    case .nothing:
      let wasSetAside = directory.hasLostFile
      try directory.makeFile()
      if wasSetAside { return ["\(directory.file): the store was broken and is set aside, and a new one is begun"] }
    case .emptyFile:
      try directory.makeFile()
      return ["\(directory.file): was there and empty, and a store begins in it"]
    case .file: try directory.restrictFiles()
    }
    return []
  }

  /// Only reads, so a file of a later version or of another program stays as it is.
  private static func version(of database: Database, _ schema: Schema) throws(StoreError) -> Int64 {
    let application = try database.number("PRAGMA application_id") ?? 0
    let version = try database.number("PRAGMA user_version") ?? 0
    if application == 0, version == 0, try database.number("SELECT count(*) FROM sqlite_schema") == 0 { return 0 }
    if application != Schema.application {
      throw StoreError(.corrupt, "\(database.name): is a database of another program")
    }
    if version < 1 { throw StoreError(.corrupt, "\(database.name): has no version") }
    if version > schema.version { throw .newer(database.name, version, schema) }
    return version
  }

  private static func configure(_ database: Database, _ durability: Durability) throws(StoreError) {
    // Only an empty file takes a page size. In memory nothing is written by the page, and larger pages have less to search.
    try database.execute("PRAGMA page_size = \(durability == .memory ? 4 * Schema.pageSize : Schema.pageSize)")
    if durability != .memory { try database.execute("PRAGMA journal_mode = WAL") }
    setSynchronous(database, isFull: durability == .full)
    // The cache in KiB is for the inner pages of a hundred thousand sessions, and for the pages of a batch. It grows with use and is given back.
    // Deleted bytes are overwritten when their page is written anyway. A log that grew is cut again.
    try database.execute(
      """
      PRAGMA cache_size = -4096; PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON; PRAGMA journal_size_limit = 16777216
      """)
  }

  static func setSynchronous(_ database: Database, isFull: Bool) {
    // This fails only for lack of memory, and the setting then stays.
    try? database.execute("PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")")
  }

  /// Checks the whole file, however long that takes.
  private static func lookThrough(_ database: Database) throws(StoreError) {
    var query = try database.query("PRAGMA quick_check(1)")
    if try query.step(), case .text(let answer)? = try? query.cell(), answer != "ok" {
      throw StoreError(aReadFailed ? .io : .corrupt, "\(database.name): \(answer)")
    }
  }

  /// When a new store replaces one that cannot be read, nobody knows how many events that one had. A number beyond all of them tells watchers that
  /// they have missed something, and no number comes twice. There are fewer than a million events in a second.
  mutating func beginEvents(after now: Instant) throws(StoreError) {
    let last = min(max(ledger.lastEvent, now.microseconds), Ledger.end / 2)
    (ledger.firstEvent, ledger.lastEvent, lastEvent) = (last + 1, last, UInt64(last))
    try ledger.write(database)
  }

  // MARK: The log

  private mutating func replay(_ rules: ReadingRules) throws(StoreError) {
    var query = try database.query("SELECT position, kind, body FROM log WHERE position > ? ORDER BY position")
    query.put(ledger.settled)
    while try query.step() {
      let last = query.number(at: 0)
      if last >= Ledger.end { throw StoreError(.corrupt, "\(database.name): its log is full") }
      let kind = query.number(at: 1)
      query.skip(2)
      let body = (try? query.bytes()) ?? []
      if kind == LogEntry.several {
        take(row: body, upTo: last, rules)
      } else {
        take(LogEntry(position: last, kind: kind, body: body), mayBeEvent: kind == Record.Kind.event.rawValue, rules)
      }
      position = last
    }
  }

  /// Replays a row with several entries. Their positions end at `last` and have no gaps.
  private mutating func take(row: [UInt8], upTo last: Int64, _ rules: ReadingRules) {
    let (entries, rest) = LogBodyReader.entries(of: row, after: position, upTo: last)
    for entry in entries {
      // The kind is in the same bytes, and may be damaged too.
      let mayBeEvent = Record.Kind(rawValue: entry.kind) == nil || entry.kind == Record.Kind.event.rawValue
      take(entry, mayBeEvent: mayBeEvent, rules)
    }
    let lost = last - position - Int64(entries.count)
    if lost > 0 {
      // Each of them may have been an event.
      lastEvent += UInt64(lost)
      unreadable.append(LogEntry(position: last, kind: LogEntry.several, body: rest))
    }
    if lost > 0 || !rest.isEmpty {
      report("\(lost) entries before \(last) of the log are passed over, and \(rest.count) bytes")
    }
  }

  private mutating func take(_ entry: LogEntry, mayBeEvent: Bool, _ rules: ReadingRules) {
    do throws(Malformed) {
      let record = try Record(entry.kind, entry.body, rules)
      if case .event(let event) = record { lastEvent = max(lastEvent, event.sequence) }
      tail.apply(record, at: entry.position, bytes: entry.body.count)
    } catch {
      // The event is lost, but it used its number.
      if mayBeEvent { lastEvent += 1 }
      unreadable.append(entry)
      report("entry \(entry.position) of the log is passed over: \(error.reason)")
    }
  }

  private mutating func report(_ problem: String) {
    if problems.count < SessionStore.maximumProblems { problems.append("\(database.name): \(problem)") }
  }
}
