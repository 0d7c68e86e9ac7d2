internal import DBus
internal import Glibc

/// A folder with a short path, since the path of a socket may have 107 bytes and no more.
struct PrivateFolder: Sendable {
  let path: String
  private let counter = Lock(0)

  init() throws(SystemCallError) {
    var template = Array("/tmp/private-bus-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemCallError("mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Makes a folder in it that was not there.
  func makeFresh(_ name: String) throws(SystemCallError) -> String {
    let number = counter.withLock { number in
      number += 1
      return number
    }
    let path = "\(path)/\(name)-\(number)"
    try Self.make(path)
    return path
  }

  /// Makes a folder that only we may look into.
  static func make(_ path: String) throws(SystemCallError) {
    if mkdir(path, 0o700) != 0 { throw SystemCallError("mkdir \(path)") }
  }

  /// Puts a file into it: wholly there, or not at all.
  func write(_ text: String, to name: String) throws(SystemCallError) {
    let temporary = "\(path)/\(name).new"
    let descriptor = try FileDescriptors.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
    try FileDescriptors.write(Array(text.utf8), to: descriptor)
    if rename(temporary, "\(path)/\(name)") != 0 { throw SystemCallError("rename \(temporary)") }
  }

  /// Where it did not come to a bus that takes it along.
  func remove() {
    Self.remove(path)
  }

  private static func remove(_ path: String) {
    // What is no empty folder and no file is a folder with something in it.
    if Glibc.remove(path) == 0 || errno != ENOTEMPTY { return }
    for name in Procfs.entries(of: path) { remove("\(path)/\(name)") }
    _ = Glibc.remove(path)
  }
}
