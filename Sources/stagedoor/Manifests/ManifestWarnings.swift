import SceneModel

/// Valid parts of a manifest that its author most likely did not intend.
enum ManifestWarnings {
  static func all(_ manifest: Manifest) -> [String] {
    var warnings: [String] = []
    for (number, configuration) in manifest.configurations.enumerated() {
      let name = "the configuration \(quoted(configuration.name.string))"
      for warning in configuration.conditions.warnings { warnings.append("\(name): \(warning)") }
      if configuration.conditions.prefers?.condition == .always {
        warnings.append(
          "\(name): it prefers everything, so no other window is found by its condition; leave StagedoorPrefersToActivatePredicate out"
        )
      }
      let before = manifest.configurations[..<number].filter { $0.role == configuration.role }
      if let shadow = shadow(of: configuration, before) { warnings.append("\(name): \(shadow)") }
    }
    return warnings + homeless(manifest)
  }

  /// Why no new window ever gets this configuration, unless somebody names it.
  private static func shadow(of configuration: SceneConfiguration, _ before: [SceneConfiguration]) -> String? {
    let advice = "name other types in it, or put it further up"
    if configuration.namesNoTypes {
      // Without any types, the first configuration of a role wins.
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

  /// Activity types that no configuration names, if all configurations name types.
  private static func homeless(_ manifest: Manifest) -> [String] {
    let named = manifest.configurations.filter { !$0.namesNoTypes }
    if named.isEmpty || named.count < manifest.configurations.count { return [] }
    return manifest.activityTypes.filter { type in
      !named.contains { $0.names(type) || $0.namesFamily(of: type) }
    }.map {
      "no configuration names \(quoted($0.string)), so it opens the first one; add it to StagedoorActivityTypes of one"
    }
  }
}
