import StagedoorKit

/// A journal in as many windows as one likes.
@MainActor final class JournalApplication: Application {
  static let identifier = "org.stagedoor.examples.Journal"
  static let writing = "\(identifier).write"
  /// All windows take what is written.
  static let key = "journal"

  let journal: Journal

  init(_ journal: Journal) {
    self.journal = journal
    // It brings its manifest along, as it is not installed.
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

  override func sceneDelegate(for session: SceneSession) -> (any SceneDelegate)? { JournalScene(of: self) }

  /// It is stored when this returns; then everyone is told.
  func write(_ text: String, of delivery: DeliveryIdentifier) throws {
    try journal.add(text, of: delivery)
    post(.entriesChanged)
  }
}
