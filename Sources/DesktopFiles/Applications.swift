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
  /// Every directory that was read: those of desktop files, and those of `mimeapps.list`.
  package private(set) var directories: Set<String> = []

  /// - Parameters:
  ///   - data: The directories of data, the user's first.
  ///   - configuration: Those of settings.
  package init(in data: [String], configuration: [String]) {
    types = TypeCatalog.installed(in: data)
    var seen: Set<String> = []
    for directory in data { addEntries(in: "\(directory)/applications", besides: &seen) }
    for folder in configuration + data.map({ "\($0)/applications" }) {
      directories.insert(folder)
      for name in Applications.listNames { read("\(folder)/\(name)") }
    }
    for directory in data {
      for (_, type, value) in KeyFile.entries(of: "\(directory)/applications/mimeinfo.cache") {
        cached[type, default: []] += Applications.identifiers(value)
      }
    }
    fold()
  }

  /// Those that this person can use at present.
  package static var installed: Applications {
    Applications(in: Directories.data(), configuration: Directories.configuration())
  }

  package subscript(identifier: String) -> DesktopEntry? {
    entries.first { $0.identifier == identifier } ?? entries.first { "\($0.identifier).desktop" == identifier }
  }

  /// Whether our handler is the choice for any type, so that the desktop may ask us to open what we hand over.
  package var isHandlerChosen: Bool { defaults.values.contains { $0.contains(Applications.handler) } }

  /// The types that an application for documents takes, by its own word or the person's; not those of a choice that needs a terminal.
  package var documentTypes: Set<String> {
    documentTypes(of: entries.filter(\.opensDocuments)).filter { type in
      ContentType(Text(type)).flatMap(application)?.isTerminal != true
    }
  }

  func documentTypes(of entries: [DesktopEntry]) -> Set<String> {
    var types: Set<String> = []
    for entry in entries {
      let given = (Array(defaults) + Array(added)).filter { $0.value.contains(entry.identifier) }.map(\.key)
      types.formUnion((entry.types + given).filter { !isRemoved(entry.identifier, from: $0) })
    }
    return types.filter(DocumentType.isOne)
  }

  /// The chosen applications for a type, the first choice first.
  func choices(for type: String) -> [String] {
    (defaults[type] ?? []).filter { !isRemoved($0, from: type) }
  }

  /// Whether the person has said that an application does not take a type.
  private func isRemoved(_ identifier: String, from type: String) -> Bool {
    removed[type]?.contains(identifier) ?? false
  }

  /// The application that opens files of a type: the person's choice, else the first that takes the type, for the type itself and then for the
  /// types that it is a kind of.
  package func application(for type: ContentType) -> DesktopEntry? {
    for type in spellings(of: type) {
      if let entry = chosen(for: type).first { return entry }
      let takers = takers(of: type)
      // Entries that menus hide are often helpers of one that they show.
      let windowed = takers.filter { !$0.isTerminal }
      if let entry = windowed.first(where: \.isShown) ?? windowed.first ?? takers.first { return entry }
    }
    return nil
  }

  /// The names of all applications that take a type, or a type that it is a kind of.
  package func names(ofTakersOf type: ContentType) -> Set<String> {
    Set(spellings(of: type).flatMap { chosen(for: $0) + takers(of: $0) }.map(\.application))
  }

  private func spellings(of type: ContentType) -> [String] {
    [type.spelling.string] + types.kinds(of: type).sorted { $0.distance < $1.distance }.map(\.name.string)
  }

  /// The applications that the person has chosen for a type, or added to those that take it.
  private func chosen(for type: String) -> [DesktopEntry] {
    (choices(for: type) + (added[type] ?? []).filter { !isRemoved($0, from: type) }).compactMap { self[$0] }
  }

  /// Entries of one program are one application, which has the name of one that menus show, and what that says of its kind: another, such as one that a file
  /// manager wrote for a choice, may say nothing.
  private mutating func fold() {
    var chief: [String: DesktopEntry] = [:]
    for (program, group) in Dictionary(grouping: entries, by: \.program) where !program.isEmpty {
      let shown = group.filter(\.isShown)
      chief[program] = (shown.isEmpty ? group : shown).min {
        ($0.identifier.utf8.count, $0.identifier) < ($1.identifier.utf8.count, $1.identifier)
      }
    }
    for place in entries.indices {
      guard let chief = chief[entries[place].program] else { continue }
      entries[place].application = chief.identifier
      entries[place].categories.formUnion(chief.categories)
    }
  }

  /// The applications that take a type, in the order of the desktop's caches.
  private func takers(of type: String) -> [DesktopEntry] {
    let takers = entries.filter { $0.types.contains(type) && !isRemoved($0.identifier, from: type) }
    let order = cached[type] ?? []
    let known = order.compactMap { identifier in takers.first { $0.identifier == identifier } }
    return known + takers.filter { !order.contains($0.identifier) }
  }

  // MARK: mimeapps.list

  /// The names of the lists in a directory, the strongest first.
  private static var listNames: [String] {
    let desktops = Environment["XDG_CURRENT_DESKTOP"] ?? ""
    return desktops.split(separator: ":").map { "\($0.lowercased())-mimeapps.list" } + ["mimeapps.list"]
  }

  /// A weaker list says nothing about an application that a stronger one has named for a type.
  private mutating func read(_ path: String) {
    let chosen = defaults
    for (group, key, value) in KeyFile.entries(of: path) {
      let identifiers = Applications.identifiers(value)
      switch group {
      case "Default Applications": defaults[key, default: []] += identifiers
      case "Added Associations":
        added[key, default: []] += identifiers.filter { !isRemoved($0, from: key) }
      case "Removed Associations":
        let named = (added[key] ?? []) + (chosen[key] ?? [])
        removed[key, default: []].formUnion(identifiers.filter { !named.contains($0) })
      default: break
      }
    }
  }

  private static func identifiers(_ value: String) -> [String] {
    value.split(separator: ";").map { $0.hasSuffix(".desktop") ? String($0.dropLast(8)) : String($0) }
  }

  // MARK: Files

  /// `kde/okular.desktop` has the identifier `kde-okular`. The first file of an identifier counts.
  private mutating func addEntries(in directory: String, _ prefix: String = "", besides seen: inout Set<String>) {
    directories.insert(directory)
    // `.` and `..` are names too, and would lead through the whole disk.
    for name in SmallFile.names(in: directory) where !name.hasPrefix(".") {
      let path = "\(directory)/\(name)"
      if name.hasSuffix(".desktop") {
        let identifier = prefix + name.dropLast(8)
        guard seen.insert(identifier).inserted, identifier != Applications.handler else { continue }
        if let entry = DesktopEntry(identifier: identifier, at: path) { entries.append(entry) }
      } else if prefix.utf8.count < 256, Applications.isDirectory(path) {
        addEntries(in: path, "\(prefix)\(name)-", besides: &seen)
      }
    }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
