import DBus
import Glibc
import ServiceSupport

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
