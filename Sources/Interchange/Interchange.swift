package import DBus
package import InterchangeWire
package import SceneModel
import SceneRouting
package import SessionStore

/// The service: it takes what is handed in, decides, stores, and speaks.
///
/// It lives on its connection's loop, and so does everything that it owns. A call is decided as it comes, which changes the state at
/// once; what it made true, and what it has to say, is collected. At the end of the turn all of that is stored in one
/// transaction, and only then anyone hears of it: signals first, then replies. So nobody is told what a crash could take back, a hundred
/// callers share one write to the disk, and no call ever sees half of another.
package actor Interchange {
  package nonisolated let connection: Connection
  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

  let settings: Settings
  let store: SessionStore
  var state: State
  /// Where the manifests came from, by application; "" for one that was registered.
  var manifestFiles: [Text: Text] = [:]
  /// What the manifests take that were registered.
  var registeredSizes: [Text: Int] = [:]
  /// The applications whose sessions are in the state. The others' are read when somebody asks for one of them.
  var loaded: Set<Text> = []
  /// Those whose sessions are being read.
  var partly: [Text: Reading] = [:]
  /// Sessions that are discarded in this turn, and still stored.
  var leaving: Set<UniqueIdentifier> = []

  var turn = Turn()
  var sequence: UInt64
  var signals: Signals?
  var notificationPosted: SignalDeclaration<String, String>?
  let callers: Callers
  var deadlines = Deadlines()
  /// Who hosts an application's scenes, and which application a connection hosts.
  var hosts: [Text: Host] = [:]
  var hosted: [BusName: Set<Text>] = [:]
  var starts: [Text: Start] = [:]
  var startCount = 0
  /// Who sent a delivery that is private, or has something in it that only its sender's own process may see; as long as somebody waits for it.
  var senders: [UniqueIdentifier: BusName] = [:]
  private(set) var isClosed = false
  /// Of all applications, whether or not they are in the state.
  var sessionCount = 0
  /// Sessions whose scenes are to draw themselves again, as soon as they are in the background.
  var refreshes: Set<UniqueIdentifier> = []
  var waiting = WaitingSenders()
  var hints = SignalHints()
  var randomNumbers = RandomNumbers()
  /// When something was last stored, and what waits until nothing has been for a while.
  var lastStored = ContinuousClock.now
  var settling: Task<Void, Never>?
  let log: Log
  private(set) var observer: (@Sendable (Event) -> Void)?

  package struct Settings: Sendable {
    /// The time, in UTC.
    package var now: @Sendable () -> Instant
    /// Sessions that there may be, over all applications: each is an object on the bus and a row on the disk.
    package var maximumSessions = 1_000_000
    /// Deliveries that wait for a host, of at most 4 KiB; a longer one counts for as many as it is long. A script may hand in some thousand
    /// things for an application that takes them later, and all of them together are two hundred megabytes on the disk.
    package var maximumHeld = 50_000
    /// Bytes that the manifests of applications take which are registered and not installed, of which each counts for 4 KiB at least: in
    /// memory they are several times as much, and nobody takes them back.
    package var maximumRegistered = 32 << 20
    /// Of one sender that are not answered yet, because their turn is not stored or because they wait for a host, so that no transaction is
    /// one sender's flood. Who waits for answers has no use for so many.
    package var maximumCalls = 1_000
    /// How long nothing is stored before the store is put in order.
    package var quiet: Duration = .seconds(3)
    /// Starts an application by the command of its manifest, with what lets its window come to the front, and stays until that has ended:
    /// well, or in a failure that a sentence names. Without it only the bus starts anything.
    package var run:
      (
        @Sendable (_ application: Text, _ command: Text, _ activationToken: Text?) async -> String?
      )?

    package init(now: @escaping @Sendable () -> Instant) { self.now = now }
  }

  package init(
    on connection: Connection, store: sending SessionStore, types: TypeCatalog, settings: Settings, log: Log
  ) throws(StoreError) {
    self.connection = connection
    self.settings = settings
    self.log = log
    sequence = store.lastEventSequence
    state = State(types: types)
    for (type, application) in try store.preferences() { state.setPreferredApplication(application, for: type) }
    sessionCount = try store.sessionCount()
    self.store = store
    callers = Callers()
  }

  /// Puts the service's objects on the bus. No call is to come before that, or it is to be held: one that started the service is already
  /// waiting. The connection has to identify callers; those that it does not identify are strangers.
  package func export() {
    resume()
    let root = RootInterface(on: self)
    signals = root.signals
    connection.export(root.interface, at: InterchangeNames.root)
    connection.exportObjectManager(at: InterchangeNames.root, advice: "ListSessions lists the sessions")
    let (application, notificationPosted) = ApplicationInterface.make(on: self)
    self.notificationPosted = notificationPosted
    connection.export(
      Subtree(
        interfaces: { path, _ in self.assumeIsolated { $0.isApplication(path) } ? [application] : nil },
        children: { _ in self.assumeIsolated { $0.applicationElements() } }),
      below: InterchangeNames.applications)
    let session = SessionInterface.make(on: self)
    connection.export(
      Subtree(
        interfaces: { path, _ in self.assumeIsolated { $0.isSession(path) } ? [session] : nil },
        children: { _ in try self.assumeIsolated { try $0.sessionElements() } }),
      below: InterchangeNames.sessions)
    observeSignals(meantFor: [root.interface, application, session])
    connection.observeCalls { [log] call in
      log.debug("\(call.member) of \(call.path) is called by \(call.sender.map { "\($0)" } ?? "a peer")")
    }
  }

  /// `observer` sees each event as everyone is told of it.
  package func observeEvents(_ observer: @escaping @Sendable (Event) -> Void) { self.observer = observer }

  /// Everything that was acknowledged is stored, and who still waits is answered.
  package func close() {
    endTurn()
    waiting.leaveAll()
    deadlines.cancel()
    settling?.cancel()
    // They leave as we do, which is no news of them.
    hosts = [:]
    isClosed = true
    store.close()
    if let damage = store.damage { log.error("\(damage)") }
  }
}
