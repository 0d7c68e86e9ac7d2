package import Baggage
package import DBus
import Glibc
package import InterchangeCore
import InterchangeTurns
import InterchangeWire
package import SceneModel
package import SessionStore

/// The service on the bus: the shell around the core.
///
/// It turns messages into cues, and says and does what the steps of a turn say once the prompter has stored them. It decides nothing: the core
/// decides, in `InterchangeCore`, which knows neither the bus nor the disk.
///
/// It lives on its connection's loop, and so does everything that it owns.
package actor Interchange {
  package nonisolated let connection: Connection
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

  let settings: Settings
  package nonisolated let types: TypeCatalog
  /// The core and its store.
  var prompter: Prompter
  var store: SessionStore { prompter.store }
  /// The turn ends when the loop's turn does.
  var isEnding = false
  /// What was stored is being said. The properties that a signal carries are read then, and reading them ends no turn.
  var isSpeaking = false
  /// How calls are answered that were not answered yet.
  var replies: [CallNumber: (CallAnswer) -> Void] = [:]
  private var callNumber: CallNumber = 0
  /// Descriptors that came with calls and that nobody has taken yet.
  var luggage: [CallNumber: [OwnedFileDescriptor]] = [:]
  /// What is opened for calls.
  var openings: [CallNumber: Opening] = [:]
  let room: BaggageRoom
  /// When the core is called.
  var timer: (at: Int64, task: Task<Void, Never>)?
  /// Reads sessions while nobody waits.
  var reading: Task<Void, Never>?
  var launches: [Text: Launch] = [:]
  /// Connections that are watched as long as they own an application's name.
  var watched: Set<WatchedOwner> = []

  var signals: Signals?
  var notificationPosted: SignalDeclaration<String, String>?
  var dragEnded: SignalDeclaration<String, ObjectPath>?
  let callers: Callers
  var hints = SignalHints()
  /// When something was last stored, and what waits until nothing has been for a while.
  var lastStored = ContinuousClock.now
  var settling: Task<Void, Never>?
  let log: Log
  var observer: (@Sendable (Event) -> Void)?
  private(set) var isClosed = false

  package struct Settings: Sendable {
    /// The time of day.
    package var now: @Sendable () -> Instant
    /// How much there may be of everything.
    package var allowance = Allowance()
    /// How long nothing is stored before the store is put in order.
    package var quiet: Duration = .seconds(3)
    /// What type a file is of, by its path. It may wait for a disk.
    package var fileType: @Sendable (_ path: [UInt8]) -> ContentType = { _ in FileTypes.type(ofBytes: [0]) }
    /// Starts an application by the command of its manifest, with what lets its window come to the front, and stays until that has ended:
    /// well, or in a failure that a sentence names. Without it only the bus starts anything.
    package var run:
      (
        @Sendable (_ application: Text, _ command: Text, _ activationToken: Text?) async -> String?
      )?

    package init(now: @escaping @Sendable () -> Instant) { self.now = now }
  }

  package init(
    on connection: Connection, store: sending SessionStore, room: BaggageRoom, types: TypeCatalog, settings: Settings,
    log: Log
  ) throws(StoreError) {
    self.room = room
    self.connection = connection
    self.settings = settings
    self.types = types
    self.log = log
    var generator = SystemRandomNumberGenerator()
    prompter = try Prompter(
      store, types: types, allowance: settings.allowance, seed: (generator.next(), generator.next()),
      at: Moment(time: settings.now(), uptime: Interchange.uptime()))
    callers = Callers()
  }

  /// Puts the service's objects on the bus. No call is to come before that, or it is to be held: one that started the service is already
  /// waiting. The connection has to identify callers; those that it does not identify are strangers.
  package func export() {
    let carrying = prompter.book.carrying
    connection.loop.task { await sweepRoom(keeping: carrying) }
    feed(.began)
    endTurn()
    let root = RootInterface(on: self)
    signals = root.signals
    connection.export(root.interface, at: InterchangeNames.root)
    connection.exportObjectManager(at: InterchangeNames.root, advice: "ListSessions lists the sessions")
    let (application, notificationPosted) = ApplicationInterface.make(on: self)
    self.notificationPosted = notificationPosted
    connection.export(
      Subtree(
        interfaces: { path, call in self.assumeIsolated { $0.isApplication(path, call) } ? [application] : nil },
        children: { call in self.assumeIsolated { $0.applicationElements(call) } }),
      below: InterchangeNames.applications)
    let session = SessionInterface.make(on: self)
    connection.export(
      Subtree(
        interfaces: { path, call in self.assumeIsolated { $0.isSession(path, call) } ? [session] : nil },
        children: { call in try self.assumeIsolated { try $0.sessionElements(call) } }),
      below: InterchangeNames.sessions)
    let (drag, dragEnded) = DragInterface.make(on: self)
    self.dragEnded = dragEnded
    connection.export(
      Subtree(
        interfaces: { path, call in self.assumeIsolated { $0.isDrag(path, call) } ? [drag] : nil },
        // Nobody lists the drags of others.
        children: { _ in [] }),
      below: InterchangeNames.drags)
    observeSignals(meantFor: [root.interface, application, session, drag])
    connection.observeDepartures { name in self.assumeIsolated { $0.left(name) } }
    connection.observeCalls { [log] call in
      log.debug("\(call.member) of \(call.path) is called by \(call.sender.map { "\($0)" } ?? "a peer")")
    }
  }

  // MARK: Manifests

  /// What is installed now, in place of what was. The applications in `broken` stay what they were.
  package func install(_ installed: [Text: (manifest: Manifest, file: Text)], keeping broken: Set<Text>) {
    feed(.installed(installed.mapValues { InstalledManifest(manifest: $0.manifest, file: $0.file) }, keeping: broken))
    endTurn()
  }

  /// Whether there is such an application.
  package func knows(_ application: Text) -> Bool { prompter.book.manifest(of: application) != nil }

  /// An application is there, or says something else of itself.
  package func declare(_ manifest: Manifest) throws {
    feed(.declared(manifest))
    endTurn()
  }

  /// `observer` sees each event as everyone is told of it.
  package func observeEvents(_ observer: @escaping @Sendable (Event) -> Void) { self.observer = observer }

  /// Everything that was acknowledged is stored, and who still waits is answered.
  package func close() {
    endTurn()
    // What they sent is stored, and goes on when the service is back.
    for delivery in prompter.book.waitedFor {
      let left = InterchangeError(
        .noReply,
        "the service ended while the delivery \(delivery.identifier) waited; it goes on, and GetDelivery tells the end")
      for number in delivery.calls { replies.removeValue(forKey: number)?(.refused(left)) }
    }
    timer?.task.cancel()
    settling?.cancel()
    isClosed = true
    store.close()
    if let damage = store.damage { log.error("\(damage)") }
  }

  /// Microseconds on the clock that timers count on: nobody sets it.
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
