import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import StagedoorTestSupport
import Testing

/// The service in the tests of another package.
@MainActor @Suite struct PrivateStagedoorTests {
  /// The activity types of the application, with this manifest installed.
  private func types(_ manifest: String, _ house: PrivateStagedoor) async throws -> [String] {
    try await house.install(manifest: manifest, of: "org.example.Cats")
    let stagedoor = Stagedoor(on: try await house.connect())
    #expect(try await stagedoor.applications().map(\.identifier) == ["org.example.Cats"])
    return try await stagedoor.application("org.example.Cats").activityTypes
  }

  @Test func `a manifest that replaces another is read when it is installed, in either format`() async throws {
    let two = Manifests.cats.replacing("viewCat", with: "two")
    let three = """
      <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>org.example.Cats</string>
        <key>NSUserActivityTypes</key><array><string>three</string></array>
        <key>UIApplicationSceneManifest</key><dict>
          <key>UISceneConfigurations</key><dict>
            <key>UIWindowSceneSessionRoleApplication</key><array>
              <dict><key>UISceneConfigurationName</key><string>Main</string></dict>
            </array>
          </dict>
        </dict>
      </dict></plist>
      """
    try await withPrivateStagedoor { house in
      var read = [try await types(two.replacing("two", with: "one"), house)]
      // The third says the same in other bytes.
      for manifest in [two, two + "\n", three] { read.append(try await types(manifest, house)) }
      #expect(read == [["one"], ["two"], ["two"], ["three"]])
    }
  }
}
