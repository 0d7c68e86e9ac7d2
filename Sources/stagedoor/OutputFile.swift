import Glibc

/// Files that are written whole.
enum OutputFile {
  /// In one step: whoever reads the file meanwhile gets the old one or the new one. An existing file keeps its mode, and a link leads to it as before.
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

  /// What new files of this process are not allowed. The system tells it only to whoever sets it.
  private static var mask: mode_t {
    let mask = umask(0o077)
    umask(mask)
    return mask
  }
}
