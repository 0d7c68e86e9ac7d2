internal import SceneModel

/// An application whose windows are scenes.
///
/// Subclass it, say which delegate a window gets, and run it. The service opens windows, feeds and closes them; the application makes them.
///
/// ```swift
/// import StagedoorKit
///
/// final class Gallery: Application {
///   let photos = ["1", "2", "3"]
///
///   override func sceneDelegate(for session: SceneSession) -> (any SceneDelegate)? { PhotoScene(of: self) }
///   override func didDiscard(_ sessions: Set<SessionIdentifier>) { print("gone for good: \(sessions)") }
/// }
///
/// final class PhotoScene: SceneDelegate {
///   private let gallery: Gallery
///   init(of gallery: Gallery) { self.gallery = gallery }
///
///   func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
///     let activity = options.userActivities.first ?? session.stateRestorationActivity
///     scene.title = activity?.userInfo["photoID"]?.string ?? "all \(gallery.photos.count) photos"
///   }
/// }
///
/// @main enum Main {
///   static func main() { MainQueue.run { try await Gallery("org.example.Gallery").run() } }
/// }
/// ```
///
/// All of it is on the main actor. It works under a main as above or an `async` one, and under GLib's main loop: see ``MainQueue``. It attaches
/// again by itself when the service has been away, with the windows that it still shows.
@MainActor open class Application {
  /// Its identifier, which is also its name on the bus: `org.example.Gallery`.
  public nonisolated let identifier: String
  /// What it declares itself with where no manifest of it is installed.
  public nonisolated let manifest: String?

  var hosting: Hosting?
  var scenes: [SessionIdentifier: Scene] = [:]
  /// As the service tells them.
  var knownSessions: [SessionIdentifier: SceneSession] = [:]
  var unwritten = UnwrittenChanges()

  /// An application of an identifier.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier: two or more words between dots.
  ///   - manifest: A manifest as JSON, for an application that is not installed: while it is being written, or in a test.
  public init(_ identifier: String, manifest: String? = nil) {
    self.identifier = identifier
    self.manifest = manifest
  }

  // MARK: For you to override

  /// Who looks after the scene of a session; `nil` refuses it. ``SceneSession/configuration`` says what kind of window is wanted.
  open func sceneDelegate(for session: SceneSession) -> (any SceneDelegate)? { nil }

  /// Which configuration a new session gets, where the manifest sets `StagedoorDynamicConfiguration`; `nil` takes the manifest's choice. The
  /// service waits a second for it.
  open func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    nil
  }

  /// Sessions that are gone for good, also those that went while the application did not run: each is told once.
  open func didDiscard(_ sessions: Set<SessionIdentifier>) {}

  /// Something that the framework did on its own came to nothing: a change of a scene that the service did not take. By default it is
  /// written to the standard error.
  open func didFail(_ error: StagedoorError, while what: String) {
    StandardError.write("\(identifier): \(what): \(error)")
  }
}

// MARK: - Scenes

extension Application {
  /// The scenes that there are, the oldest session's first.
  public var connectedScenes: [Scene] {
    scenes.values.sorted { SceneSession.areInOrder($0.session, $1.session) }
  }

  /// The sessions that there are, with scenes and without, the oldest first.
  public var openSessions: [SceneSession] {
    var sessions = knownSessions
    // The service has told of these as it had them connected, and the list comes a moment later.
    for (identifier, scene) in scenes { sessions[identifier] = scene.session }
    return sessions.values.sorted(by: SceneSession.areInOrder)
  }

  /// The scene of a session, where it has one.
  public func scene(of session: SessionIdentifier) -> Scene? { scenes[session] }

  /// The service, for all that is not about this application. It is there once the application has started.
  public var stagedoor: Stagedoor? { hosting?.stagedoor }

  func takeSessions(_ sessions: [SceneSession]) {
    knownSessions = [:]
    for session in sessions {
      knownSessions[session.identifier] = session
      scenes[session.identifier]?.session = session
    }
  }

  func connected() throws(StagedoorError) -> Hosting {
    guard let hosting else { throw StagedoorError(.disconnected, "\(identifier) has not been started") }
    return hosting
  }
}
