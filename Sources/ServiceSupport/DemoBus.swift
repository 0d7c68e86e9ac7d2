package import DBus
import Glibc

/// A bus of our own, for where there is none. It goes when we go, however we go, and takes its socket with it.
package struct DemoBus {
  package let address: BusAddress
  private let process: pid_t
  /// The kernel tells the daemon when the *thread* that started it ends, so it has one that lasts as long as it does.
  private let thread: EventLoop

  /// Starts dbus-daemon, and reads from it where it listens.
  package static func start() async throws -> DemoBus {
    let thread = try EventLoop(name: "demo-bus")
    do {
      let (process, address) = try await thread.run { _ in try startDaemon() }
      return DemoBus(address: address, process: process, thread: thread)
    } catch {
      await thread.stop()
      throw error
    }
  }

  /// Returns when it is gone.
  package func stop() async {
    kill(process, SIGTERM)
    waitpid(process, nil, 0)
    await thread.stop()
  }

  private static func startDaemon() throws -> (pid_t, BusAddress) {
    let output = try OwnedFileDescriptor.pipe()
    let process = try output.writeEnd.withRawValue { try spawn(output: $0) }
    output.writeEnd.close()
    guard let line = output.readEnd.withRawValue({ readLine(from: $0) }) else {
      waitpid(process, nil, 0)
      throw Failure("there is no session bus, and dbus-daemon, which would make one, does not start: is it installed?")
    }
    return (process, BusAddress(line))
  }

  private static func spawn(output: Int32) throws -> pid_t {
    // The daemon takes its socket away when it is told to end, and this tells it also where we are killed.
    let command = [
      "setpriv", "--pdeathsig", "TERM", "--", "dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog",
      "--address=unix:dir=\(directory)", "--print-address=1",
    ]
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)

    // A group of its own: the Ctrl-C is for us. And the signals that we ignore or block are for it to hear.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process = pid_t()
    let code = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, environ)
    guard code == 0 else { throw Failure("\(command[0]) could not be started: \(String(cString: strerror(code)))") }
    return process
  }

  /// The user's own directory where there is one.
  private static var directory: String {
    for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
      if let value = getenv(name), access(value, W_OK) == 0 { return BusAddress.escaped(String(cString: value)) }
    }
    return "/tmp"
  }

  private static func readLine(from descriptor: Int32) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }
}
