import Glibc
import ServiceSupport

enum InputFile {
  /// The content of a file, or of standard input if the path is "-".
  static func read(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
    if path == "-" { return try read(STDIN_FILENO, name(path), limit: limit) }
    // Opening a named pipe would wait for somebody who writes into it.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0 { throw .failed("\(path.printable): \(reason)") }
    defer { close(file) }
    var status = stat()
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFIFO, hasName(file) {
      throw .failed("\(path.printable) is a pipe; read it as standard input: - <\(path.printable)")
    }
    _ = fcntl(file, F_SETFL, O_RDONLY)
    return try read(file, path.printable, limit: limit)
  }

  static func text(_ path: String, limit: Int) throws(Problem) -> String {
    if let text = String(validating: try read(path, limit: limit), as: UTF8.self) { return text }
    throw .failed("\(name(path)) is not UTF-8")
  }

  static func name(_ path: String) -> String { path == "-" ? "standard input" : path.printable }

  private static func read(_ descriptor: Int32, _ name: String, limit: Int) throws(Problem) -> [UInt8] {
    var bytes: [UInt8] = []
    while let chunk = try chunk(of: descriptor, name) {
      bytes += chunk
      if bytes.count > limit {
        throw .failed("\(name) has more than \(limit) bytes, which is more than the service takes")
      }
    }
    return bytes
  }

  /// The next bytes; `nil` at the end.
  static func chunk(of descriptor: Int32, _ name: String) throws(Problem) -> ArraySlice<UInt8>? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count > 0 { return buffer[..<count] }
      if count == 0 { return nil }
      if errno == EBADF { throw .failed("\(name) is closed") }
      if errno != EINTR { throw .failed("\(name): \(reason)") }
    }
  }

  /// Whether a pipe has a place among the files. A shell's `<(…)` has none.
  private static func hasName(_ descriptor: Int32) -> Bool {
    !(LinkTarget.of("/proc/self/fd/\(descriptor)")?.hasPrefix("pipe:") ?? false)
  }

  static var reason: String { String(cString: strerror(errno)) }
}
