import StagedoorKit

/// A window of the journal. It shows the entries, and shows them again after each change, in whichever window the change was made.
@MainActor final class JournalScene: SceneDelegate {
  private let application: JournalApplication
  private var following: Task<Void, Never>?

  init(of application: JournalApplication) { self.application = application }

  func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    scene.activationConditions = SceneActivationConditions(can: .equals(JournalApplication.key))
    try self.scene(scene, continueWith: options)
    following = Task { [application] in
      do throws(StagedoorError) {
        // It subscribes before it reads, so it misses no change in between.
        let changes = try await application.notifications(named: .entriesChanged)
        scene.title = application.journal.summary
        for await _ in changes { scene.title = application.journal.summary }
      } catch {
        application.didFail(error, while: "following the journal")
      }
    }
  }

  func scene(_ scene: Scene, continueWith options: ConnectionOptions) throws {
    guard let delivery = options.delivery else { return }
    for case let text? in options.userActivities.map({ $0.userInfo["text"]?.string }) {
      try application.write(text, of: delivery)
    }
  }

  func sceneDidDisconnect(_ scene: Scene) { following?.cancel() }
}
