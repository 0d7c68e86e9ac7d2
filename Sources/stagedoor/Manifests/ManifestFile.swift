import SceneModel
import ServiceSupport

/// A manifest on this machine, and what is wrong with it.
enum ManifestFile {
  /// The desktop's types, as the service knows them.
  static let types = TypeCatalog.installed(in: Directories.data())

  /// The manifests that the service reads.
  static var installed: InstalledManifests { InstalledManifests(in: Directories.data(), types: types) }

  /// What is written in a file, or all that is wrong with it. A file that is called by an identifier may leave that to its name.
  static func read(_ path: String) throws(Problem) -> Result<Manifest, Faults> {
    let bytes = try InputFile.read(path, limit: Limits.manifest)
    do throws(Faults) {
      return .success(try Manifest(bytes, installedAs: identifier(inName: path), types: types))
    } catch {
      return .failure(error)
    }
  }

  /// The identifier that an installed file is called by; `nil` for `Info.plist`.
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
