package import SceneModel

/// What must survive: sessions, deliveries, events, preferences, and who has to be told what.
///
/// **The log.** `commit` appends its records to a log, in one transaction, and that is all that a caller waits for.
/// It reads no row and touches no index, so it costs the same at ten sessions and at a hundred thousand. What the log
/// says is written to rows behind it, some hundreds of entries at a time (`settle`), and kept in memory until then
/// (`Tail`). What is opened after a crash replays that part of the log, and no more.
///
/// One owner, one thread. Nothing here waits, has a timer, or knows the time.
package final class SessionStore {
  /// Where the store was corrupt: what its files are called now, and why. A new store was begun.
  package let setAside: SetAside?
  /// What was passed over, for whoever looks after the machine: rows and entries that do not parse. They are still in
  /// the file.
  package private(set) var problems: [String]

  let durability: Durability
  /// Whether a commit costs more than what is committed.
  package var writesToDisk: Bool { durability != .memory }
  let history: HistoryLimits
  let rules: ReadingRules
  let schema: Schema
  let directory: StoreDirectory?

  var connection: Connection
  var ledger: Ledger
  var tail: Tail
  /// The last entry of the log.
  var position: Int64
  /// The number of the newest event that there was; 0 where there was none.
  package internal(set) var lastEventSequence: UInt64
  /// Entries that did not parse when they were replayed. They stay in the log.
  var unreadable: [Int64]
  /// The latest moment that anyone told of.
  var now: Instant
  /// How long the tail is when it is next tried to write it to rows.
  var settlesAt = SessionStore.batch
  /// How many frames the write-ahead log had when the last transaction succeeded; 0 where the file itself has
  /// everything, `nil` where it is not known.
  var acknowledgedFrames: Int64?
  /// What is private may stand in the write-ahead log.
  var logHasPrivate = true
  /// Why nothing more is taken; `nil` while all is well.
  package internal(set) var damage: StoreError?
  /// Used again and again, so that nothing is allocated for it.
  var body = LogBodyWriter()

  enum Connection {
    case open(Database)
    /// An error left doubt about what is on the disk. It is mended before anything else happens.
    case doubtful(StoreError)
    case closed
  }

  /// Entries that are written to rows together, where the owner did not find a quiet moment for it before. More of them
  /// are a longer burst that nothing is added to, and share the pages of rows; fewer are a shorter pause (these take some
  /// ten milliseconds), and less to replay.
  package static let batch = 4096

  /// Bytes of entries that are kept in memory, for the same reasons. A payload may be larger, and is written to its
  /// row at once.
  static let batchBytes = 2 << 20

  /// What is reported; a broken file could have a hundred thousand.
  static let maximumProblems = 100

  package struct SetAside: Hashable, Sendable {
    package let path: String
    /// A sentence without its full stop.
    package let reason: String
  }

  /// Opens the store in a directory, or begins one.
  ///
  /// - Parameters:
  ///   - path: a directory, made where it is missing. `Durability.memory` does without.
  ///   - now: what a file that is set aside is called after.
  package init(
    directory path: String, durability: Durability = .full, history: HistoryLimits = HistoryLimits(),
    rules: ReadingRules, at now: Instant, schema: Schema = .current
  ) throws(StoreError) {
    let directory = durability == .memory ? nil : try StoreDirectory(path)
    let opened: OpenedFile
    (opened, setAside) = try SessionStore.open(directory, at: now) { () throws(StoreError) in
      try OpenedFile(directory, durability, schema, rules)
    }
    self.directory = directory
    self.durability = durability
    self.history = history
    self.rules = rules
    self.schema = schema
    self.now = now
    connection = .open(opened.database)
    ledger = opened.ledger
    tail = opened.tail
    position = opened.position
    lastEventSequence = opened.lastEvent
    unreadable = opened.unreadable
    problems = opened.problems
    takeOver(opened.database)
    directory?.rememberFiles()
  }

  /// Whether a store could be opened in a directory, as far as that can be seen while another process has it. The directory is made.
  package static func check(directory path: String) throws(StoreError) { try StoreDirectory.check(path, .current) }

  /// Opens the file, and once more where that failed: a disk that failed to read once may read the next time, and what was read wrong once is no
  /// damage. A file is set aside where it was opened anew, looked through, and found corrupt again. The store that is then begun is empty.
  private static func open(
    _ directory: StoreDirectory?, at now: Instant, _ open: () throws(StoreError) -> OpenedFile
  ) throws(StoreError) -> (OpenedFile, SetAside?) {
    var failures: [StoreError] = []
    while true {
      do throws(StoreError) {
        return (try open(), nil)
      } catch {
        // Looking at a file leaves an empty log beside it.
        directory?.removeEmptyLog()
        guard let directory, error.kind == .corrupt || error.kind == .io else { throw error }
        let isFirst = !failures.contains { $0.kind == error.kind }
        failures.append(error)
        if error.kind == .corrupt { directory.rememberDoubt() }
        if isFirst { continue }
        if error.kind == .io { throw error }
        break
      }
    }
    guard let directory, let first = failures.first(where: { $0.kind == .corrupt }) else {
      preconditionFailure("a store is set aside without a reason")
    }
    let setAside = SetAside(path: try directory.setAside(at: now), reason: first.message)
    directory.forgetDoubt()
    var begun = try open()
    try begun.beginEvents(after: now)
    return (begun, setAside)
  }

  /// After a crash the write-ahead log is still there, of a length that nobody told us: the file takes it in.
  private func takeOver(_ database: Database) {
    acknowledgedFrames = database.framesInLog
    guard acknowledgedFrames == 0, let directory, directory.hasWriteAheadLog else { return }
    do throws(StoreError) {
      try database.checkpoint()
      acknowledgedFrames = database.framesInLog
    } catch {
      acknowledgedFrames = nil
      failed(error, database)
    }
  }

  /// Writes what is not in rows yet, and leaves one file. Without it nothing is lost either.
  package func close() {
    try? settle()
    // Only a connection that nothing went wrong with may tidy up; settling may have made it another one.
    if case .open(let database) = connection {
      if database.isSuspect {
        // Nobody asked again, so nobody has looked.
        directory?.rememberDoubt()
      } else if damage == nil {
        database.letCloseCheckpoint()
      }
      database.close()
    }
    connection = .closed
    // Mending leaves a log, also where nothing is in it.
    directory?.removeEmptyLog()
    directory?.release()
  }

  /// The connection, mended where that is needed.
  func database() throws(StoreError) -> Database {
    switch connection {
    case .open(let database): return database.isSuspect && damage == nil ? try lookAgain(database) : database
    case .doubtful(let error): return try mend(after: error)
    case .closed: throw StoreError(.other, "the store is closed")
    }
  }

  func report(_ problem: String) {
    if problems.count < SessionStore.maximumProblems, !problems.contains(problem) { problems.append(problem) }
  }
}
