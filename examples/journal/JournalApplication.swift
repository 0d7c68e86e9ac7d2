import StagedoorKit

/// A journal in any number of windows.
@MainActor final class JournalApplication: Application {
  static let identifier = "org.stagedoor.examples.Journal"
  static let writing = "\(identifier).write"
  /// Every window takes a written entry.
  static let key = "journal"

  let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    // The application registers its own manifest, because none is installed.
    super.init(
      Self.identifier,
      manifest: """
        {
          "CFBundleIdentifier": "\(Self.identifier)",
          "NSUserActivityTypes": ["\(Self.writing)"],
          "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": true,
            "UISceneConfigurations": {
              "UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Entries"}]
            }
          }
        }
        """)
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { JournalScene(of: self) }

  /// When this returns, the entry is stored; then everyone is told.
  func write(_ text: String, of delivery: DeliveryIdentifier) throws {
    try journal.add(text, of: delivery)
    post(.entriesChanged)
  }
}
