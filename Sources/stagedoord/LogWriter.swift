import Glibc
import Interchange

/// Writes the log to standard error: under systemd with the level before each line, otherwise in a form for people.
enum LogWriter {
  static func make(level: Log.Level) -> Log {
    let isJournal = isStandardErrorTheJournal
    return Log(level) { line, text in
      // An entry is one line, whatever line ends its text contains.
      let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
      let oneLine = isPlain ? text : LogWriter.visible(text)
      let whole = isJournal ? "<\(line.priority)>\(oneLine)\n" : "stagedoord: \(oneLine)\n"
      // The writer does not wait for a reader. A pipe that is ready for writing takes this many bytes at once.
      var standardError = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      guard poll(&standardError, 1, 0) == 1 else { return }
      _ = whole.utf8.withContiguousStorageIfAvailable {
        Glibc.write(STDERR_FILENO, $0.baseAddress, min($0.count, 4096))
      }
    }
  }

  /// A text on one line, in which nothing moves a terminal's cursor or changes its colours.
  private static func visible(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
        line += scalar == "\n" ? "⏎" : "\\u{\(String(scalar.value, radix: 16))}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }

  /// `JOURNAL_STREAM` names the device and inode of the descriptor that leads to the journal.
  private static var isStandardErrorTheJournal: Bool {
    guard let named = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 && named == "\(status.st_dev):\(status.st_ino)"
  }
}
