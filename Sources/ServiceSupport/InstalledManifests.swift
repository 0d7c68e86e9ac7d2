import Glibc
package import SceneModel

/// The installed manifests: `stagedoor/applications/IDENTIFIER.plist`, or `.json`, in the data directories. The user's manifests come
/// before those of the system.
package struct InstalledManifests: Sendable {
  package let directories: [String]
  private let types: TypeCatalog
  /// The files that there were.
  private var known: Set<Text> = []

  package init(in directories: [String], types: TypeCatalog) {
    self.directories = directories.map { "\($0)/stagedoor/applications" }
    self.types = types
  }

  package struct Found: Sendable {
    package let manifest: Manifest
    package let file: Text
  }

  package struct Broken: Sendable {
    package let identifier: Text
    package let path: String
    /// Sentences without their full stops.
    package let complaints: [String]
  }

  /// One directory has two files for the same application.
  package struct Double: Sendable, Equatable {
    package let counts: Text
    package let isPassedOver: Text
  }

  private static let ends = [".plist", ".json"]

  /// Hidden files are those of editors.
  package static func isManifest(_ name: String) -> Bool {
    !name.hasPrefix(".") && ends.contains(where: name.hasSuffix)
  }

  /// The manifests as they are now. The previous version of a faulty manifest stays, and of one whose directory cannot be read for the moment.
  package mutating func read() -> (found: [Text: Found], broken: [Broken], doubles: [Double]) {
    var found: [Text: Found] = [:]
    var broken: [Text: Broken] = [:]
    var doubles: [Double] = []
    let before = known
    known = []
    for directory in directories {
      var paths: [Text: Text] = [:]
      // The names are sorted, so a ".json" comes before the ".plist".
      for name in SmallFile.names(in: directory, among: before) {
        guard Self.isManifest(name), let end = Self.ends.first(where: name.hasSuffix) else { continue }
        let identifier = Text(String(name.dropLast(end.count)))
        let path = "\(directory)/\(name)"
        known.insert(Text(path))
        if found[identifier] != nil || broken[identifier] != nil {
          if let first = paths[identifier] { doubles.append(Double(counts: first, isPassedOver: Text(path))) }
          continue
        }
        paths[identifier] = Text(path)
        do throws(Faults) {
          found[identifier] = Found(manifest: try read(path, identifier), file: Text(path))
        } catch {
          broken[identifier] = Broken(identifier: identifier, path: path, complaints: error.all.map(\.description))
        }
      }
    }
    return (found, Array(broken.values), doubles)
  }

  private func read(_ path: String, _ identifier: Text) throws(Faults) -> Manifest {
    guard let bytes = SmallFile.read(path, limit: Limits.manifest) else {
      let reason = "it cannot be read, is no file, or has more than \(Limits.manifest) bytes"
      throw Faults(Fault(at: .document, reason))
    }
    return try Manifest(bytes, installedAs: identifier, types: types)
  }
}

extension TypeCatalog {
  /// The types of the desktop's shared MIME databases.
  package static func installed(
    in directories: [String], complaining complain: @escaping @Sendable (Fault) -> Void = { _ in }
  ) -> TypeCatalog {
    TypeCatalog(
      {
        directories.compactMap { directory in
          let path = "\(directory)/mime"
          let subclasses = TypeDatabase.read("\(path)/subclasses", complaining: complain)
          let aliases = TypeDatabase.read("\(path)/aliases", complaining: complain)
          if subclasses == nil, aliases == nil { return nil }
          return TypeDatabase(name: path, subclasses: subclasses ?? [], aliases: aliases ?? [])
        }
      }, complaining: complain)
  }
}

extension TypeDatabase {
  /// A file of a database; `nil` if there is none, or none that can be read, which is told. A part of a file would depend on the order of its lines.
  static func read(_ path: String, complaining complain: (Fault) -> Void) -> [UInt8]? {
    if let bytes = SmallFile.read(path, limit: Limits.typeDatabase) { return bytes }
    if access(path, F_OK) == 0 {
      complain(Fault(.limit, at: path, "it \(SmallFile.reason(path, limit: Limits.typeDatabase))"))
    }
    return nil
  }
}
