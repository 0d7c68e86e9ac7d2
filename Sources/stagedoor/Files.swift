import DBus
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

enum OutputFile {
  /// Writes a file in one step: a reader gets the old file or the new one. An existing file keeps its mode, and a link still leads to it. A pipe or a
  /// device gets the bytes, and stays what it is.
  static func write(_ bytes: [UInt8], to path: String) throws(Problem) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG { return try write(bytes, into: path) }
    let place = target(of: path)
    let mode = isThere ? status.st_mode & 0o7777 : 0o666 & ~mask
    var template = Array("\(place).XXXXXX".utf8CString)
    let number = mkstemp(&template)
    if number < 0 { throw .failed("\(path.printable): \(InputFile.reason)") }
    let file = OwnedFileDescriptor(owning: number)
    var error = fchmod(number, mode) == 0 ? bytes.withUnsafeBytes { file.write($0, at: 0) } : errno
    // Otherwise a power cut after the renaming could leave an empty file.
    if error == 0, fsync(number) != 0 || close(file.release()) != 0 || rename(template, place) != 0 { error = errno }
    if error == 0 { return }
    unlink(template)
    throw .failed("\(path.printable): \(String(cString: strerror(error)))")
  }

  private static func write(_ bytes: [UInt8], into path: String) throws(Problem) {
    guard let stream = fopen(path, "we") else { throw .failed("\(path.printable): \(InputFile.reason)") }
    let isWritten = fwrite(bytes, 1, bytes.count, stream) == bytes.count && fflush(stream) == 0
    let reason = InputFile.reason
    fclose(stream)
    if !isWritten { throw .failed("\(path.printable): \(reason)") }
  }

  static func makeDirectory(_ path: String) throws(Problem) {
    var whole = ""
    for part in path.split(separator: "/") {
      whole += "/\(part)"
      if mkdir(whole, 0o777) != 0, errno != EEXIST, errno != EISDIR { throw .failed("\(whole): \(InputFile.reason)") }
    }
  }

  /// The place to which links lead, also where no file exists yet.
  static func target(of path: String) -> String {
    if let file = LinkTarget.last(of: path) { return file }
    var place = path
    // The kernel follows no more links either.
    for _ in 0..<40 {
      guard let next = LinkTarget.of(place) else { break }
      let directory = place.prefix(upTo: place.lastIndex(of: "/").map { place.index(after: $0) } ?? place.startIndex)
      place = next.hasPrefix("/") ? next : directory + next
    }
    return place
  }

  /// The mask for new files of this process. The system returns it only to a caller that sets it.
  private static var mask: mode_t {
    let mask = umask(0o077)
    umask(mask)
    return mask
  }
}
