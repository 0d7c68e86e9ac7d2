internal import DBus
internal import Glibc

/// A folder with a short path, because the path of a socket may have at most 107 bytes.
struct PrivateFolder: Sendable {
  let path: String
  private let counter = Lock(0)

  init() throws(SystemCallError) {
    var template = Array("/tmp/private-bus-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Makes a new folder in it.
  func makeFresh(_ name: String) throws(SystemCallError) -> String {
    let number = counter.withLock { number in
      number += 1
      return number
    }
    let path = "\(path)/\(name)-\(number)"
    try Self.make(path)
    return path
  }

  /// Makes a folder that only this user may read.
  static func make(_ path: String) throws(SystemCallError) {
    if mkdir(path, 0o700) != 0 { throw SystemCallError("mkdir \(path)") }
  }

  /// Writes a file into it, as a whole or not at all.
  func write(_ text: String, to name: String) throws(SystemCallError) {
    let temporary = "\(path)/\(name).new"
    let file = try FileDescriptors.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
    let code = Array(text.utf8).withUnsafeBytes { file.write($0, at: 0) }
    if code != 0 { throw SystemCallError("write \(temporary)", code) }
    if rename(temporary, "\(path)/\(name)") != 0 { throw SystemCallError("rename \(temporary)") }
  }

  /// Removes the folder. Call this if no bus has taken the folder over.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    // A path that is neither a file nor an empty folder is a folder with entries.
    if Glibc.remove(path) == 0 || errno != ENOTEMPTY { return }
    for name in Procfs.entries(of: path) { remove("\(path)/\(name)") }
    _ = Glibc.remove(path)
  }
}
