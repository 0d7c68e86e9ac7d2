package import Glibc

/// A directory of a test's own, which is removed with the last reference to it.
package final class TemporaryDirectory: Sendable {
  package let path: String

  /// - Parameter parent: A directory in memory, if the machine has one: some tests ask for thousands of syncs.
  package init(in parent: String = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") {
    var template = Array("\(parent)/stagedoor-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary directory: \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { TemporaryDirectory.remove(path) }

  // MARK: Its files

  /// The names of the files in it.
  package var names: [String] { TemporaryDirectory.names(in: path) }

  package func bytes(of name: String) -> [UInt8] {
    let descriptor = open("\(path)/\(name)", O_RDONLY)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: size(of: name))
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// Makes a file, and returns its path.
  @discardableResult
  package func write(_ bytes: some Collection<UInt8>, to name: String = "file") -> String {
    let (path, bytes) = ("\(path)/\(name)", Array(bytes))
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      fatalError("cannot write \(name): \(errno)")
    }
    return path
  }

  package func size(of name: String) -> Int {
    var status = stat()
    return stat("\(path)/\(name)", &status) == 0 ? Int(status.st_size) : 0
  }

  /// The permissions of a file, or of the directory itself.
  package func mode(of name: String = ".") -> mode_t { TemporaryDirectory.mode("\(path)/\(name)") }

  // MARK: Paths

  /// All paths below a directory, relative to it.
  package static func paths(below path: String, _ prefix: String = "") -> [String] {
    names(in: path).flatMap { name in [prefix + name] + paths(below: "\(path)/\(name)", "\(prefix)\(name)/") }
  }

  /// The names in a directory; none where there is a link to one.
  package static func names(in path: String) -> [String] {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, let directory = opendir(path) else {
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

  package static func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
