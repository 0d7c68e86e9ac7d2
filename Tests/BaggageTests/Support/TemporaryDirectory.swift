import Glibc

/// A directory of a test's own, which is removed with the last reference to it.
final class TemporaryDirectory: Sendable {
  let path: String

  init(in parent: String = "/tmp") {
    var template = Array("\(parent)/stagedoor-baggage-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary directory: \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { TemporaryDirectory.remove(path) }

  /// Makes a file, and returns its path.
  @discardableResult
  func write(_ bytes: some Collection<UInt8>, to name: String = "file") -> String {
    let (path, bytes) = ("\(path)/\(name)", Array(bytes))
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { fatalError("cannot write: \(errno)") }
    return path
  }

  /// All paths below a directory, relative to it.
  static func paths(below path: String, _ prefix: String = "") -> [String] {
    names(in: path).flatMap { name in [prefix + name] + paths(below: "\(path)/\(name)", "\(prefix)\(name)/") }
  }

  static func names(in path: String) -> [String] {
    let directory = opendir(path)
    guard let directory, isDirectory(path) else {
      if let directory { closedir(directory) }
      return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  static func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
