import CSQLite
import Glibc
import SceneModel
import SceneTestSupport
import SessionStore
// Every test here has a directory.
@_exported import StoreTestSupport
import Testing

let noon = Instant(microseconds: 1_777_636_800_000_000)
let rules = ReadingRules(types: TypeCatalog())

/// How many seeds the generated laws run with; `make stress` runs more.
let seeds: UInt64 = isStress ? 60 : 2

func open(
  _ directory: TemporaryDirectory, _ durability: Durability = .normal, history: HistoryLimits = .init(),
  schema: Schema = .current
) throws(StoreError) -> SessionStore {
  _ = DiskFaults.install
  return try SessionStore(
    directory: directory.path, durability: durability, history: history, rules: rules, at: noon, schema: schema)
}

/// Leaves a store with these records, which is closed.
func leave(_ records: [Record], in directory: TemporaryDirectory) throws(StoreError) {
  let store = try open(directory)
  try store.commit(records, at: noon)
  store.close()
}

func session(_ number: UInt64, of application: Text = "org.example.A") -> Session {
  Session(
    identifier: UniqueIdentifier(high: number.byteSwapped &* 0x9E37_79B9_7F4A_7C15, low: number),
    application: application, configuration: "Main", created: Instant(microseconds: noon.microseconds + Int64(number)),
    title: Text("Window \(number)"),
    userActivity: UserActivity(activityType: "org.example.show", targetContentIdentifier: Text("photo-\(number)")))
}

func delivery(
  _ number: UInt64, _ state: DeliveryState = .handled, isOpen: Bool = false, token: Text? = nil,
  sender: Text = .empty, at instant: Instant = noon
) -> StoredDelivery {
  StoredDelivery(
    identifier: UniqueIdentifier(high: number &* 0x9E37_79B9_7F4A_7C15, low: number), application: "org.example.A",
    sender: sender, token: token, created: instant, deadline: Instant(microseconds: instant.microseconds + 20_000_000),
    progress: DeliveryProgress(state, isOpen: isOpen))
}

func event(_ sequence: UInt64, at instant: Instant = noon) -> Record {
  .event(StoredEvent(sequence: sequence, name: "Routed", application: "org.example.A", arguments: "{}", at: instant))
}

let pictures = ContentType("image/png")!

/// Some bytes, a file, and a content that the baggage store keeps.
func baggage(_ number: UInt64, _ bytes: [UInt8] = [1, 2, 3]) -> Baggage {
  let entries = [
    Parcel(.data(bytes), size: Int64(bytes.count)), Parcel(.file("file:///a"), size: 77), Parcel(.kept(2), size: 1000),
  ].map { Baggage.Entry(type: pictures, visibility: .all, $0) }
  return Baggage(delivery: delivery(number).identifier, items: [entries], isPrivate: false)
}

func instant(_ seconds: Int64) -> Instant { Instant(microseconds: noon.microseconds + seconds * 1_000_000) }

/// Changes a store's file as no store would. `look` sees what a process that is killed now leaves.
func tamper(
  _ directory: TemporaryDirectory, _ sql: String, place: SourceLocation = #_sourceLocation, _ look: () -> Void = {}
) {
  var handle: OpaquePointer?
  sqlite3_open("\(directory.path)/stagedoor.db", &handle)
  #expect(
    sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))",
    sourceLocation: place)
  look()
  sqlite3_close(handle)
}

extension SessionStore {
  func deliveryCount() throws(StoreError) -> Int { try deliveries(limit: .max)?.count ?? 0 }

  /// Does everything that a service does with a store, and repeats nothing that fails.
  func work(committing records: [Record]) -> (committed: Bool, error: StoreError?) {
    var committed = false
    let error = failure { () throws(StoreError) in
      try forEachSession { _ in }
      for session in try sessions(limit: 50)?.sessions ?? [] {
        _ = try self.session(session.identifier)
        _ = try sessions(of: session.application, concernedWith: "photo-1", limit: 100)
      }
      for delivery in try deliveries(limit: 100) ?? [] { _ = try self.delivery(delivery.identifier) }
      _ = try events(after: 0, limit: .max)
      _ = try preferences()
      _ = try connectedSessions()
      try commit(records, at: noon)
      committed = true
      try rest(at: noon)
    }
    return (committed, error)
  }

  /// Looks while the last records are in the log alone, and again when they are in rows.
  func inLogAndRows(_ look: () throws -> Void) throws {
    try look()
    try writeRows()
    try look()
  }
}

func failure<Result>(of body: @autoclosure () throws(StoreError) -> Result) -> StoreError? {
  failure { () throws(StoreError) in _ = try body() }
}

func failure(_ body: () throws(StoreError) -> Void) -> StoreError? {
  do throws(StoreError) {
    try body()
    return nil
  } catch {
    return error
  }
}

extension TemporaryDirectory {
  /// A copy of what a process that is killed now leaves, in a directory of its own.
  func copy(walLength: Int? = nil) -> TemporaryDirectory {
    let copy = TemporaryDirectory()
    for name in names where name != "lock" {
      var bytes = bytes(of: name)
      if name == "stagedoor.db-wal", let walLength { bytes = Array(bytes.prefix(walLength)) }
      copy.write(bytes, to: name)
    }
    return copy
  }

  /// The names of the files in which this text stands.
  func files(with text: String) -> [String] { names.filter { bytes(of: $0).contains(Array(text.utf8)) } }

  /// The identity of a file, whatever its name.
  func inode(of name: String) -> UInt {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? UInt(status.st_ino) : 0
  }
}
