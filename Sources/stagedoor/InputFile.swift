import Glibc

/// Reads whole files.
enum InputFile {
  /// The content of a file, or of standard input if the path is "-".
  static func read(_ path: String, limit: Int) throws(Problem) -> [UInt8] {
    if path == "-" { return try read(STDIN_FILENO, "standard input", limit: limit) }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw .failed("\(path.printable): \(reason)") }
    defer { close(file) }
    return try read(file, path.printable, limit: limit)
  }

  static func read(_ descriptor: Int32, _ name: String, limit: Int) throws(Problem) -> [UInt8] {
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
      if errno != EINTR { throw .failed("\(name): \(reason)") }
    }
  }

  static var reason: String { String(cString: strerror(errno)) }
}
