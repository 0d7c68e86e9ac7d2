import Glibc
package import SceneModel

/// The directories of the XDG base directory specification, which ignores a relative path in its variables.
package enum Directories {
  /// The directory of what the service stores; `nil` without a home.
  package static func state() -> String? { base("XDG_STATE_HOME", in: ".local/state").map { "\($0)/stagedoor" } }

  package static func userData() -> String? { base("XDG_DATA_HOME", in: ".local/share") }

  /// The user's directory, then those of the system.
  package static func data() -> [String] { all(userData(), "XDG_DATA_DIRS", or: ["/usr/local/share", "/usr/share"]) }

  package static func userConfiguration() -> String? { base("XDG_CONFIG_HOME", in: ".config") }

  /// The user's directory, then those of the system.
  package static func configuration() -> [String] { all(userConfiguration(), "XDG_CONFIG_DIRS", or: ["/etc/xdg"]) }

  /// The user's home; "" without one.
  package static func home() -> String { Environment["HOME"] ?? "" }

  private static func base(_ name: String, in home: String) -> String? {
    if let path = Environment[name], path.hasPrefix("/") { return path }
    return Environment["HOME"].map { "\($0)/\(home)" }
  }

  private static func all(_ user: String?, _ name: String, or usual: [String]) -> [String] {
    let system = (Environment[name] ?? "").split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    return [user].compactMap(\.self) + (system.isEmpty ? usual : system)
  }
}

package enum SmallFile {
  /// `nil` if there is no such file, if it is larger than `limit`, or if it cannot be read.
  package static func read(_ path: String, limit: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(max(4 << 10, Int(status.st_size) + 1), 64 << 10))
    while bytes.count <= limit {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
    return nil
  }

  /// Why a file of at most `limit` bytes cannot be read: "is a directory".
  package static func reason(_ path: String, limit: Int) -> String {
    var status = stat()
    if stat(path, &status) != 0 { return "cannot be read: \(String(cString: strerror(errno)))" }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return "is a directory"
    case S_IFREG: break
    default: return "is no file"
    }
    if status.st_size > limit { return "has more than \(limit) bytes" }
    return access(path, R_OK) == 0 ? "cannot be read" : "cannot be read: \(String(cString: strerror(errno)))"
  }

  /// The directories of what symbolic links of these names lead to, and of each link on the way, also where there is nothing yet.
  package static func directories(linkedFrom directory: String, where isWanted: (String) -> Bool) -> Set<String> {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var found: Set<String> = []
    while let entry = readdir(stream) {
      guard [DT_LNK, DT_UNKNOWN].contains(Int(entry.pointee.d_type)), case let name = name(of: entry), isWanted(name)
      else { continue }
      var (folder, file) = (directory, "\(directory)/\(name)")
      for _ in 0..<LinkTarget.most {
        guard let target = LinkTarget.of(file) else { break }
        file = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
        found.insert(folder)
      }
    }
    return found
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  package static func names(in directory: String) -> [String] { names(readIn: directory) ?? [] }

  /// The names in a directory; if it cannot be read for the moment, the names of those of the `known` paths that are in it.
  package static func names(in directory: String, among known: some Sequence<Text>) -> [String] {
    if let names = names(readIn: directory) { return names }
    let prefix = Text(directory + "/")
    return known.filter { $0.hasPrefix(prefix) }.sorted().map { String($0.string.dropFirst(prefix.string.count)) }
  }

  /// The names in a directory, in order; `nil` if there is one that cannot be read.
  package static func names(readIn directory: String) -> [String]? {
    guard let stream = opendir(directory) else { return errno == ENOENT || errno == ENOTDIR ? [] : nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) { names.append(name(of: entry)) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

package enum LinkTarget {
  /// The links that Linux follows on one path.
  static let most = 40

  /// What a symbolic link names; `nil` if it cannot be read.
  package static func of(_ link: String) -> String? { bytes(of: link).map { String(decoding: $0, as: UTF8.self) } }

  /// The same in the bytes of the link, which may be no text.
  package static func bytes(of link: String) -> [UInt8]? {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(link, &path, path.count)
    return length < 0 ? nil : Array(path[..<length])
  }

  /// The file to which all links in a path lead; `nil` if there is none, and `errno` says why.
  package static func last(of path: String) -> String? {
    last(of: Array(path.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  package static func last(of path: [UInt8]) -> [UInt8]? {
    guard let real = realpath(path.map { CChar(bitPattern: $0) } + [0], nil) else { return nil }
    defer { free(real) }
    return Array(cString: real)
  }
}

extension [UInt8] {
  /// The bytes of a text of C, which may be no UTF-8.
  package init(cString text: UnsafePointer<CChar>) {
    self = UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
  }
}
