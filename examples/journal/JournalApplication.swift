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

  /// When this returns, the entries are stored; then everyone is told.
  func write(_ texts: [String], of delivery: DeliveryIdentifier) throws {
    try journal.add(texts, of: delivery)
    post(.entriesChanged)
  }
}

/// A window of the journal. It shows the entries, and shows them again after each change, in whichever window the change was made.
@MainActor final class JournalScene: SceneDelegate {
  private let application: JournalApplication

  init(of application: JournalApplication) { self.application = application }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    scene.activationConditions = SceneActivationConditions(can: .equals(JournalApplication.key))
    scene.title = application.journal.summary
    scene.observe(.entriesChanged) { [application] _ in scene.title = application.journal.summary }
    try self.scene(scene, continueWith: options)
  }

  override func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    let texts = options.userActivities.compactMap { $0.userInfo["text"]?.string }
    if let delivery = options.delivery, !texts.isEmpty { try application.write(texts, of: delivery) }
  }
}
