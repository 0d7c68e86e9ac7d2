import Glibc
import SceneModel

/// What kind of thing a file is, by the desktop's shared MIME databases; by its content where the name says nothing.
enum InstalledFileTypes {
  static func type(ofFile path: String) throws(Problem) -> String {
    if let type = try type(ofName: String(path.split(separator: "/").last ?? "")) { return type }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0 { throw .failed("\(path.printable): \(InputFile.reason)") }
    defer { close(file) }
    return type(ofBytes: Array(try InputFile.chunk(of: file, path.printable) ?? []))
  }

  /// By the name's end; `nil` where no database knows it.
  static func type(ofName name: String) throws(Problem) -> String? {
    var databases: [[UInt8]] = []
    for directory in DataDirectories.all where access("\(directory)/mime/globs2", R_OK) == 0 {
      databases.append(try InputFile.read("\(directory)/mime/globs2", limit: Limits.typeDatabase))
    }
    return FileTypes(databases).type(ofName: Text(name))?.spelling.string
  }

  static func type(ofBytes bytes: [UInt8]) -> String { FileTypes.type(ofBytes: bytes).spelling.string }
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
