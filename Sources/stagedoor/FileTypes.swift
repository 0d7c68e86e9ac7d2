import Glibc

/// What kind of thing a file is, by the desktop's shared MIME database; by its content where the name says nothing.
enum FileTypes {
  static func type(ofFile path: String) throws(Problem) -> String {
    if let type = try type(ofName: String(path.split(separator: "/").last ?? "")) { return type }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0 { throw .failed("\(path.printable): \(InputFile.reason)") }
    defer { close(file) }
    return type(ofBytes: Array(try InputFile.chunk(of: file, path.printable) ?? []))
  }

  /// By the name's end; `nil` where the database does not know it.
  static func type(ofName name: String) throws(Problem) -> String? {
    var best: Glob?
    for directory in DataDirectories.all {
      guard access("\(directory)/mime/globs2", R_OK) == 0 else { continue }
      let database = try InputFile.read("\(directory)/mime/globs2", limit: 4 << 20)
      for line in database.split(separator: UInt8(ascii: "\n")) {
        guard let glob = Glob(line), glob.matches(name) else { continue }
        if best.map({ $0 < glob }) ?? true { best = glob }
      }
    }
    return best?.type
  }

  /// `50:image/png:*.png`, perhaps with `:cs` where the case of letters counts. The heaviest rule counts, and then the longest.
  private struct Glob {
    let weight: Int
    let type: String
    let pattern: String
    let isCaseSensitive: Bool

    init?(_ line: ArraySlice<UInt8>) {
      if line.first == UInt8(ascii: "#") { return nil }
      let fields = line.split(separator: UInt8(ascii: ":"))
      guard fields.count >= 3, let weight = Int(String(decoding: fields[0], as: UTF8.self)) else { return nil }
      self.weight = weight
      type = String(decoding: fields[1], as: UTF8.self)
      pattern = String(decoding: fields[2], as: UTF8.self)
      isCaseSensitive = fields.dropFirst(3).contains { $0.elementsEqual("cs".utf8) }
    }

    func matches(_ name: String) -> Bool {
      let (name, pattern) = isCaseSensitive ? (name, pattern) : (name.lowercased(), pattern.lowercased())
      let end = pattern.utf8.dropFirst()
      if pattern.utf8.first == UInt8(ascii: "*"), !end.contains(where: { "*?[".utf8.contains($0) }) {
        return name.utf8.count >= end.count && name.utf8.suffix(end.count).elementsEqual(end)
      }
      return fnmatch(pattern, name, 0) == 0
    }

    static func < (one: Glob, other: Glob) -> Bool {
      (one.weight, one.pattern.utf8.count) < (other.weight, other.pattern.utf8.count)
    }
  }

  /// What comes through a pipe has no name. The few kinds here say at their beginning what they are.
  static func type(ofBytes bytes: [UInt8]) -> String {
    let beginnings: [([UInt8], String)] = [
      ([0x89, 0x50, 0x4E, 0x47], "image/png"), ([0xFF, 0xD8, 0xFF], "image/jpeg"), (Array("GIF8".utf8), "image/gif"),
      (Array("%PDF-".utf8), "application/pdf"), ([0x50, 0x4B, 0x03, 0x04], "application/zip"),
      ([0x1F, 0x8B], "application/gzip"),
    ]
    if let (_, type) = beginnings.first(where: { bytes.starts(with: $0.0) }) { return type }
    // The shared database's own rule: what has no control characters in its first 128 bytes is text.
    let isText = bytes.prefix(128).allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    return isText ? "text/plain" : "application/octet-stream"
  }
}

/// The XDG data directories, the user's first. A relative path does not count.
enum DataDirectories {
  static var user: String? {
    if let path = Environment["XDG_DATA_HOME"], path.hasPrefix("/") { return path }
    return Environment["HOME"].map { "\($0)/.local/share" }
  }

  static var all: [String] {
    let system = (Environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(separator: ":").map(String.init)
    return [user].compactMap(\.self) + system.filter { $0.hasPrefix("/") }
  }
}
