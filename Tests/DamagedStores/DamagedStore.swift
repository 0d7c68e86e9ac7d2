import CSQLite
import Glibc
import InterchangeCore
import InterchangeTurns
import SceneModel
import SessionStore

/// A whole store that somebody has changed, and a service that starts with it.
///
/// The fuzzer makes the changes, and a test makes those of its own. The law: the store is used, refused with a reason, or set aside; whatever it says,
/// nothing traps.
package final class DamagedStore {
  private let directory: String

  /// - Parameter number: Tells the directories of one process apart.
  package init(in parent: String = "/dev/shm", number: Int = 0) throws(DamageFailure) {
    directory = "\(parent)/stagedoor-damaged-\(getpid())-\(number)"
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw DamageFailure("\(directory) cannot be made") }
    try empty()
  }

  deinit {
    try? empty()
    rmdir(directory)
  }

  private func empty() throws(DamageFailure) {
    guard let stream = opendir(directory) else { throw DamageFailure("\(directory) cannot be read") }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { unlink("\(directory)/\(name)") }
    }
  }

  // MARK: Before the damage

  private static let cats: Text = "org.example.Cats"
  private static let start = Moment(time: Instant(microseconds: 1_800_000_000_000_000), uptime: 1_000_000)
  private static let shell = Caller(connection: ":1.1", isSandboxed: false, application: .empty)
  private static let host = Caller(connection: ":1.9", isSandboxed: false, application: .empty)
  private static let types = TypeCatalog()

  private func open(at moment: Moment) throws(StoreError) -> Prompter {
    let store = try SessionStore(
      directory: directory, durability: .normal, rules: ReadingRules(types: DamagedStore.types), at: moment.time)
    return try Prompter(
      store, types: DamagedStore.types, allowance: Allowance(), seed: (1, 2), page: 8, at: moment)
  }

  /// Leaves a store with something of every kind, in rows and in the log.
  package func fill() throws(DamageFailure) {
    try empty()
    do throws(StoreError) {
      var service = Service(try open(at: DamagedStore.start), at: DamagedStore.start)
      service.play()
      try service.rest()
      service.play(from: 100)
      // Not closed: the log has what came last.
    } catch {
      throw DamageFailure("\(error)")
    }
  }

  /// The columns with numbers, as `table.column`.
  package static let numbers = [
    "ledger.settled", "ledger.first_event", "ledger.last_event", "session.created", "session.flags",
    "session.last_activated", "delivery.created", "delivery.deadline", "delivery.is_open", "delivery.attempt",
    "delivery.departures", "delivery.ended", "delivery.documents", "delivery.is_private", "delivery.routing_item",
    "delivery.routing_activity", "delivery.previous_private", "event.instant", "owed.number",
    "application_count.sessions",
    "application_count.owed", "application_count.bytes", "baggage.bytes", "baggage.is_private",
  ]

  /// Writes a number into a column, in all of its rows.
  package func set(_ column: String, to number: Int64) throws(DamageFailure) {
    let parts = column.split(separator: ".")
    try change("UPDATE \(parts[0]) SET \(parts[1]) = \(number == .min ? "(-9223372036854775807 - 1)" : "\(number)")")
  }

  /// Writes a number into the entries of the log, in place of each number of some length.
  package func change(_ sql: String) throws(DamageFailure) {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    let code = sqlite3_open("\(directory)/stagedoor.db", &handle)
    guard code == SQLITE_OK, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw DamageFailure("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
  }

  /// Writes bytes over those of the file or of its log.
  package func overwrite(at offset: Int, with bytes: some Collection<UInt8>, inLog: Bool) {
    let descriptor = Glibc.open("\(directory)/stagedoor.db\(inLog ? "-wal" : "")", O_RDWR)
    if descriptor < 0 { return }
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    if status.st_size == 0 { return }
    _ = pwrite(descriptor, Array(bytes), bytes.count, off_t(offset) % status.st_size)
  }

  // MARK: After it

  /// Starts a service with the store as it is, and lets it do everything that it does.
  ///
  /// - Returns: Whether the store was opened.
  @discardableResult
  package func use() -> Bool {
    var later = DamagedStore.start
    later.uptime += 4_000_000_000
    later.time = Instant(microseconds: later.time.microseconds + 4_000_000_000)
    for _ in 0..<2 {
      // A store that is found corrupt in use is set aside at the next start.
      guard let prompter = try? open(at: later) else { continue }
      var service = Service(prompter, at: later)
      service.play(from: 1_000)
      try? service.rest()
      service.look()
      service.close()
      return true
    }
    return false
  }

  /// The service: the turns of the core, and hosts that do as they are asked.
  private struct Service: ~Copyable {
    var prompter: Prompter
    var now: Moment

    init(_ prompter: consuming Prompter, at now: Moment) {
      self.prompter = prompter
      self.now = now
    }

    mutating func take(_ cue: Cue) {
      _ = try? prompter.take(cue, at: now)
      endTurns()
    }

    mutating func endTurns() {
      for _ in 0..<1_000 where prompter.hasTurn {
        let ending = prompter.endTurn(at: now)
        if ending.error != nil { continue }
        for (_, step) in ending.turn.steps {
          for errand in step.errands { run(errand) }
        }
      }
    }

    private mutating func run(_ errand: Errand) {
      switch errand {
      case .ask(let number, _, _, _, _, _): _ = try? prompter.take(.hostAnswered(number, .done), at: now)
      case .read(let number, let delivery):
        let found = (try? prompter.delivery(delivery)) ?? nil
        _ = try? prompter.take(.delivery(number, found), at: now)
      case .findOwner(let number, _, _, _, _): _ = try? prompter.take(.ownership(number, isOwner: true), at: now)
      case .pack(let number, let orders, _, _):
        _ = try? prompter.take(.packed(number, .packed(orders.map { _ in 100 })), at: now)
      case .open(let number, _, _, _, _): _ = try? prompter.take(.opened(number, .opened(size: 100)), at: now)
      default: break
      }
    }

    mutating func play(from first: CallNumber = 1) {
      let manifest = Manifest(
        identifier: DamagedStore.cats, activityTypes: ["view"], supportsMultipleScenes: true,
        configurations: [SceneConfiguration(name: "Default")])
      take(.installed([DamagedStore.cats: InstalledManifest(manifest: manifest, file: "/cats")], keeping: []))
      take(.began)
      var call = first
      func next() -> CallNumber {
        call += 1
        return call
      }
      for key in 0..<6 {
        var payload = Payload(UserActivity(activityType: "view", targetContentIdentifier: Text("\(key / 2)")))
        if key == 1, let type = ContentType("image/png") {
          payload.items[0].representations = [
            Representation(type: type, .file("file:///a.png")), Representation(type: type, .data([1, 2, 3])),
          ]
        }
        if key == 2 { payload.options.token = "once" }
        payload.options.isPrivate = key == 3
        payload.options.statedDeadline = 3_600
        take(.call(next(), DamagedStore.shell, .deliver(payload, digest: "d", size: 100)))
      }
      take(.call(next(), DamagedStore.shell, .prefer(DamagedStore.cats, type: "view")))
      let attach = Ask.attach(application: DamagedStore.cats, shown: [], unknown: [], HostOptions())
      take(.call(next(), DamagedStore.host, attach))
      take(.hostLeft(application: DamagedStore.cats, connection: ":1.9"))
      var deliveries: [UniqueIdentifier] = []
      for delivery in (try? prompter.store.deliveries(limit: 20)) ?? nil ?? [] {
        deliveries.append(delivery.identifier)
      }
      var sessions: [UniqueIdentifier] = []
      for session in (try? prompter.store.sessions(limit: 20)) ?? nil ?? [] { sessions.append(session.identifier) }
      for (delivery, session) in zip(deliveries, sessions) {
        take(.call(next(), DamagedStore.shell, .redirect(delivery, to: session)))
        take(.call(next(), DamagedStore.shell, .openItem(delivery, item: 0, type: .empty)))
      }
      if let session = sessions.first {
        take(.call(next(), DamagedStore.shell, .destroy(session, animation: "standard")))
      }
      take(.call(next(), DamagedStore.host, attach))
      take(.hostLeft(application: DamagedStore.cats, connection: ":1.9"))
      take(
        .call(
          next(), DamagedStore.shell,
          .deliver(
            Payload(UserActivity(activityType: "view", targetContentIdentifier: "last")), digest: "d", size: 100)))
      for _ in 0..<3 {
        now.uptime += 5_000_000_000
        prompter.alarmWent(at: now)
        endTurns()
      }
    }

    mutating func rest() throws(StoreError) { while try !prompter.rest(at: now.time) {} }

    /// Reads what callers may ask for.
    mutating func look() {
      let store = prompter.store
      for delivery in (try? store.deliveries(limit: 100)) ?? nil ?? [] { _ = try? store.delivery(delivery.identifier) }
      for event in (try? store.events(after: 0, limit: 1_000)) ?? [] { _ = event.instant.rfc3339 }
      try? store.forEachSession { _ = $0.json }
      _ = prompter.book.disagreements
    }

    func close() { prompter.store.close() }
  }
}

package struct DamageFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
