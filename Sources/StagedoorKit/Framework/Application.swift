internal import DBus

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
///   override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { PhotoScene(of: self) }
///   override func didDiscard(_ sessions: Set<SessionIdentifier>) { print("gone for good: \(sessions)") }
/// }
///
/// final class PhotoScene: SceneDelegate {
///   private let gallery: Gallery
///   init(of gallery: Gallery) { self.gallery = gallery }
///
///   override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
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
///
/// When a user closes or changes a window, the effect is immediate, also while the service is away; the library tells the service later. On SIGTERM,
/// SIGINT and SIGHUP an application that has started stops in an orderly way, and then the signal ends the process as usual; a second signal ends it
/// at once. A program that handles one of these signals itself calls ``stop()``.
@MainActor open class Application {
  /// The identifier, which is also the application's name on the bus: `org.example.Gallery`.
  public nonisolated let identifier: String
  /// The manifest that the application registers if none is installed.
  public nonisolated let manifest: String?

  /// Whether the windows that were shown when the program last ended open again at its start; if there were none, one of the default configuration
  /// opens. Otherwise no window opens by itself. A program that a delivery started opens the delivery's windows only. Set this before the application starts, or in
  /// ``didFinishLaunching(with:)``.
  public var restoresWindows = false

  /// The largest dropped item that the application loads into memory, and the largest file for an item whose size nobody stated, in bytes. Loading a
  /// longer one throws ``StagedoorError/Code/limitsExceeded``, and so does an item that is longer than its source stated.
  public var loadLimit = Application.usualLoadLimit {
    didSet { hosting?.received.loadLimit.withLock { $0 = loadLimit } }
  }
  static nonisolated let usualLoadLimit = 1 << 30

  /// Whether the application is about to open windows by itself: from its start until it has asked for the windows that it restores, or for its first.
  /// Until then a click on its launcher need not open a window.
  public internal(set) var isLaunching = false
  /// Whether the application takes deliveries: from its start until it stops.
  public var isRunning: Bool { hosting.map { !$0.isStopping } ?? false }

  var hosting: Hosting?
  /// The number of starts.
  var starts = 0
  var scenes: [SessionIdentifier: Scene] = [:]
  /// The sessions, as the service reports them, without those that are destroyed here.
  var knownSessions: [SessionIdentifier: SceneSession] = [:]
  /// The sessions that were destroyed here, until the service reports that they are gone.
  var destroyedSessions: Set<SessionIdentifier> = []
  var unwritten = UnwrittenChanges()

  /// Makes an application with an identifier.
  ///
  /// - Parameters:
  ///   - identifier: The identifier: two or more words with dots between them.
  ///   - manifest: A manifest as JSON, for an application that is not installed: during development, or in a test.
  public init(_ identifier: String, manifest: String? = nil) {
    self.identifier = identifier
    self.manifest = manifest
  }

  // MARK: Overridable calls

  /// The application has started, and no window is open yet: ``openSessions`` has the sessions of earlier runs. Deliveries, and the windows
  /// that ``restoresWindows`` opens, come after this call. By default it does nothing.
  open func didFinishLaunching(with options: LaunchOptions) {}

  /// Returns the delegate for the scene of a session; `nil` refuses the session. ``SceneSession/configuration`` names the kind of window.
  open func sceneDelegate(for session: SceneSession) -> SceneDelegate? { nil }

  /// Chooses the configuration of a new session; `nil` takes the manifest's choice, which is the session's configuration now. The service
  /// waits a second for the answer.
  open func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    nil
  }

  /// Reports sessions that have ended for good, also those that ended while the application did not run. Each session is reported once.
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
  public var connectedScenes: [Scene] { scenes.values.sorted { SceneSession.areInOrder($0.session, $1.session) } }

  /// All sessions, with and without scenes, the oldest first.
  public var openSessions: [SceneSession] {
    var sessions = knownSessions
    // The service has connected these sessions already; its list follows a moment later.
    for (identifier, scene) in scenes { sessions[identifier] = scene.session }
    return sessions.inOrder
  }

  /// The scene of a session, if it has one.
  public func scene(of session: SessionIdentifier) -> Scene? { scenes[session] }

  /// The client of the service, for calls about other applications. The client exists once the application has started.
  public var stagedoor: Stagedoor? { hosting?.stagedoor }

  func takeSessions(_ sessions: [SceneSession]) {
    // A list may be older than a session that it lacks, and the service has not heard of a destruction that waits.
    let listed = Set(sessions.map(\.identifier))
    destroyedSessions = destroyedSessions.filter { listed.contains($0) || unwritten.destroys($0) }
    let known = sessions.filter { !destroyedSessions.contains($0.identifier) }
    knownSessions = Dictionary(known.map { ($0.identifier, $0) }) { $1 }
    // The observers of a scene see all sessions, and may end some.
    for session in known { tellScene(of: session) }
  }

  /// One of the sessions has changed, or has gone.
  func takeSession(at path: ObjectPath, of sessions: [ObjectPath: SceneSession]) {
    guard let identifier = SessionIdentifier(path.rawValue) else { return }
    if !destroyedSessions.isEmpty {
      destroyedSessions = destroyedSessions.filter { sessions[$0.path] != nil || unwritten.destroys($0) }
    }
    let session = destroyedSessions.contains(identifier) ? nil : sessions[path]
    knownSessions[identifier] = session
    if let session { tellScene(of: session) }
  }

  private func tellScene(of session: SceneSession) {
    guard let scene = scenes[session.identifier] else { return }
    scene.session = session
    if scene.hasUntoldState, session.isConnected {
      scene.hasUntoldState = false
      noteChange(.state, of: scene)
    }
  }

  func connected() throws(StagedoorError) -> Hosting {
    guard let hosting, !hosting.isStopping else { throw notStarted }
    return hosting
  }

  var notStarted: StagedoorError {
    StagedoorError(.disconnected, "\(identifier) \(hosting == nil ? "has not been started" : "is stopping")")
  }
}
