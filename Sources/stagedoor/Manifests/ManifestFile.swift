import SceneModel

/// A manifest on this machine, and what is wrong with it.
enum ManifestFile {
  /// The desktop's types, as the service knows them.
  static let types = TypeCatalog {
    DataDirectories.all.compactMap { directory in
      let path = "\(directory)/mime"
      let subclasses = try? InputFile.read("\(path)/subclasses", limit: 16 << 20)
      let aliases = try? InputFile.read("\(path)/aliases", limit: 16 << 20)
      if subclasses == nil, aliases == nil { return nil }
      return TypeDatabase(name: path, subclasses: subclasses ?? [], aliases: aliases ?? [])
    }
  } complaining: { _ in
  }

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
  static func identifier(inName path: String) -> Text? {
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

  /// Where the manifests of applications are installed, the user's first.
  static var directories: [String] { DataDirectories.all.map { "\($0)/stagedoor/applications" } }
}

/// What a manifest allows and its author most likely did not mean.
enum ManifestWarnings {
  static func all(_ manifest: Manifest) -> [String] {
    var warnings: [String] = []
    for (number, configuration) in manifest.configurations.enumerated() {
      let name = "the configuration \(quoted(configuration.name.string))"
      for warning in configuration.conditions.warnings { warnings.append("\(name): \(warning)") }
      if configuration.conditions.prefers?.condition == .always {
        warnings.append(
          "\(name): it prefers everything, so that no other window is found by its condition; leave StagedoorPrefersToActivatePredicate out"
        )
      }
      let before = manifest.configurations[..<number].filter { $0.role == configuration.role }
      if let shadow = shadow(of: configuration, before) { warnings.append("\(name): \(shadow)") }
    }
    return warnings + homeless(manifest)
  }

  /// Why no new window is ever made of it, unless somebody names it.
  private static func shadow(of configuration: SceneConfiguration, _ before: [SceneConfiguration]) -> String? {
    let advice = "name other types in it, or put it further up"
    if configuration.namesNoTypes {
      // The first of a role is made where nothing else is said.
      guard let first = before.first(where: \.namesNoTypes) else { return nil }
      return "\(quoted(first.name.string)) above it names no types either, and is taken first; \(advice)"
    }
    let activities = configuration.activityTypes.map { type in
      before.first { $0.names(type) || (ActivityTypeFamily.isFamily(type) && $0.activityTypes.contains(type)) }
    }
    let contents = configuration.contentTypes.map { type in
      before.first {
        $0.contentTypes.contains { ManifestFile.types.canonical($0) == ManifestFile.types.canonical(type) }
      }
    }
    let shadows = activities + contents
    guard let first = shadows.first ?? nil, shadows.allSatisfy({ $0 != nil }) else { return nil }
    return "\(quoted(first.name.string)) above it names all that it names, and is taken first; \(advice)"
  }

  /// Activity types that open a window which does not name them, while others name theirs.
  private static func homeless(_ manifest: Manifest) -> [String] {
    let named = manifest.configurations.filter { !$0.namesNoTypes }
    if named.isEmpty || named.count < manifest.configurations.count { return [] }
    return manifest.activityTypes.filter { type in
      !named.contains { $0.names(type) || $0.namesFamily(of: type) }
    }.map {
      "no configuration names \(quoted($0.string)), so that it opens the first one; add it to StagedoorActivityTypes of one"
    }
  }
}

enum CheckCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let screen = invocation.screen
    var status = Status.done
    for path in invocation.arguments {
      switch try ManifestFile.read(path) {
      case .failure(let faults):
        status = .failed
        for fault in faults.all { try say("error", "\(fault)", path, .bad, screen) }
      case .success(let manifest):
        let warnings = ManifestWarnings.all(manifest)
        for warning in warnings { try say("warning", warning, path, .waiting, screen) }
        if warnings.isEmpty, !invocation.has(.quiet) {
          try Output.line(
            "\(path.printable): \(screen.styled("good", .good)), it declares \(manifest.identifier.string)")
        }
      }
    }
    return status
  }

  private static func say(
    _ kind: String, _ text: String, _ path: String, _ style: Style, _ screen: Screen
  ) throws(Problem) {
    try Output.line("\(path.printable): \(screen.styled("\(kind):", style)) \(text.printable)")
  }
}
