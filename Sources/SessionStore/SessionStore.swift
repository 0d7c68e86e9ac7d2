package import SceneModel

/// The data that must survive: sessions, deliveries, events, preferences, and the news that hosts must still hear.
///
/// **The log.** `commit` appends its records to a log, in one transaction, and the caller waits for nothing else. It reads no row and touches no
/// index, so it costs the same at ten sessions and at a hundred thousand. The entries are written to rows later, some thousands at a time (`writeRows`),
/// and stay in memory until then (`Tail`). After a crash, opening the store replays this part of the log, and no more.
///
/// One owner, one thread. The store never waits, has no timer, and does not know the time.
package final class SessionStore {
  /// If the store was corrupt: the new name of its files, and the reason. The store is then a new one.
  package let setAside: SetAside?
  /// The ignored rows and entries that do not parse, for the administrator of the machine. They are still in the file.
  package private(set) var problems: [String]

  let durability: Durability
  let history: HistoryLimits
  let rules: ReadingRules
  let schema: Schema
  let directory: StoreDirectory?
  /// The name in messages.
  private let name: String

  var connection: Connection
  var ledger: Ledger
  // Only one thread uses the store, and no access to these spans a call to other code: checking that at run time could find nothing.
  @exclusivity(unchecked) var tail: Tail
  /// The last entry of the log.
  @exclusivity(unchecked) var position: Int64
  /// The number of the newest event so far; 0 if there was none.
  package internal(set) var lastEventSequence: UInt64
  /// Replayed entries that did not parse. They stay in the log, each in a row of its own.
  var unreadable: [LogEntry]
  /// The time that the last call gave.
  var now: Instant
  /// The size of the tail at which writing to rows is tried next.
  var writesRowsAt = SessionStore.fullBatch
  /// The number of frames in the write-ahead log after the last successful transaction; 0 if the file has everything, `nil` if it is unknown.
  var acknowledgedFrames: Int64?
  /// Whether the first commit begins the write-ahead log, and syncs it.
  var logIsNew = false
  /// Whether the write-ahead log may have private content.
  var logHasPrivate = true
  /// The reason why the store takes no more records; `nil` while all is well.
  package internal(set) var damage: StoreError?
  /// Reused, so that it needs no new allocation. No `put` reaches the store, so no two accesses overlap.
  @exclusivity(unchecked) var body = LogBodyWriter()

  enum Connection {
    case open(Database)
    /// An error left doubt about the contents of the disk. The store repairs this before anything else.
    case doubtful(StoreError)
    case closed
  }

  /// Entries that are written to rows together, if the owner had no idle time before. With more entries, a longer burst needs no writing to rows, and
  /// rows share pages; with fewer, the pause is shorter (these take some ten milliseconds), and there is less to replay.
  package static let batch = 4096

  /// The bytes of entries that are kept in memory, for the same reasons. A larger payload is written to its row at once.
  static let batchBytes = 2 << 20
  static let fullBatch = (count: batch, bytes: batchBytes)

  /// The most problems that are reported; a broken file could have a hundred thousand.
  static let maximumProblems = 100

  package struct SetAside: Hashable, Sendable {
    package let path: String
    /// A sentence without its full stop.
    package let reason: String
  }

  /// Opens the store in a directory, or begins one.
  ///
  /// - Parameters:
  ///   - path: The directory, which is made if it is missing. `Durability.memory` ignores it.
  ///   - now: The time in the name of a file that is set aside.
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
    name = opened.database.name
    connection = .open(opened.database)
    ledger = opened.ledger
    tail = opened.tail
    position = opened.position
    lastEventSequence = opened.lastEvent
    unreadable = opened.unreadable
    problems = opened.problems
    takeOver(opened.database)
    directory?.keepReserve()
    directory?.rememberFiles()
  }

  // After it could not be read, the store may be let go without `close()`.
  deinit { rememberSuspicion() }

  /// Nobody has called again since SQLite reported damage, so nobody has checked.
  private func rememberSuspicion() {
    if case .open(let database) = connection, database.isSuspect { directory?.rememberDoubt() }
  }

  /// Checks whether a store could be opened in a directory, as far as this can be seen while another process has it. The directory is made.
  package static func check(directory path: String) throws(StoreError) { try StoreDirectory.check(path, .current) }

  /// Opens the file, and once more if that failed: a disk that failed to read once may succeed the next time, and one wrong read is no damage. A file
  /// is set aside only if it was opened anew, checked, and found corrupt again. The store is then a new, empty one.
  private static func open(
    _ directory: StoreDirectory?, at now: Instant, _ open: () throws(StoreError) -> OpenedFile
  ) throws(StoreError) -> (OpenedFile, SetAside?) {
    var failures: [StoreError] = []
    // The service ended after it had set a store aside, and before it began the new one.
    let isUnfinished = directory?.hasLostFile ?? false
    while true {
      do throws(StoreError) {
        var opened = try open()
        if isUnfinished { try opened.beginEvents(after: now) }
        return (opened, nil)
      } catch {
        // A new version of the store needs some space.
        if error.kind == .full, directory?.giveUpReserve() ?? false { continue }
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

  /// After a crash the write-ahead log still has a content, of unknown length, which moves into the file.
  private func takeOver(_ database: Database) {
    acknowledgedFrames = database.framesInLog
    guard acknowledgedFrames == 0, let directory else { return }
    if !directory.hasWriteAheadLog {
      logIsNew = durability == .full
      return
    }
    do throws(StoreError) {
      try database.checkpoint()
      acknowledgedFrames = database.framesInLog
    } catch {
      acknowledgedFrames = nil
      failed(error, database)
    }
  }

  /// Writes all entries to rows, and leaves one file. Nothing is lost without this call.
  package func close() {
    try? writeRows()
    rememberSuspicion()
    // Only a connection without an error may tidy up; settling may have replaced it.
    if case .open(let database) = connection {
      if !database.isSuspect, damage == nil { database.letCloseCheckpoint() }
      database.close()
    }
    connection = .closed
    // Mending leaves a log, even an empty one.
    directory?.removeEmptyLog()
    directory?.release()
  }

  /// The connection, repaired if necessary.
  func database() throws(StoreError) -> Database {
    switch connection {
    case .open(let database): return database.isSuspect && damage == nil ? try lookAgain(database) : database
    case .doubtful(let error): return try mend(after: error)
    case .closed: throw StoreError(.other, "the store is closed")
    }
  }

  /// Reports something in the file that does not parse.
  func passOver(_ what: String, _ malformed: Malformed) {
    let problem = "\(name): \(what) is passed over: \(malformed.reason)"
    if problems.count < SessionStore.maximumProblems, !problems.contains(problem) { problems.append(problem) }
  }
}
