import CSQLite
import Glibc
import InterchangeCore
import InterchangeTurns
import SceneModel
package import SessionStore
import StoreTestSupport

/// A whole store that somebody has changed, and a service that starts with it.
///
/// The fuzzer makes the changes, and a test makes those of its own. The law: the store is used, refused with a reason, or set aside; whatever it says,
/// nothing traps.
package final class DamagedStore {
  private let parent: String
  private var directory: TemporaryDirectory
  private var file: String { "\(directory.path)/stagedoor.db" }

  package init(in parent: String = "/dev/shm") {
    self.parent = parent
    directory = TemporaryDirectory(in: parent)
  }

  // MARK: Before the damage

  private static let cats: Text = "org.example.Cats"
  private static let start = Moment(time: Instant(microseconds: 1_800_000_000_000_000), uptime: 1_000_000)
  private static let shell = Caller(connection: ":1.1", isSandboxed: false, application: .empty)
  private static let host = Caller(connection: ":1.9", isSandboxed: false, application: .empty)
  private static let types = TypeCatalog()

  private func open(at moment: Moment) throws(StoreError) -> Prompter {
    let store = try SessionStore(
      directory: directory.path, durability: .normal, rules: ReadingRules(types: DamagedStore.types), at: moment.time)
    return try Prompter(store, types: DamagedStore.types, allowance: Allowance(), seed: (1, 2), page: 8, at: moment)
  }

  /// Leaves a store with something of every kind, in rows and in the log.
  package func fill() throws(StoreError) {
    directory = TemporaryDirectory(in: parent)
    var service = Service(try open(at: DamagedStore.start), at: DamagedStore.start)
    service.play()
    try service.rest()
    service.play(from: 100)
    // Not closed: the log has what came last.
  }

  /// The columns with numbers, as `table.column`.
  package static let numbers = [
    "ledger.settled", "ledger.first_event", "ledger.last_event", "session.created", "session.flags",
    "session.last_activated", "delivery.created", "delivery.deadline", "delivery.is_open", "delivery.attempt",
    "delivery.departures", "delivery.ended", "delivery.documents", "delivery.is_private", "delivery.routing_item",
    "delivery.routing_activity", "delivery.previous_private", "event.instant", "owed.number",
    "application_count.sessions", "application_count.owed", "application_count.bytes", "baggage.bytes",
    "baggage.is_private",
  ]

  /// Writes a number into a column, in all of its rows.
  package func set(_ column: String, to number: Int64) throws(DamageFailure) {
    let parts = column.split(separator: ".")
    try change("UPDATE \(parts[0]) SET \(parts[1]) = \(number == .min ? "(-9223372036854775807 - 1)" : "\(number)")")
  }

  /// Changes the file as no store would.
  package func change(_ sql: String) throws(DamageFailure) {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    let code = sqlite3_open(file, &handle)
    guard code == SQLITE_OK, sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw DamageFailure("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
    }
  }

  /// Writes bytes over those of the file or of its log.
  package func overwrite(at offset: Int, with bytes: some Collection<UInt8>, inLog: Bool) {
    let descriptor = Glibc.open(inLog ? "\(file)-wal" : file, O_RDWR)
    if descriptor < 0 { return }
    defer { close(descriptor) }
    let size = lseek(descriptor, 0, SEEK_END)
    if size > 0 { _ = pwrite(descriptor, Array(bytes), bytes.count, off_t(offset) % size) }
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
    private var question: ErrandNumber = 0

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
      let cue: Cue
      switch errand {
      case .ask(let number, _, _, _, _, _): cue = .hostAnswered(number, .done)
      case .read(let number, let delivery): cue = .delivery(number, (try? prompter.delivery(delivery)) ?? nil)
      case .findOwner(let number, _, _, _, _):
        question = number
        cue = .ownership(number, isOwner: true)
      case .pack(let number, let orders, _, _): cue = .packed(number, .packed(orders.map { _ in 100 }))
      case .open(let number, _, _, _, _): cue = .opened(number, .opened(size: 100))
      default: return
      }
      _ = try? prompter.take(cue, at: now)
    }

    mutating func play(from first: CallNumber = 1) {
      let manifest = Manifest(
        identifier: DamagedStore.cats, activityTypes: ["view"], supportsMultipleScenes: true,
        configurations: [SceneConfiguration(name: "Default")])
      take(.installed([DamagedStore.cats: InstalledManifest(manifest: manifest, file: "/cats")], keeping: []))
      take(.began)
      var number = first
      func call(_ ask: Ask, by caller: Caller = DamagedStore.shell) -> Cue {
        number += 1
        return .call(number, caller, ask)
      }
      func showing(_ key: Text) -> Payload { Payload(UserActivity(activityType: "view", targetContentIdentifier: key)) }
      for key in 0..<6 {
        var payload = showing(Text("\(key / 2)"))
        if key == 1, let type = ContentType("image/png") {
          payload.items[0].representations = [
            Representation(type: type, .file("file:///a.png")), Representation(type: type, .data([1, 2, 3])),
          ]
        }
        if key == 2 { payload.options.token = "once" }
        payload.options.isPrivate = key == 3
        payload.options.statedDeadline = 3_600
        take(call(.deliver(payload, digest: "d", size: 100)))
      }
      take(call(.prefer(DamagedStore.cats, type: "view")))
      func comeAndGo() {
        let attach = Ask.attach(application: DamagedStore.cats, shown: [], unknown: [], HostOptions())
        take(call(attach, by: DamagedStore.host))
        take(.hostLeft(application: DamagedStore.cats, since: question))
      }
      comeAndGo()
      let deliveries = ((try? prompter.store.deliveries(limit: 20)) ?? nil ?? []).map(\.identifier)
      let sessions = ((try? prompter.store.sessions(limit: 20)) ?? nil)?.sessions.map(\.identifier) ?? []
      for (delivery, session) in zip(deliveries, sessions) {
        take(call(.redirect(delivery, to: session)))
        take(call(.openItem(delivery, item: 0, type: .empty)))
      }
      if let session = sessions.first { take(call(.destroy(session, animation: "standard"))) }
      comeAndGo()
      take(call(.deliver(showing("last"), digest: "d", size: 100)))
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
