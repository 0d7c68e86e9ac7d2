import DBus
@preconcurrency import Glibc
import InterchangeWire
import SceneModel
import ServiceSupport
import SessionStore

/// The program: arguments in, exit status out.
@main
struct Stagedoord {
  static let version = "0.1.0"
  /// The inherited mask. From now on this process makes files that only its user can read.
  static let fileMask = umask(0o077)

  static func main() {
    // The log must not be written into another file.
    StandardDescriptors.fill()
    raiseDescriptorLimit()
    FreeMemory.useOneHeap()
    setvbuf(stdout, nil, _IOLBF, 0)
    // A file that may not grow counts as a full disk (SIGXFSZ). The others mean nothing here, and must not end the process either.
    let meaningless = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU, SIGSTKFLT]
    let realTime = __libc_current_sigrtmin()...__libc_current_sigrtmax()
    for number in [SIGPIPE, SIGXFSZ] + meaningless + realTime { signal(number, SIG_IGN) }
    _ = fileMask
    // The parent may have ignored this signal, but this process must learn of the end of its children.
    signal(SIGCHLD, SIG_DFL)
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      switch arguments.action {
      case .help: try say(Arguments.help, terminator: "")
      case .version: try say("stagedoord \(version)")
      case .serve: try run { try await serve(arguments, on: $0) }
      case .demonstrate: try run { try await Demonstration.run(arguments, on: $0) }
      }
    } catch let misuse as Misuse {
      fail(2, "\(misuse)")
    } catch {
      fail(1, "\(error)")
    }
  }

  /// The soft limit is for programs that call select(), which knows no more than 1024. Messages bring descriptors with them, of which many may be
  /// open at once.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static func run(_ body: @escaping @Sendable (EventLoop) async throws -> Int32) throws -> Never {
    try Program.run(holding: Endings.signals + [ManifestKeeper.signal]) { loop in
      do { return try await body(loop) } catch { fail(1, "\(error)") }
    }
  }

  private static func serve(_ arguments: Arguments, on loop: EventLoop) async throws -> Int32 {
    let endings = try Endings(on: loop)
    let connection = try await Connection.open(try arguments.address ?? BusAddress.session(), on: loop)
    let ending: Ending
    do {
      let service = try await Service.start(arguments, on: connection)
      ending = await endings.first(on: connection, having: InterchangeNames.bus)
      await service.stop(ending)
    } catch {
      if await connection.isOpen { throw error }
      ending = .busWent
    }
    if case .busWent = ending { fputs("stagedoord: the bus has gone\n", stderr) }
    return ending.status
  }

  private static func say(_ text: String, terminator: String = "\n") throws {
    print(text, terminator: terminator)
    if fflush(stdout) != 0 { throw Failure("standard output: \(String(cString: strerror(errno)))") }
  }

  private static func fail(_ status: Int32, _ sentence: String) -> Never {
    fputs("stagedoord: \(sentence)\n", stderr)
    exit(status)
  }
}
