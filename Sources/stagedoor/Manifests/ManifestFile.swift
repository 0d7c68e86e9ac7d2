import SceneModel
import ServiceSupport

/// A manifest on this machine, and its faults.
enum ManifestFile {
  /// The desktop's types, as the service knows them.
  static let types = TypeCatalog.installed(in: Directories.data())

  /// The manifests that the service reads.
  static var installed: InstalledManifests { InstalledManifests(in: Directories.data(), types: types) }

  /// The manifest in a file, or all its faults. A file whose name is an identifier need not contain the identifier.
  static func read(_ path: String) throws(Problem) -> Result<Manifest, Faults> {
    let bytes = try InputFile.read(path, limit: Limits.manifest)
    do throws(Faults) {
      return .success(try Manifest(bytes, installedAs: identifier(inName: path), types: types))
    } catch {
      return .failure(error)
    }
  }

  /// The identifier in the name of an installed file; `nil` for `Info.plist`.
  private static func identifier(inName path: String) -> Text? {
    let name = String(path.split(separator: "/").last ?? "")
    for end in [".plist", ".json"] where name.hasSuffix(end) {
      let identifier = Text(String(name.dropLast(end.utf8.count)))
      return ApplicationIdentifier.isValid(identifier) ? identifier : nil
    }
    return nil
  }

  static func isJSON(_ bytes: [UInt8]) -> Bool {
    bytes.first { ![0x20, 0x0A, 0x0D, 0x09, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
  }
}
