import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// An installed application, as its desktop file describes it.
struct DesktopEntry {
  var identifier: String
  var path: String
  var name: String
  var exec: [String]
  var types: [String]
  var startupClass: String?
  var categories: Set<String>
  var isShown: Bool
  var isTerminal: Bool
  var isActivatable: Bool

  /// The name of the program that it starts.
  var program: String { exec.first.map { String(decoding: File.name(of: Bytes($0.utf8)), as: UTF8.self) } ?? "" }

  var traits: EntryTraits {
    EntryTraits(
      identifier: identifier, path: Bytes(path.utf8), startupClass: startupClass.map { Bytes($0.utf8) },
      program: Bytes(program.utf8))
  }

  /// The words that start it with a file, as the desktop entry specification fills them in.
  func command(opening path: String, url: String) -> [String] {
    var words: [String] = []
    var isFilled = false
    for word in exec {
      switch word {
      case "%f", "%F":
        words.append(path)
        isFilled = true
      case "%u", "%U":
        words.append(url)
        isFilled = true
      case "%i", "%d", "%D", "%n", "%N", "%v", "%m": break
      case "%c": words.append(name)
      case "%k": words.append(self.path)
      default: words.append(word.contains("%") ? DesktopEntry.filled(word, path, url, &isFilled) : word)
      }
    }
    return isFilled ? words : words + [path]
  }

  private static func filled(_ word: String, _ path: String, _ url: String, _ isFilled: inout Bool) -> String {
    var (text, isCode) = ("", false)
    for letter in word {
      if isCode {
        switch letter {
        case "f", "F": text += path
        case "u", "U": text += url
        case "%": text += "%"
        default: break
        }
        isFilled = isFilled || "fFuU".contains(letter)
        isCode = false
      } else if letter == "%" {
        isCode = true
      } else {
        text.append(letter)
      }
    }
    return text
  }
}

/// The applications of this machine, and which of them the person prefers for a type.
struct Applications {
  /// Our own handler is none: it would ask us again.
  static let handler = "stagedoor-open"

  private(set) var entries: [DesktopEntry] = []
  private var defaults: [String: [String]] = [:]
  private var added: [String: [String]] = [:]
  private var removed: [String: Set<String>] = [:]
  private let types: TypeCatalog

  init() {
    let data = Directories.data()
    types = TypeCatalog.installed(in: data)
    var seen: Set<String> = []
    for directory in data {
      Applications.forEachFile(in: "\(directory)/applications") { identifier, path in
        guard seen.insert(identifier).inserted, identifier != Applications.handler,
          let entry = DesktopEntry(identifier: identifier, at: path)
        else { return }
        entries.append(entry)
      }
    }
    for list in Applications.lists() { read(list) }
  }

  subscript(identifier: String) -> DesktopEntry? {
    entries.first { $0.identifier == identifier } ?? entries.first { "\($0.identifier).desktop" == identifier }
  }

  /// The application that opens files of a type: the person's choice, else the first that takes the type, for the type itself and then for the
  /// types that it is a kind of.
  func application(for type: ContentType) -> DesktopEntry? {
    let spellings =
      [type.spelling.string] + types.kinds(of: type).sorted { $0.distance < $1.distance }.map(\.name.string)
    for type in spellings {
      let chosen = (defaults[type] ?? []) + (added[type] ?? [])
      for identifier in chosen where !(removed[type]?.contains(identifier) ?? false) {
        if let entry = self[identifier] { return entry }
      }
      let takers = entries.filter { $0.types.contains(type) && !(removed[type]?.contains($0.identifier) ?? false) }
      // Entries that menus hide are often helpers of one that they show.
      if let entry = takers.first(where: \.isShown) ?? takers.first { return entry }
    }
    return nil
  }

  // MARK: mimeapps.list

  /// The lists, the strongest first.
  private static func lists() -> [String] {
    let desktops = (environment("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":").map {
      "\($0.lowercased())-mimeapps.list"
    }
    let names = desktops + ["mimeapps.list"]
    let configuration = environment("XDG_CONFIG_HOME") ?? environment("HOME").map { "\($0)/.config" }
    let shared = (environment("XDG_CONFIG_DIRS") ?? "/etc/xdg").split(separator: ":").map(String.init)
    let folders = [configuration].compactMap(\.self) + shared + Directories.data().map { "\($0)/applications" }
    return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
  }

  private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// A weaker list says nothing about an application that a stronger one has named for a type.
  private mutating func read(_ path: String) {
    for (group, key, value) in KeyFile.entries(of: path) {
      let identifiers = value.split(separator: ";").map {
        $0.hasSuffix(".desktop") ? String($0.dropLast(8)) : String($0)
      }
      switch group {
      case "Default Applications": defaults[key, default: []] += identifiers
      case "Added Associations":
        added[key, default: []] += identifiers.filter { !(removed[key]?.contains($0) ?? false) }
      case "Removed Associations":
        removed[key, default: []].formUnion(identifiers.filter { !(added[key]?.contains($0) ?? false) })
      default: break
      }
    }
  }

  // MARK: Files

  /// `kde/okular.desktop` has the identifier `kde-okular`.
  private static func forEachFile(in directory: String, _ prefix: String = "", _ body: (String, String) -> Void) {
    // `.` and `..` are names too, and would lead through the whole disk.
    for name in SmallFile.names(in: directory) where !name.hasPrefix(".") {
      let path = "\(directory)/\(name)"
      if name.hasSuffix(".desktop") {
        body(prefix + name.dropLast(8), path)
      } else if prefix.utf8.count < 256, isDirectory(path) {
        forEachFile(in: path, "\(prefix)\(name)-", body)
      }
    }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

extension DesktopEntry {
  /// `nil` for a file that describes no application, or none that is there.
  init?(identifier: String, at path: String) {
    var fields: [String: String] = [:]
    for (group, key, value) in KeyFile.entries(of: path) where group == "Desktop Entry" && fields[key] == nil {
      fields[key] = value
    }
    guard fields["Type"] == "Application", fields["Hidden"] != "true",
      let exec = fields["Exec"].flatMap(CommandWords.words), let program = exec.first,
      DesktopEntry.isInstalled(fields["TryExec"] ?? program)
    else { return nil }
    self.init(
      identifier: identifier, path: path, name: fields["Name"] ?? identifier, exec: exec,
      types: (fields["MimeType"] ?? "").split(separator: ";").map(String.init), startupClass: fields["StartupWMClass"],
      categories: Set((fields["Categories"] ?? "").split(separator: ";").map(String.init)),
      isShown: fields["NoDisplay"] != "true", isTerminal: fields["Terminal"] == "true",
      isActivatable: fields["DBusActivatable"] == "true")
  }

  private static func isInstalled(_ program: String) -> Bool {
    if program.hasPrefix("/") { return access(program, X_OK) == 0 }
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }
}

/// Files of groups and keys, as the desktop specifications have them.
enum KeyFile {
  static func entries(of path: String) -> [(group: String, key: String, value: String)] {
    guard let bytes = SmallFile.read(path, limit: 1 << 20) else { return [] }
    var entries: [(String, String, String)] = []
    var group = ""
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("[") {
        group = String(text.dropFirst().prefix { $0 != "]" })
      } else if !text.hasPrefix("#"), let equals = text.firstIndex(of: "=") {
        entries.append((group, trimmed(text[..<equals]), trimmed(text[text.index(after: equals)...])))
      }
    }
    return entries
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text.drop { $0.isWhitespace })
  }
}
