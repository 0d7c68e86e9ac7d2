import SceneModel
import ServiceSupport

/// The file of a manifest on this machine. It is read once: a pipe has nothing for a second reader, and a file may be replaced in between.
struct ManifestFile {
  /// The desktop's types, as the service knows them.
  static let types = TypeCatalog.installed(in: Directories.data())

  /// The manifests that the service reads.
  static var installed: InstalledManifests { InstalledManifests(in: Directories.data(), types: types) }

  let path: String
  let bytes: [UInt8]

  /// - Parameter path: "-" for standard input.
  init(_ path: String) throws(Problem) {
    self.path = path
    bytes = try InputFile.read(path, limit: Limits.manifest)
  }

  /// The manifest, or all its faults. A file whose name is an identifier need not contain the identifier.
  var parsed: Result<Manifest, Faults> {
    do throws(Faults) {
      return .success(try Manifest(bytes, installedAs: identifierInName, types: ManifestFile.types))
    } catch {
      return .failure(error)
    }
  }

  var isJSON: Bool {
    bytes.first { ![0x20, 0x0A, 0x0D, 0x09, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
  }

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
