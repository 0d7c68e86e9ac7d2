import Glibc
package import SceneModel
import ServiceSupport

/// The applications of this machine, and which of them the person prefers for a type.
package struct Applications: Sendable {
  /// Our own handler is none: it would ask us again.
  package static let handler = "stagedoor-open"

  package private(set) var entries: [DesktopEntry] = []
  private var defaults: [String: [String]] = [:]
  private var added: [String: [String]] = [:]
  private var removed: [String: Set<String>] = [:]
  private var cached: [String: [String]] = [:]
  private let types: TypeCatalog

  package init() {
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
    for directory in data {
      for (_, type, value) in KeyFile.entries(of: "\(directory)/applications/mimeinfo.cache") {
        cached[type, default: []] += Applications.identifiers(value)
      }
    }
  }

  package subscript(identifier: String) -> DesktopEntry? {
    entries.first { $0.identifier == identifier } ?? entries.first { "\($0.identifier).desktop" == identifier }
  }

  /// Whether our handler is the choice for any type, so that the desktop may ask us to open what we hand over.
  package var isHandlerChosen: Bool { defaults.values.contains { $0.contains(Applications.handler) } }

  /// The types that an application for documents takes, by its own word or the person's.
  package var documentTypes: Set<String> {
    var types: Set<String> = []
    for entry in entries where entry.opensDocuments {
      let given = (Array(defaults) + Array(added)).filter { $0.value.contains(entry.identifier) }.map(\.key)
      types.formUnion((entry.types + given).filter { !(removed[$0]?.contains(entry.identifier) ?? false) })
    }
    return types.filter(DocumentType.isOne)
  }

  /// The application that opens files of a type: the person's choice, else the first that takes the type, for the type itself and then for the
  /// types that it is a kind of.
  package func application(for type: ContentType) -> DesktopEntry? {
    let spellings =
      [type.spelling.string] + types.kinds(of: type).sorted { $0.distance < $1.distance }.map(\.name.string)
    for type in spellings {
      let chosen = (defaults[type] ?? []) + (added[type] ?? [])
      for identifier in chosen where !(removed[type]?.contains(identifier) ?? false) {
        if let entry = self[identifier] { return entry }
      }
      let takers = takers(of: type)
      // Entries that menus hide are often helpers of one that they show.
      if let entry = takers.first(where: \.isShown) ?? takers.first { return entry }
    }
    return nil
  }

  /// The applications that take a type, in the order of the desktop's caches.
  private func takers(of type: String) -> [DesktopEntry] {
    let takers = entries.filter { $0.types.contains(type) && !(removed[type]?.contains($0.identifier) ?? false) }
    let order = cached[type] ?? []
    let known = order.compactMap { identifier in takers.first { $0.identifier == identifier } }
    return known + takers.filter { !order.contains($0.identifier) }
  }

  // MARK: mimeapps.list

  /// The lists, the strongest first.
  private static func lists() -> [String] {
    let desktops = (environment("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":").map {
      "\($0.lowercased())-mimeapps.list"
    }
    let names = desktops + ["mimeapps.list"]
    let folders = Directories.configuration() + Directories.data().map { "\($0)/applications" }
    return folders.flatMap { folder in names.map { "\(folder)/\($0)" } }
  }

  private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// A weaker list says nothing about an application that a stronger one has named for a type.
  private mutating func read(_ path: String) {
    for (group, key, value) in KeyFile.entries(of: path) {
      let identifiers = Applications.identifiers(value)
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

  private static func identifiers(_ value: String) -> [String] {
    value.split(separator: ";").map { $0.hasSuffix(".desktop") ? String($0.dropLast(8)) : String($0) }
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
