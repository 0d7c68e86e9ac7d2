import SceneModel
import SceneTestSupport
import Testing

/// Manifests as Xcode writes them.
@Suite struct ManifestFixtureTests {
  private func manifests(_ name: String, installedAs: Text? = nil) throws -> [Result<Manifest, Faults>] {
    try [Fixture.xml(name), Fixture.binary(name)].map { bytes in
      do throws(Faults) {
        return .success(try Manifest(bytes, installedAs: installedAs, types: ManifestTests.types))
      } catch {
        return .failure(error)
      }
    }
  }

  private static let loaded: [(String, Text?, Text, [Text])] = [
    ("Notes", nil, "eu.mackuba.Notes", ["Default Configuration", "Compose", "External Configuration"]),
    ("Gallery", nil, "com.example.apple-samplecode.Gallery", ["Default Configuration", "Inspector Configuration"]),
    ("BuiltApp", nil, "com.example.apple-samplecode.Gallery", ["Default Configuration", "Inspector Configuration"]),
    ("UIKitProject", "org.example.Project", "org.example.Project", ["Default Configuration"]),
  ]

  @Test(arguments: loaded)
  func `a project's manifest is read as it stands`(
    name: String, installedAs: Text?, identifier: Text, configurations: [Text]
  ) throws {
    for outcome in try manifests(name, installedAs: installedAs) {
      let manifest = try outcome.get()
      #expect(manifest.identifier == identifier)
      #expect(manifest.configurations.map(\.name) == configurations)
      #expect(manifest.supportsMultipleScenes == (name != "UIKitProject"))
      #expect(manifest.configurations.allSatisfy { $0.namesNoTypes && $0.launch == .automatic })
    }
  }

  private static let noWindows =
    "UIApplicationSceneManifest.UISceneConfigurations: expected at least one configuration, got none"
  private static let noName =
    "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got "
    + "\"$(PRODUCT_BUNDLE_IDENTIFIER)\"; Xcode fills this in as it builds: write the name itself"

  private static let refused: [(String, Text?, [String])] = [
    // SwiftUI makes its windows in code, and declares none here.
    ("SwiftUIProject", "org.example.Project", [noWindows]), ("SwiftUIProject", nil, [noName, noWindows]),
    ("UIKitProject", nil, [noName]),
    (
      "EveryKind", nil,
      [
        "CFBundleIdentifier: expected a name on the bus such as org.example.Gallery, got nothing",
        "UIApplicationSceneManifest: expected UISceneConfigurations with at least one configuration, got nothing",
      ]
    ),
  ]

  @Test(arguments: refused)
  func `what has no windows, or no name, is told so`(name: String, installedAs: Text?, faults: [String]) throws {
    for outcome in try manifests(name, installedAs: installedAs) {
      let error = #expect(throws: Faults.self) { try outcome.get() }
      #expect(error?.all.map(\.description) == faults)
    }
  }

  @Test func `the built application says what it opens`() throws {
    let manifest = try Manifest(try Fixture.xml("BuiltApp"), types: ManifestTests.types)
    #expect(manifest.activityTypes == ["com.apple.gallery.openDetail", "com.apple.gallery.openInspector"])
    #expect(manifest.contentTypes.map(\.spelling) == ["public.png", "public.jpeg", "com.example.gallery.album"])
    #expect(manifest.name == "Gallery")
    #expect(manifest.configurations[1].delegateClassName == "Gallery.InspectorSceneDelegate")
  }
}
