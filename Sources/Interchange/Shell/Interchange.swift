package import Baggage
package import DBus
import Glibc
package import InterchangeCore
import InterchangeTurns
import InterchangeWire
package import SceneModel
package import SessionStore
package import TextRules

/// The service on the bus: the shell around the core.
///
/// The shell turns messages into cues, and carries out the steps of a turn once the prompter has stored it. The shell decides nothing: the core
/// decides, in `InterchangeCore`, which knows neither the bus nor the disk.
///
/// The shell and everything that it owns live on its connection's loop.
package actor Interchange {
  package nonisolated let connection: Connection
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

  let settings: Settings
  package nonisolated let types: TypeCatalog
  /// The core and its store.
  var prompter: Prompter
  /// Whether the turn will end with the loop's turn.
  var isEnding = false
  /// Whether a stored turn is being announced. The properties in its signals are read meanwhile, and these readings end no turn.
  var isSpeaking = false
  /// How to answer the calls that have not been answered.
  var replies: [CallNumber: (CallAnswer) -> Void] = [:]
  private var callNumber: CallNumber = 0
  /// Descriptors that came with calls and that nobody has taken yet.
  var luggage: [CallNumber: [OwnedFileDescriptor]] = [:]
  /// The openings for calls.
  var openings: [CallNumber: Opening] = [:]
  var releases = Releases()
  let baggageStore: BaggageStore
  /// The time at which the core will be called.
  var timer: (at: Int64, task: Task<Void, Never>)?
  /// The task that reads sessions while nobody waits.
  var reading: Task<Void, Never>?
  var launches: [Text: Launch] = [:]
  /// The answers of hosts that wait until calls that the hosts made before were carried out.
  var answersBehindCalls: [ErrandNumber: (host: BusName, answer: HostAnswer)] = [:]
  /// The tasks that watch connections while they own an application's name.
  var watches: [WatchedOwner: Task<Void, Never>] = [:]
  /// The watches that have heard of a loss, until the core hears of it.
  var losing: [WatchedOwner: Task<Void, Never>] = [:]
  /// Whether the last delivery for a host could not be read. The log says so once.
  var cannotRead = false

  var signals: Signals?
  // The interfaces hold this service, so only the connection may hold them.
  lazy var notificationPosted = ApplicationInterface.make(on: self).notificationPosted
  lazy var dragEnded = DragInterface.make(on: self).ended
  let callers = Callers()
  var hints = SignalHints()
  /// The time of the last store, and, below, the work for a quiet moment.
  var lastStored = ContinuousClock.now
  var resting: Task<Void, Never>?
  var laterRest: Task<Void, Never>?
  var consultations = Consultations()
  let log: Log
  var observer: (@Sendable (Event) -> Void)?
  private(set) var isClosed = false

  package struct Settings: Sendable {
    /// The time of day.
    package var now: @Sendable () -> Instant
    /// The limits of the resources.
    package var allowance = Allowance()
    /// The time without changes after which the store is put in order.
    package var quiet: Duration = .seconds(3)
    /// Returns the type of a file, by the name at the end of its path, or by its content. It may wait for a disk.
    package var fileType: @Sendable (_ path: [UInt8], _ file: OwnedFileDescriptor) -> ContentType = { _, _ in
      FileTypes.type(ofBytes: [0])
    }
    /// Asks the disk about a path, for rules. It may wait for a disk.
    package var askDisk: @Sendable (_ path: Text) -> DiskAnswer = { _ in .nothing }
    /// Runs the command of an application's manifest, with the token that lets its window come to the front, and returns when the command has ended:
    /// with `nil` for status 0, or with a sentence about the failure. Without this function only the bus starts applications.
    package var run:
      (
        @Sendable (_ application: Text, _ command: Text, _ activationToken: Text?) async -> String?
      )?

    package init(now: @escaping @Sendable () -> Instant) { self.now = now }
  }

  package init(
    on connection: Connection, store: sending SessionStore, baggageStore: BaggageStore, types: TypeCatalog,
    settings: Settings,
    log: Log
  ) throws(StoreError) {
    self.baggageStore = baggageStore
    self.connection = connection
    self.settings = settings
    self.types = types
    self.log = log
    var generator = SystemRandomNumberGenerator()
    prompter = try Prompter(
      store, types: types, allowance: settings.allowance, seed: (generator.next(), generator.next()),
      at: Moment(time: settings.now(), uptime: Interchange.uptime()))
  }

  /// Exports the service's objects. No call may come before that unless it is held: the call that started the service is already waiting. The
  /// connection must identify callers; callers that it cannot identify are strangers.
  package func export() {
    let carrying = prompter.book.carrying
    connection.loop.task { await sweepBaggage(keeping: carrying) }
    feed(.began)
    endTurn()
    let root = RootInterface(on: self)
    signals = root.signals
    connection.export(root.interface, at: InterchangeNames.root)
    connection.exportObjectManager(at: InterchangeNames.root, advice: "ListSessions lists the sessions")
    // The first call need not wait until these are made.
    let application = Later { ApplicationInterface.make(on: self).interface }
    let session = Later { SessionInterface.make(on: self) }
    let drag = Later { DragInterface.make(on: self).interface }
    connection.export(
      Subtree(
        interfaces: { path, _ in self.assumeIsolated { $0.isApplication(path) } ? [application.value] : nil },
        children: { call in self.assumeIsolated { $0.applicationElements(call) } }),
      below: InterchangeNames.applications)
    connection.export(
      Subtree(
        interfaces: { path, _ in self.assumeIsolated { $0.isSession(path) } ? [session.value] : nil },
        children: { call in try self.assumeIsolated { try $0.sessionElements(call) } }),
      below: InterchangeNames.sessions)
    connection.export(
      Subtree(
        interfaces: { path, call in self.assumeIsolated { $0.isDrag(path, call) } ? [drag.value] : nil },
        // Nobody lists the drags of others.
        children: { _ in [] }),
      below: InterchangeNames.drags)
    observeSignals { [root.interface, application.value, session.value, drag.value] }
    connection.observeDepartures { name in self.assumeIsolated { $0.left(name) } }
    connection.observeCalls { [log] call in
      let caller = call.sender.map { "\($0)" } ?? "a peer"
      log.debug(
        "\(call.member) of \(call.path) is called by \(caller)\(call.isCrowdedOut ? ", which has left: too many such calls wait, and this one is dropped" : "")"
      )
    }
  }

  // MARK: Manifests

  /// Replaces the installed manifests. The applications in `broken` keep their previous manifests.
  package func install(_ installed: [Text: InstalledManifest], keeping broken: Set<Text>) {
    feed(.installed(installed, keeping: broken))
    endTurn()
  }

  /// Replaces the rules of the person, whose home directory is `home`.
  package func setRules(_ rules: RuleSet, home: Text) { prompter.setRules(rules, home: home) }

  /// Whether the application exists.
  package func knows(_ application: Text) -> Bool { prompter.book.manifest(of: application) != nil }

  /// An application exists now, or has a new manifest.
  package func declare(_ manifest: Manifest) {
    feed(.declared(manifest))
    endTurn()
  }

  /// `observer` gets each event when it is announced.
  package func observeEvents(_ observer: @escaping @Sendable (Event) -> Void) { self.observer = observer }

  /// Stores everything that was acknowledged, and answers the calls that wait.
  package func close() async {
    // The next service waits for a second until the store is free.
    for _ in 0..<50 where consultations.count > 0 { await connection.loop.sleep(for: .milliseconds(10)) }
    endTurn()
    // Their deliveries are stored, and continue when the service is back.
    for delivery in prompter.book.waitedFor {
      let left = InterchangeError(
        .noReply,
        "the service ended while the delivery \(delivery.identifier) waited; the delivery continues, and GetDelivery reports how it ends"
      )
      for number in delivery.calls { replies.removeValue(forKey: number)?(.refused(left)) }
    }
    let undecided = InterchangeError(
      .noReply, "the service ended before it could decide, and has kept nothing: call again")
    for number in replies.keys { replies.removeValue(forKey: number)?(.refused(undecided)) }
    timer?.task.cancel()
    resting?.cancel()
    laterRest?.cancel()
    isClosed = true
    prompter.store.close()
    if let damage = prompter.store.damage { log.error("\(damage)") }
    await baggageStore.close()
  }

  /// Microseconds on the clock of the timers, which nobody can set.
  static func uptime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  func newCallNumber() -> CallNumber {
    callNumber += 1
    return callNumber
  }

  var moment: Moment { Moment(time: settings.now(), uptime: Interchange.uptime()) }
}
