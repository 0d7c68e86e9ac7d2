import DBus
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

/// The service with all that it needs, as the program runs it.
struct Service: Sendable {
  let interchange: Interchange
  private let manifests: ManifestKeeper
  private let log: Log

  /// How long another may take to end: somebody may be waiting for an answer, who waits 25 seconds where he does not say.
  private static let patience = Duration.seconds(15)
  /// After how long without any message it takes as little memory as it can.
  private static let quiet = Duration.seconds(2)

  /// The name comes first, so one that is not to run touches nothing that belongs to the one that does. From then on there are calls; they
  /// are held until there is someone to answer them.
  static func start(_ arguments: Arguments, on connection: Connection) async throws -> Service {
    let log = LogWriter.make(level: arguments.logLevel)
    // A shell that does not wait for the answer has often left before anyone could look: it may still drop.
    connection.identifyCallers(admittingStrangers: true)
    connection.holdCalls()
    let name = ServiceName(InterchangeNames.bus, of: "stagedoord", on: connection)
    do {
      guard let directory = arguments.stateDirectory ?? Directories.state() else {
        throw Failure("neither XDG_STATE_HOME nor HOME says where to keep what must survive: name it with --state")
      }
      // Whoever runs is not ended for one that cannot begin.
      if arguments.replaces, arguments.durability != .memory { try SessionStore.check(directory: directory) }
      if arguments.replaces { try await name.takeOver(within: patience) } else { try await name.take() }
      let data = Directories.data()
      let types = TypeCatalog.installed(in: data, log: log)
      let interchange = try await open(directory, arguments, types, log, on: connection)
      let manifests = try ManifestKeeper(
        InstalledManifests(in: data, types: types), for: interchange, hangup: arguments.action == .serve, log: log)
      await manifests.read()
      await interchange.export()
      connection.releaseCalls()
      log.info("\(name.name) is ready")
      connection.loop.whenQuiet(for: quiet) { CodePages.letGo() }
      manifests.follow()
      return Service(interchange: interchange, manifests: manifests, log: log)
    } catch {
      // Whoever has called already, to start it or in the place of another, hears why.
      await connection.callsAreIdentified()
      connection.refuseHeldCalls(InterchangeError(.storageFailed, "the service could not begin: \(error)").errorReply)
      await connection.flush()
      throw error
    }
  }

  /// What it acknowledged is finished and stored. One that is replaced answers all that came before the other had the name: the other is
  /// waiting for that.
  func stop(_ ending: Ending) async {
    let connection = interchange.connection
    if case .replaced = ending {
      log.info("another takes over")
      await connection.callsAreIdentified()
    }
    await manifests.stop()
    await interchange.close()
    await connection.close()
  }

  private static func open(
    _ directory: String, _ arguments: Arguments, _ types: TypeCatalog, _ log: Log, on connection: Connection
  ) async throws -> Interchange {
    let durability = arguments.durability
    let starter = Starter(
      connection: connection, address: try arguments.address ?? BusAddress.session(), fileMask: Stagedoord.fileMask)
    func open() async throws -> Interchange {
      try await connection.loop.run { _ in
        let store = try SessionStore(
          directory: directory, durability: durability, rules: ReadingRules(types: types), at: Clock.now())
        if let setAside = store.setAside {
          log.error("the store was broken (\(setAside.reason)); it is now \(setAside.path), and a new one was begun")
        }
        for problem in store.problems { log.warning(problem) }
        var settings = Interchange.Settings(now: Clock.now)
        settings.run = { await starter.run($0, $1, $2) }
        return try Interchange(on: connection, store: store, types: types, settings: settings, log: log)
      }
    }
    for _ in 0..<100 {
      do {
        return try await open()
      } catch let error as StoreError where error.kind == .locked {
        // One that was killed leaves the bus before the kernel has given its locks back, by a moment.
        await connection.loop.sleep(for: .milliseconds(10))
      } catch let error as StoreError where error.kind == .corrupt {
        // It was seen late, and is remembered: what is opened in doubt is looked through, and set aside.
        log.warning("\(error)")
        break
      }
    }
    return try await open()
  }
}
