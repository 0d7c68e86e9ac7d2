import Interchange
import SceneModel

/// The manifests that are installed: `stagedoor/applications/IDENTIFIER.plist`, or `.json`, in the data directories. The user's count before
/// the system's.
struct InstalledManifests {
  let directories: [String]
  private let types: TypeCatalog
  private let log: Log

  init(in directories: [String], types: TypeCatalog, log: Log) {
    self.directories = directories.map { "\($0)/stagedoor/applications" }
    self.types = types
    self.log = log
  }

  struct Found {
    let manifest: Manifest
    let file: Text
  }

  /// What stands there now. A broken one is told, and `broken` has its identifier: the version before it stays.
  func read() -> (found: [Text: Found], broken: Set<Text>) {
    var found: [Text: Found] = [:]
    var broken: Set<Text> = []
    for directory in directories {
      for name in SmallFile.names(in: directory) {
        guard let end = [".plist", ".json"].first(where: name.hasSuffix) else { continue }
        let identifier = Text(String(name.dropLast(end.count)))
        if found[identifier] != nil || broken.contains(identifier) { continue }
        guard let manifest = read("\(directory)/\(name)", identifier) else {
          broken.insert(identifier)
          continue
        }
        found[identifier] = Found(manifest: manifest, file: Text("\(directory)/\(name)"))
      }
    }
    return (found, broken)
  }

  private func read(_ path: String, _ identifier: Text) -> Manifest? {
    guard let bytes = SmallFile.read(path, limit: Limits.manifest) else {
      log.error("\(path): it cannot be read, is no file, or has more than \(Limits.manifest) bytes")
      return nil
    }
    do throws(Faults) {
      return try Manifest(bytes, installedAs: identifier, types: types)
    } catch {
      for fault in error.all { log.error("\(path): \(fault)") }
      return nil
    }
  }
}

extension TypeCatalog {
  /// From the desktop's shared MIME databases.
  static func installed(in directories: [String]) -> TypeCatalog {
    TypeCatalog(
      directories.compactMap { directory in
        let path = "\(directory)/mime"
        let subclasses = SmallFile.read("\(path)/subclasses", limit: Limits.typeDatabase)
        let aliases = SmallFile.read("\(path)/aliases", limit: Limits.typeDatabase)
        if subclasses == nil, aliases == nil { return nil }
        return TypeDatabase(name: path, subclasses: subclasses ?? [], aliases: aliases ?? [])
      })
  }
}
