import Glibc
import Interchange
import ServiceSupport

/// Writes the log to standard error: under systemd with the level before each line, otherwise in a form for people.
enum LogWriter {
  static func make(level: Log.Level) -> Log {
    let isJournal = isStandardErrorTheJournal
    return Log(level) { line, text in
      // An entry is one line, whatever line ends its text contains.
      var whole = isJournal ? "<\(line.priority)>\(text.printable)\n" : "stagedoord: \(text.printable)\n"
      if whole.utf8.count > most { whole = cut(whole) }
      // The writer does not wait for a reader.
      var standardError = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      guard poll(&standardError, 1, 0) == 1 else { return }
      _ = whole.utf8.withContiguousStorageIfAvailable { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
  }

  /// A pipe that is ready for writing takes this many bytes at once.
  private static let most = 4096

  /// The beginning of a longer entry. It ends its line all the same: the next entry would be a part of it.
  private static func cut(_ entry: String) -> String {
    let end = "…\n"
    var bytes = Array(entry.utf8.prefix(most - end.utf8.count))
    // The last character may be cut in two.
    while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
    return String(decoding: bytes, as: UTF8.self) + end
  }

  /// `JOURNAL_STREAM` names the device and inode of the descriptor that leads to the journal.
  private static var isStandardErrorTheJournal: Bool {
    guard let named = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 && named == "\(status.st_dev):\(status.st_ino)"
  }
}
