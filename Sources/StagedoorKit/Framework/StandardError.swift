@preconcurrency internal import Glibc

/// The standard error of the program, for messages.
enum StandardError {
  static func write(_ line: String) { fputs("\(line)\n", stderr) }
}
