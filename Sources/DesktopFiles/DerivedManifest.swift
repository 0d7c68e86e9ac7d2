import SceneModel

/// The manifest of an application that has none of its own, made from its desktop files and the person's choices.
package struct DerivedManifest: Hashable, Sendable {
  /// The application's identifier on the bus.
  package let identifier: String
  /// The identifier of its desktop file.
  package let entry: String
  package let json: String
}

extension Applications {
  /// The manifests of all applications for documents, by their identifiers. Each yields to an application that declares itself.
  package var manifests: [DerivedManifest] {
    Dictionary(grouping: entries.filter(\.opensDocuments), by: \.application).compactMap { application, entries in
      let types = documentTypes(of: entries)
      guard let entry = self[application], let identifier = Applications.identifier(of: application),
        !types.isEmpty
      else { return nil }
      let chosen = types.filter { isChosen(entries, for: $0) }
      return DerivedManifest(
        identifier: identifier, entry: application,
        json: Applications.manifest(
          identifier, entry.name, [("Alternate", types.subtracting(chosen)), ("Default", chosen)]))
    }.sorted { $0.identifier < $1.identifier }
  }

  /// Whether one of the entries is what the person, or the distribution, has chosen for the type.
  private func isChosen(_ entries: [DesktopEntry], for type: String) -> Bool {
    let first = choices(for: type).first { self[$0] != nil }
    return entries.contains { $0.identifier == first }
  }

  /// A desktop file's name, if it can be a name on the bus.
  private static func identifier(of entry: String) -> String? {
    [entry, "desktop.\(entry)"].first { ApplicationIdentifier.isValid(Text($0)) }
  }

  private static func manifest(
    _ identifier: String, _ name: String, _ types: [(rank: String, types: Set<String>)]
  ) -> String {
    JSONObjectWriter.text { fields in
      fields["CFBundleDisplayName"] = Text(name)
      fields.list("CFBundleDocumentTypes", types.filter { !$0.types.isEmpty }) { fields, row in
        fields["LSHandlerRank"] = Text(row.rank)
        fields["LSItemContentTypes"] = row.types.sorted().map { Text($0) }
      }
      fields["CFBundleIdentifier"] = Text(identifier)
      fields["StagedoorUnderstudy"] = true
      fields.object("UIApplicationSceneManifest") { fields in
        fields["UIApplicationSupportsMultipleScenes"] = true
        fields.object("UISceneConfigurations") { fields in
          fields.list("UIWindowSceneSessionRoleApplication", ["Document"]) { fields, name in
            fields["UISceneConfigurationName"] = Text(name)
          }
        }
      }
    }.string
  }
}
