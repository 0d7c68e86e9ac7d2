import DBus
@preconcurrency import Glibc
import ServiceSupport

/// A process of a window, and its group: a command may have started other processes.
@MainActor final class Child {
  let program: String
  private let process: pid_t
  /// Waits for the end of the process: every other way would have to ask again and again.
  private let thread: EventLoop
  private(set) var isRunning = true
  private var wasTerminated = false

  /// - Parameters:
  ///   - values: The values of the placeholders.
  ///   - files: The paths that replace `{file}`.
  init(_ command: CommandTemplate, _ values: [String: String], _ files: [String]) throws {
    let words = command.filled(values, files: files)
    let variables = CommandTemplate.variables(values, files: files)
    program = words[0]
    thread = try EventLoop(name: "child")
    // The program writes to our outputs, and reads nothing.
    let environment = Environment.all(adding: variables)
    let (process, error) = Spawn.start(words.map { Array($0.utf8) }, environment: environment, in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    self.process = process
    if error != 0 {
      thread.beginStopping()
      throw Problem.failed("\(program.printable): \(String(cString: strerror(error)))")
    }
  }

  /// Returns when the process has ended. If it failed by itself, the result says how, as the end of a sentence. Call this once.
  func ended() async -> String? {
    let process = process
    await thread.run { _ in
      var info = siginfo_t()
      while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }
    await thread.stop()
    // Until now the process kept its number, so no signal could reach another process.
    var status: Int32 = 0
    waitpid(process, &status, 0)
    isRunning = false
    if wasTerminated || status == 0 { return nil }
    let number = status & 0x7F
    return number == 0 ? "ended with status \(status >> 8)" : "was ended by the signal \(number)"
  }

  func terminate() {
    wasTerminated = true
    if isRunning { kill(-process, SIGTERM) }
  }
}
