import DBus
@preconcurrency import Glibc
import ServiceSupport

/// A process of a window, and its group: a command may have begun others.
@MainActor final class Child {
  private let process: pid_t
  /// Waits for the end: nothing else tells of a process without being asked again and again.
  private let thread: EventLoop
  private(set) var isRunning = true
  private var wasTerminated = false

  init(_ words: [String]) throws {
    thread = try EventLoop(name: "child")
    // What the program prints is for whoever reads along, and what it asks is for nobody.
    let (process, error) = Spawn.start(words, in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    self.process = process
    if error != 0 {
      thread.beginStopping()
      throw Problem.failed("\(words[0].printable): \(String(cString: strerror(error)))")
    }
  }

  /// Returns when the process has ended: how, as the end of a sentence, if it failed by itself. Call this once for each.
  func ended() async -> String? {
    let process = process
    await thread.run { _ in
      var info = siginfo_t()
      while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }
    await thread.stop()
    // Until now the process had its number, so nobody else could be signalled in its place.
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
