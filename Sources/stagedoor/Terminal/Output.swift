@preconcurrency import Glibc
import ServiceSupport
import Synchronization

/// Standard output. A failed write is an error: a list that a full disk cut off is not the list.
enum Output {
  private static let began = Atomic(false)

  static var isEmpty: Bool { !began.load(ordering: .relaxed) }

  static func write(_ text: String) throws(Problem) {
    began.store(true, ordering: .relaxed)
    var text = text
    let written = text.withUTF8 { fwrite($0.baseAddress, 1, $0.count, stdout) == $0.count }
    if !written { throw cannotWrite }
  }

  static func line(_ text: String) throws(Problem) { try write(text + "\n") }

  static func flush() throws(Problem) { if fflush(stdout) != 0 { throw cannotWrite } }

  private static var cannotWrite: Problem {
    errno == EBADF
      ? .failed("standard output is closed, and the answer cannot be written to it")
      : .failed("the answer cannot be written to standard output: \(InputFile.reason)")
  }

  /// Tells the person something, apart from the output that programs read.
  static func note(_ text: String) { fputs(text.printable + "\n", stderr) }
}

enum Question {
  static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  static func ask(_ question: String) -> Bool {
    fputs("\(question.printable) [y/N] ", stderr)
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }
}
