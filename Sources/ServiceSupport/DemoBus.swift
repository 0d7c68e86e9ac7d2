package import DBus
import Glibc

/// A bus of our own, for a machine without a session bus. The bus and its socket go when this process ends, in whatever way it ends.
package struct DemoBus {
  private let address: BusAddress
  private let process: pid_t
  /// The kernel signals the daemon when the *thread* that started it ends, so a thread of its own lasts as long as the daemon.
  private let thread: EventLoop

  /// Runs `body` on the session bus; or on a bus of our own, whose address `body` gets, if there is none or if it does not answer.
  package static func run(
    on loop: EventLoop, _ body: (Connection, _ ownAddress: BusAddress?) async throws -> Int32
  ) async throws -> Int32 {
    if let connection = try? await Connection.session(on: loop) { return try await body(connection, nil) }
    let bus = try await start()
    let result: Result<Int32, any Error>
    do {
      result = .success(try await body(try await Connection.open(bus.address, on: loop), bus.address))
    } catch {
      result = .failure(error)
    }
    await bus.stop()
    return try result.get()
  }

  /// Starts dbus-daemon, and reads its address from its output.
  private static func start() async throws -> DemoBus {
    let thread = try EventLoop(name: "demo-bus")
    do {
      let (process, address) = try await thread.run { _ in try startDaemon() }
      return DemoBus(address: address, process: process, thread: thread)
    } catch {
      await thread.stop()
      throw error
    }
  }

  /// Returns when the daemon has ended.
  private func stop() async {
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
    // The daemon removes its socket on SIGTERM. The kernel sends this signal also when this process is killed.
    let command = [
      "setpriv", "--pdeathsig", "TERM", "--", "dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog",
      "--address=unix:dir=\(directory)", "--print-address=1",
    ]
    let (process, code) = Spawn.start(command, in: .group) { actions in
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    guard code == 0 else { throw Failure("\(command[0]) could not be started: \(String(cString: strerror(code)))") }
    return process
  }

  /// The user's runtime directory, if there is one.
  private static var directory: String {
    for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
      if let value = Environment[name], access(value, W_OK) == 0 { return BusAddress.escaped(value) }
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
