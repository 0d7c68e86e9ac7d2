internal import SceneModel

/// An application whose windows are scenes.
///
/// Subclass it, choose the delegate of each window, and run it. The service decides when a window opens, gets content and closes; the
/// application makes the windows.
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
/// An application lives on the main actor. It works under a `main` as above, under an `async` one, and under GLib's main loop: see
/// ``MainQueue``. When the service comes back, the application attaches again by itself, with the windows that it still shows.
@MainActor open class Application {
  /// Its identifier, which is also its name on the bus: `org.example.Gallery`.
  public nonisolated let identifier: String
  /// The manifest that it registers if none is installed.
  public nonisolated let manifest: String?

  var hosting: Hosting?
  var scenes: [SessionIdentifier: Scene] = [:]
  /// The sessions, as the service reports them.
  var knownSessions: [SessionIdentifier: SceneSession] = [:]
  var unwritten = UnwrittenChanges()

  /// Makes an application with an identifier.
  ///
  /// - Parameters:
  ///   - identifier: Its identifier: two or more words between dots.
  ///   - manifest: A manifest as JSON, for an application that is not installed: during development, or in a test.
  public init(_ identifier: String, manifest: String? = nil) {
    self.identifier = identifier
    self.manifest = manifest
  }

  // MARK: For you to override

  /// Returns the delegate for the scene of a session; `nil` refuses the session. ``SceneSession/configuration`` names the kind of window.
  open func sceneDelegate(for session: SceneSession) -> (any SceneDelegate)? { nil }

  /// Chooses the configuration of a new session, if the manifest sets `StagedoorDynamicConfiguration`; `nil` takes the manifest's choice.
  /// The service waits a second for the answer.
  open func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    nil
  }

  /// Reports sessions that are gone for good, including those that went while the application did not run. Each session is reported once.
  open func didDiscard(_ sessions: Set<SessionIdentifier>) {}

  /// Reports a failure of the framework's own work: the service refused a change of a scene. By default this writes the error to standard
  /// error.
  open func didFail(_ error: StagedoorError, while what: String) {
    StandardError.write("\(identifier): \(what): \(error)")
  }
}

// MARK: - Scenes

extension Application {
  /// All scenes, in the order of their sessions, the oldest first.
  public var connectedScenes: [Scene] {
    scenes.values.sorted { SceneSession.areInOrder($0.session, $1.session) }
  }

  /// All sessions, with and without scenes, the oldest first.
  public var openSessions: [SceneSession] {
    var sessions = knownSessions
    // The service has connected these already, and its list of sessions follows a moment later.
    for (identifier, scene) in scenes { sessions[identifier] = scene.session }
    return sessions.values.sorted(by: SceneSession.areInOrder)
  }

  /// The scene of a session, if it has one.
  public func scene(of session: SessionIdentifier) -> Scene? { scenes[session] }

  /// The client of the service, for calls about other applications. It exists once the application has started.
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
