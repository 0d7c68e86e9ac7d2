import DesktopFiles
import Glibc
import SceneModel
import ServiceSupport

/// Makes `stagedoor open` the first choice for documents, or undoes that.
enum DefaultHandler {
  private static let name = "\(Applications.handler).desktop"

  static func change(_ invocation: Invocation) throws(Problem) {
    guard let settings = Directories.userConfiguration() else {
      throw .failed("there is no directory for mimeapps.list: set HOME, or XDG_CONFIG_HOME to an absolute path")
    }
    let path = "\(settings)/mimeapps.list"
    let old = MimeAppsList(try read(path))
    let isMade = invocation.has(.makeDefault)
    let types = isMade ? try documentTypes() : old.typesOfHandler
    let new = isMade ? old.withHandler(for: types) : old.withoutHandler
    if let bytes = new.bytes {
      try OutputFile.makeDirectory(settings)
      if new != old { try OutputFile.write(bytes, to: path) }
    } else if unlink(OutputFile.target(of: path)) != 0, errno != ENOENT {
      throw .failed("\(path): \(InputFile.reason)")
    }
    try say(types, path, isChanged: new != old, invocation)
    if isMade { warn(settings, types) }
  }

  private static func read(_ path: String) throws(Problem) -> [UInt8]? {
    if let bytes = SmallFile.read(path, limit: 1 << 20) { return bytes }
    if access(path, F_OK) != 0, errno == ENOENT { return nil }
    throw .failed("\(path.printable) cannot be read, is no file, or has more than \(1 << 20) bytes; it stays as it is")
  }

  private static func documentTypes() throws(Problem) -> Set<String> {
    guard Directories.data().contains(where: { access("\($0)/applications/\(name)", R_OK) == 0 }) else {
      throw .failed("no \(name) is in a data directory, and the desktop would pass over it; `make install` installs it")
    }
    let types = Applications.installed.documentTypes
    if types.isEmpty {
      throw .failed("no installed application opens documents, so there is no type to be the default for")
    }
    return types
  }

  private static func say(
    _ types: Set<String>, _ path: String, isChanged: Bool, _ invocation: Invocation
  ) throws(Problem) {
    if invocation.has(.json) {
      let fields = Printed.object([
        ("changed", .bool(isChanged)), ("file", .text(path)), ("types", .texts(types.sorted())),
      ])
      return try Output.line(Printed.shown(fields))
    }
    if !isChanged {
      Output.note("stagedoor open: \(path) stays as it is: \(name) is \(types.isEmpty ? "no" : "already the") default")
    } else {
      let done = invocation.has(.makeDefault) ? "default" : "undone"
      try Change.say(done, counted(types.count, "type", "types"), path, invocation)
    }
  }

  private static var desktops: [String] {
    (Environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").map { $0.lowercased() }
  }

  /// Whether the desktop keeps windows from other programs.
  static var isPowerless: Bool { desktops.contains("gnome") && Environment["XDG_SESSION_TYPE"] == "wayland" }
  static let powerless = "in GNOME on Wayland no program may list or raise windows, so each file is opened as before"

  /// Says where the choice has no effect.
  private static func warn(_ settings: String, _ types: Set<String>) {
    for desktop in desktops {
      let path = "\(settings)/\(desktop)-mimeapps.list"
      let stronger = MimeAppsList(SmallFile.read(path, limit: 1 << 20))
      let count = stronger.chosenTypes.intersection(types).subtracting(stronger.typesOfHandler).count
      if count > 0 {
        Output.note(
          "stagedoor open: \(path.printable) comes first, and names other applications for \(count) of the types")
      }
    }
    if isPowerless { Output.note("stagedoor open: \(powerless)") }
  }
}
