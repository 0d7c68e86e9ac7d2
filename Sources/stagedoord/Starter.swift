import DBus
@preconcurrency import Glibc
import SceneModel
import ServiceSupport

/// Starts applications by the command of their manifest: through the user's systemd, or without a systemd as child processes. No shell
/// reads the command: ``CommandWords`` says what its words are.
struct Starter: Sendable {
  let connection: Connection
  /// The bus that the application must connect to.
  let address: BusAddress
  /// The mask for new files of an application; the mask of this process is stricter.
  let fileMask: mode_t

  /// The variables by which an application finds its user, its display and its bus. It gets no others of this process.
  private static let passedOn: Set<String> = [
    "DISPLAY", "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER", "WAYLAND_DISPLAY",
    "XAUTHORITY",
  ]

  /// Returns when the command has ended, with the reason if it failed.
  func run(_ application: Text, _ command: Text, _ activationToken: Text?) async -> String? {
    guard let words = CommandWords.words(of: command.string), let program = words.first else {
      return "its command \(CommandWords.unclosed), or is empty"
    }
    let environment = environment(activationToken)
    if await TransientUnit.isPossible(on: connection) {
      return await TransientUnit(for: application, on: connection).run(words, environment, about: application)
    }
    // A shell changes to the user's home and sets the mask, which only the process itself can do.
    let script = "cd 2>/dev/null || cd /; umask \(String(fileMask, radix: 8)); exec \"$0\" \"$@\""
    // One thread for each application waits for its end.
    let thread: EventLoop
    do { thread = try EventLoop(name: "starter") } catch { return "\(program): \(error)" }
    let failure = await thread.run { _ in
      let (process, error) = Starter.spawn(["/bin/sh", "-c", script] + words, environment)
      return error == 0 ? Starter.wait(for: process) : String(cString: strerror(error))
    }
    await thread.stop()
    return failure.map { "\(program): \($0)" }
  }

  private func environment(_ activationToken: Text?) -> [String] {
    var variables: [String] = []
    var next = environ
    while let variable = next.pointee.map({ String(cString: $0) }) {
      let name = String(variable.prefix { $0 != "=" })
      if Starter.passedOn.contains(name) || name.hasPrefix("XDG_") || name.hasPrefix("LC_") {
        variables.append(variable)
      }
      next += 1
    }
    variables.append("DBUS_SESSION_BUS_ADDRESS=\(address)")
    variables.removeAll { $0.hasPrefix("XDG_ACTIVATION_TOKEN=") }
    // Any sender chooses it, and systemd refuses an environment with control characters: all who wait for the application would wait in vain.
    let isPlain = activationToken?.withBytes { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    if let activationToken, isPlain == true {
      variables.append("XDG_ACTIVATION_TOKEN=\(activationToken)")
      variables.append("DESKTOP_STARTUP_ID=\(activationToken)")
    }
    return variables
  }

  /// The command has its own descriptors, signals and session; only its standard error is ours.
  private static func spawn(_ words: [String], _ environment: [String]) -> (process: pid_t, error: Int32) {
    Spawn.start(words, environment: environment, in: .session) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
      // Descriptors that we opened are closed on exec; these are inherited ones.
      for descriptor in SmallFile.names(in: "/proc/self/fd").compactMap(Int32.init) where descriptor > STDERR_FILENO {
        posix_spawn_file_actions_addclose(&actions, descriptor)
      }
    }
  }

  private static func wait(for process: pid_t) -> String? {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      if errno != EINTR { return String(cString: strerror(errno)) }
    }
    if status & 0x7F != 0 { return "it was ended by signal \(status & 0x7F)" }
    switch status >> 8 & 0xFF {
    case 0: return nil
    case 126: return "it cannot be run"
    case 127: return "it cannot be found"
    case let code: return "it ended with status \(code)"
    }
  }
}
