import DBus
import Glibc
import ServiceSupport

/// What another program answers.
enum PrintedLine {
  /// The first line that a program prints; `nil` if none comes within two seconds.
  static func first(of words: [[UInt8]]) -> String? {
    guard let (readEnd, writeEnd) = try? OwnedFileDescriptor.pipe() else { return nil }
    let (process, error) = Spawn.start(words, in: .group) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, writeEnd.withRawValue { $0 }, STDOUT_FILENO)
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    }
    writeEnd.close()
    if error != 0 { return nil }
    let text = firstLine(of: readEnd.withRawValue { $0 }, until: ContinuousClock.now + .seconds(2))
    kill(-process, SIGKILL)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return text
  }

  private static func firstLine(of descriptor: Int32, until deadline: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    while bytes.count < 4096 {
      let rest = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard rest > 0, poll(&input, 1, Int32(rest.rounded(.up))) > 0,
        let chunk = try? InputFile.chunk(of: descriptor, "its output")
      else { return nil }
      bytes += chunk
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return String(decoding: bytes[..<end], as: UTF8.self) }
    }
    return nil
  }
}
