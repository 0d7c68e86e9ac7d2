import StagedoorKit

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
    guard let delivery = options.delivery else { return }
    for case let text? in options.userActivities.map({ $0.userInfo["text"]?.string }) {
      try application.write(text, of: delivery)
    }
  }
}
