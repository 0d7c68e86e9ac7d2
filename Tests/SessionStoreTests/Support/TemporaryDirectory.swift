import Glibc

/// A directory of a test's own, which is removed with the last reference to it.
final class TemporaryDirectory: Sendable {
  let path: String

  /// - Parameter parent: A directory in memory, if the machine has one: the tests ask for thousands of syncs.
  init(in parent: String = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") {
    var template = Array("\(parent)/stagedoor-store-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary directory: \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { TemporaryDirectory.remove(path) }

  /// A copy of what a process that is killed now leaves, in a directory of its own.
  func copy(walLength: Int? = nil) -> TemporaryDirectory {
    let copy = TemporaryDirectory()
    for name in names where name != "lock" {
      var bytes = bytes(of: name)
      if name == "stagedoor.db-wal", let walLength { bytes = Array(bytes.prefix(walLength)) }
      copy.write(bytes, to: name)
    }
    return copy
  }

  /// The names of the files in it.
  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  func bytes(of name: String) -> [UInt8] {
    let descriptor = open("\(path)/\(name)", O_RDONLY)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size(of: name))
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  func write(_ bytes: [UInt8], to name: String) {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      fatalError("cannot write \(name): \(errno)")
    }
  }

  func size(of name: String) -> Int {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? Int(status.st_size) : 0
  }

  /// The permissions of a file, or of the directory itself.
  func mode(of name: String = ".") -> mode_t {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : 0
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { remove("\(path)/\(name)") }
    }
    closedir(directory)
    rmdir(path)
  }
}

extension TemporaryDirectory {
  /// The identity of a file, whatever its name.
  func inode(of name: String) -> UInt {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? UInt(status.st_ino) : 0
  }
}
