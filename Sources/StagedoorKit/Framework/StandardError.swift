@preconcurrency internal import Glibc

/// Where a program says what nobody asked for.
enum StandardError {
  static func write(_ line: String) { fputs("\(line)\n", stderr) }
}
