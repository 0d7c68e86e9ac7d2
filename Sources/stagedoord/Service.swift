import Baggage
import CStart
import DBus
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

/// The service with everything that it needs in this program.
struct Service: Sendable {
  let interchange: Interchange
  private let manifests: ManifestKeeper
  private let log: Log

  /// How long the other instance may take to end. A caller may be waiting for an answer, and the default time-out of callers is 25 seconds.
  private static let patience = Duration.seconds(15)
  /// After this time without any message the service gives back memory.
  private static let quiet = Duration.seconds(2)
  private static let startIsOver = Duration.milliseconds(250)

  /// The service takes its name first, so an instance that must not run touches nothing of the running instance. From then on calls come;
  /// the connection holds them until the service can answer.
  static func start(_ arguments: Arguments, on connection: Connection) async throws -> Service {
    let log = LogWriter.make(level: arguments.logLevel)
    // A shell that does not wait for the answer has often left before the service could identify it. It may still drop.
    connection.identifyCallers(admittingStrangers: true)
    connection.holdCalls()
    let name = ServiceName(InterchangeNames.bus, of: "stagedoord", on: connection)
    do {
      guard let directory = arguments.stateDirectory ?? Directories.state() else {
        throw Failure("neither XDG_STATE_HOME nor HOME says where to keep what must survive: name it with --state")
      }
      // A running instance is not ended for a new instance that cannot start.
      if arguments.replaces, arguments.durability != .memory { try SessionStore.check(directory: directory) }
      if arguments.replaces { try await name.takeOver(within: patience) } else { try await name.take() }
      let data = Directories.data()
      let types = TypeCatalog.installed(in: data) { log.warning("\($0)") }
      let fileTypes = InstalledFileTypes(in: data) { log.warning("\($0)") }
      let interchange = try await open(directory, arguments, types, fileTypes, log, on: connection)
      let manifests = try ManifestKeeper(
        InstalledManifests(in: data, types: types), InstalledRules(in: Directories.configuration()), fileTypes,
        for: interchange, hangup: arguments.action == .serve, log: log)
      await manifests.read()
      await interchange.export()
      connection.releaseCalls()
      log.info("\(name.name) is ready")
      connection.loop.whenQuiet(for: quiet) {
        FreeMemory.giveBack()
        stagedoor_let_go_of_code()
      }
      // A service that is busy from its start is not quiet for long, and needs the code of the start no more.
      connection.loop.task {
        await connection.loop.sleep(for: startIsOver)
        stagedoor_let_go_of_code()
      }
      manifests.follow()
      return Service(interchange: interchange, manifests: manifests, log: log)
    } catch {
      // Callers whose calls are held already, from the activation or from the takeover, get the reason.
      await connection.callsAreIdentified()
      connection.refuseHeldCalls(InterchangeError(.storageFailed, "the service could not begin: \(error)").errorReply)
      await connection.flush()
      throw error
    }
  }

  /// Finishes and stores everything that the service acknowledged. A replaced instance answers all calls that came before the other
  /// instance had the name; the other instance waits for this.
  func stop(_ ending: Ending) async {
    let connection = interchange.connection
    if case .signal = ending { log.info("a signal ends the service") }
    if case .replaced = ending {
      log.info("another takes over")
      await connection.callsAreIdentified()
    }
    await manifests.stop()
    await interchange.close()
    await connection.close()
  }

  private static func open(
    _ directory: String, _ arguments: Arguments, _ types: TypeCatalog, _ fileTypes: InstalledFileTypes, _ log: Log,
    on connection: Connection
  ) async throws -> Interchange {
    let durability = arguments.durability
    let starter = Starter(
      connection: connection, address: try arguments.address ?? BusAddress.session(), fileMask: Stagedoord.fileMask)
    func open() async throws -> Interchange {
      try await connection.loop.run { _ in
        let store = try SessionStore(
          directory: directory, durability: durability, rules: ReadingRules(types: types), at: Clock.now())
        if let setAside = store.setAside {
          log.error(
            "the store was broken (\(setAside.reason)); it is now \(setAside.path), with the contents of its deliveries beside it, and a new one was begun"
          )
        }
        for problem in store.problems { log.warning(problem) }
        var settings = Interchange.Settings(now: Clock.now)
        settings.run = { await starter.run($0, $1, $2) }
        settings.fileType = { fileTypes.type(ofFile: $1, at: $0) }
        settings.askDisk = { fileTypes.answer(for: $0) }
        let baggageStore = BaggageStore(
          directory: durability == .memory ? nil : directory, isSynced: durability == .full)
        return try Interchange(
          on: connection, store: store, baggageStore: baggageStore, types: types, settings: settings, log: log)
      }
    }
    for _ in 0..<100 {
      do {
        return try await open()
      } catch let error as StoreError where error.kind == .locked {
        // A killed instance leaves the bus a moment before the kernel releases its locks.
        await connection.loop.sleep(for: .milliseconds(10))
      } catch let error as StoreError where error.kind == .corrupt {
        // The damage was found only now. The store remembers it: the next opening checks the whole store, and sets it aside.
        log.warning("\(error)")
        break
      }
    }
    return try await open()
  }
}
