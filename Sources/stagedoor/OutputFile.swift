import Glibc
import ServiceSupport

/// Writes whole files.
enum OutputFile {
  /// Writes a file in one step: a reader gets the old file or the new one. An existing file keeps its mode, and a link still leads to it.
  static func write(_ bytes: [UInt8], to path: String) throws(Problem) {
    let real = realpath(path, nil)
    defer { free(real) }
    let place = real.map { String(cString: $0) } ?? path
    var status = stat()
    let mode = stat(place, &status) == 0 ? status.st_mode & 0o7777 : 0o666 & ~mask
    var template = Array("\(place).XXXXXX".utf8CString)
    let file = mkstemp(&template)
    if file < 0 { throw .failed("\(path.printable): \(InputFile.reason)") }
    var rest = bytes[...]
    var isGood = fchmod(file, mode) == 0
    while isGood, !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      isGood = count > 0
      if isGood { rest = rest.dropFirst(count) }
    }
    if close(file) != 0 { isGood = false }
    if isGood, rename(template, place) == 0 { return }
    let reason = InputFile.reason
    unlink(template)
    throw .failed("\(path.printable): \(reason)")
  }

  /// The mask for new files of this process. The system returns it only to a caller that sets it.
  private static var mask: mode_t {
    let mask = umask(0o077)
    umask(mask)
    return mask
  }
}
