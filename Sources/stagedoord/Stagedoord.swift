import DBus
import Dispatch
@preconcurrency import Glibc
import Interchange
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

/// The program: arguments in, exit status out.
@main
struct Stagedoord {
  static let version = "0.1.0"

  static func main() async {
    setvbuf(stdout, nil, _IOLBF, 0)
    signal(SIGPIPE, SIG_IGN)
    FileMask.restrict()
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      switch arguments.action {
      case .help: print(Arguments.usage)
      case .version: print("stagedoord \(version)")
      case .serve: exit(try await serve(arguments))
      case .demonstrate: exit(try await Demonstration.run(arguments))
      }
    } catch let misuse as Arguments.Misuse {
      fail(2, "\(misuse); --help says what there is")
    } catch {
      fail(1, "\(error)")
    }
  }

  private static func serve(_ arguments: Arguments) async throws -> Int32 {
    let endings = Endings()
    let connection = try await Connection.open(try arguments.address ?? BusAddress.session())
    let service = try await Service.start(arguments, on: connection)
    let ending = await endings.first(on: connection)
    await service.stop()
    if case .busWent = ending { fputs("stagedoord: the bus has gone\n", stderr) }
    return ending.status
  }

  private static func fail(_ status: Int32, _ sentence: String) -> Never {
    fputs("stagedoord: \(sentence)\n", stderr)
    exit(status)
  }
}

/// The service with all that it needs, as the program runs it.
struct Service: Sendable {
  let interchange: Interchange

  static func start(_ arguments: Arguments, on connection: Connection) async throws -> Service {
    let log = LogWriter.make(level: arguments.logLevel)
    let data = Directories.data()
    let types = TypeCatalog.installed(in: data)
    for problem in types.problems { log.warning("\(problem)") }
    guard let directory = arguments.stateDirectory ?? Directories.state() else {
      throw Failure("neither XDG_STATE_HOME nor HOME says where to keep what must survive: name it with --state")
    }
    let durability = arguments.durability
    let starter = Starter(address: (try arguments.address ?? BusAddress.session()).description)
    let interchange = try await connection.loop.run { _ in
      let store = try SessionStore(
        directory: directory, durability: durability, rules: ReadingRules(types: types), at: Clock.now())
      if let setAside = store.setAside {
        log.error("the store was broken (\(setAside.reason)); it is now \(setAside.path), and a new one was begun")
      }
      for problem in store.problems { log.warning(problem) }
      var settings = Interchange.Settings(now: Clock.now)
      settings.run = { command, token in await starter.run(command, token) }
      return try Interchange(on: connection, store: store, types: types, settings: settings, log: log)
    }
    let installed = InstalledManifests(in: data, types: types, log: log)
    await interchange.load(installed)
    await interchange.export()
    guard try await connection.requestName(InterchangeNames.bus, .doNotQueue) == .owned else {
      throw Failure("\(InterchangeNames.bus) is taken: another stagedoord runs on this bus")
    }
    log.info("\(InterchangeNames.bus) is ready")
    signal(SIGHUP, SIG_IGN)
    let hangup = DispatchSource.makeSignalSource(signal: SIGHUP)
    hangup.setEventHandler { Task { await interchange.load(installed) } }
    // It lasts as long as the process: nothing else keeps it.
    hangup.setCancelHandler { _ = hangup }
    hangup.activate()
    return Service(interchange: interchange)
  }

  /// What it acknowledged is finished and stored.
  func stop() async {
    await interchange.close()
    await interchange.connection.flush()
    await interchange.connection.close()
  }
}

extension Interchange {
  /// Takes over what is installed now.
  func load(_ installed: InstalledManifests) {
    let (found, broken) = installed.read()
    takeOver(found.mapValues { ($0.manifest, $0.file) }, keeping: broken)
  }
}

/// What files are nobody else's. Ours are never; those of whom we start are as we were told.
enum FileMask {
  /// What we were started with.
  static let given = umask(0o077)

  static func restrict() { _ = given }
}

enum Clock {
  @Sendable static func now() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Instant(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
