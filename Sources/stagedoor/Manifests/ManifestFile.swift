import SceneModel
import ServiceSupport
import StagedoorKit

/// The file of a manifest on this machine. It is read once: a pipe has nothing for a second reader, and a file may be replaced in between.
struct ManifestFile {
  static let types = TypeCatalog.installed(in: Directories.data())

  static var installed: InstalledManifests { InstalledManifests(in: Directories.data(), types: types) }

  let path: String
  let bytes: [UInt8]

  /// - Parameters:
  ///   - path: "-" for standard input.
  ///   - definitions: NAME=VALUE for each variable whose value the file gets.
  init(_ path: String, defining definitions: [String] = []) throws(Problem) {
    self.path = path
    bytes = ManifestFile.filled(try InputFile.read(path, limit: Limits.manifest), definitions)
  }

  static func manifests(_ invocation: Invocation) throws(Problem) -> GivenManifests {
    let paths = invocation.all(.manifests)
    if paths.isEmpty {
      var installed = installed
      return GivenManifests(all: installed.read().found.values.map(\.manifest))
    }
    var all: [Manifest] = []
    for path in paths {
      let file = try ManifestFile(path, defining: invocation.all(.define))
      switch file.parsed {
      case .success(let manifest): all.append(manifest)
      case .failure(let faults): throw .failed("\(path.printable): \(file.sentences(faults)[0])")
      }
    }
    return GivenManifests(all: all)
  }

  /// The faults as sentences. A variable that nobody defined is most likely the cause of a fault that shows it.
  func sentences(_ faults: Faults) -> [String] {
    faults.all.map { fault in
      let sentence = "\(fault)"
      guard let name = ManifestFile.variable(in: sentence) else { return sentence }
      return "\(sentence), or give it with --define \(name)=VALUE"
    }
  }

  /// `NAME` of the first `$(NAME)` or `${NAME}`.
  private static func variable(in text: String) -> String? {
    var rest = text[...]
    while let dollar = rest.firstIndex(of: "$") {
      rest = rest[dollar...].dropFirst()
      guard let end: Character = rest.first == "(" ? ")" : rest.first == "{" ? "}" : nil else { continue }
      let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == ":" }
      if !name.isEmpty, rest[name.endIndex...].first == end { return String(name) }
    }
    return nil
  }

  /// Fills in `$(NAME)` and `${NAME}`. A value is text in both forms of a manifest, whatever it contains.
  private static func filled(_ bytes: [UInt8], _ definitions: [String]) -> [UInt8] {
    let variables = definitions.flatMap { definition in
      let parts = definition.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let text = String(parts[1])
      let json = Printed.json(.text(text)).dropFirst().dropLast()
      let value = Array(Manifest.isJSON(bytes) ? json.utf8 : PropertyList.escapedForXML(text)[...].utf8)
      return ["$(\(parts[0]))", "${\(parts[0])}"].map { (name: Array($0.utf8), value: value) }
    }
    var filled: [UInt8] = []
    var rest = bytes[...]
    while let first = rest.first {
      if first == UInt8(ascii: "$"), let variable = variables.first(where: { rest.starts(with: $0.name) }) {
        filled += variable.value
        rest = rest.dropFirst(variable.name.count)
      } else {
        filled.append(first)
        rest = rest.dropFirst()
      }
    }
    return filled
  }

  /// The manifest, or all its faults. A file whose name is an identifier need not contain the identifier.
  var parsed: Result<Manifest, Faults> {
    do throws(Faults) {
      return .success(try Manifest(bytes, installedAs: identifierInName, types: ManifestFile.types))
    } catch {
      return .failure(error)
    }
  }

  var isJSON: Bool { Manifest.isJSON(bytes) }

  /// The identifier in the name of an installed file; `nil` for `Info.plist`.
  private var identifierInName: Text? {
    let name = String(path.split(separator: "/").last ?? "")
    for end in [".plist", ".json"] where name.hasSuffix(end) {
      let identifier = Text(String(name.dropLast(end.utf8.count)))
      return ApplicationIdentifier.isValid(identifier) ? identifier : nil
    }
    return nil
  }
}

/// The manifests of a command line. Applications may be shortened; a session is known by its whole identifier only.
struct GivenManifests: Names {
  let all: [Manifest]

  func application(_ text: String) async throws -> String {
    try Shortened.application(text, among: all.map(\.identifier.string))
  }

  func session(_ text: String) async throws -> SessionIdentifier {
    guard let session = SessionIdentifier(text) else {
      throw Problem.usage("without a service, \"\(text.printable)\" cannot be found; type the whole identifier")
    }
    return session
  }
}
