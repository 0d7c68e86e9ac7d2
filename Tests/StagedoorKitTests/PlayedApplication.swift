import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import Testing

/// An application whose scenes write down what they hear.
@MainActor final class PlayedApplication: Application {
  /// The calls, in order: "willConnect", "didBecomeActive".
  var calls: [String] = []
  var failures: [String] = []
  var discardedSessions: [SessionIdentifier] = []
  /// What a scene's delegate does when it is connected, besides noting the call.
  var whenConnecting: (Scene, ConnectionOptions) throws -> Void = { _, _ in }
  var whenContinuing: (Scene, UserActivity) throws -> Void = { _, _ in }
  /// What a delegate does in any call, by the name of the call.
  var whenCalled: (String, Scene) throws -> Void = { _, _ in }
  var items: [DragItem] = []
  var launches: [LaunchOptions] = []
  var whenLaunching: () -> Void = {}
  /// The activity that restores a scene.
  var restoring: (Scene) -> UserActivity? = { $0.userActivity }
  /// A window that comes to the front has the focus, as with most window managers.
  var windowsTakeFocus = true

  override func didFinishLaunching(with options: LaunchOptions) {
    launches.append(options)
    whenLaunching()
  }

  override func sceneDelegate(for session: SceneSession) -> SceneDelegate? {
    session.configuration.name == "Unknown" ? nil : PlayedScene(self)
  }

  override func configuration(forConnecting session: SceneSession, options: ConnectionOptions) -> SceneConfiguration? {
    calls.append("configuration")
    return options.userActivities.first.map { SceneConfiguration(name: "For \($0.targetContentIdentifier ?? "")") }
  }

  override func didDiscard(_ sessions: Set<SessionIdentifier>) {
    calls.append("didDiscard \(sessions.count)")
    discardedSessions += sessions.sorted()
  }

  override func didFail(_ error: StagedoorError, while what: String) { failures.append("\(what): \(error)") }

  /// The calls since the last time.
  func taken() -> [String] {
    defer { calls = [] }
    return calls
  }

  /// Returns when the application has heard that the service is gone: its connection answers this question later.
  func noticesEnd() async throws {
    let connection = try #require(stagedoor).connection
    try await eventually("the end of the service") { try await connection.owner(of: House.name) == nil }
  }

  func waitForFocus(of session: SessionIdentifier) async throws {
    try await eventually("the focus of a window") {
      await self.scene(of: session)?.activationState == .foregroundActive
    }
  }

  func takenFailures() -> [String] {
    defer { failures = [] }
    return failures
  }
}

@MainActor final class PlayedScene: SceneDelegate {
  private let application: PlayedApplication
  init(_ application: PlayedApplication) { self.application = application }

  private func note(_ call: String, _ scene: Scene, _ details: String? = nil) throws {
    application.calls.append("\(call)\(details.map { " \($0)" } ?? "") (\(scene.activationState))")
    try application.whenCalled(call, scene)
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    try note("willConnect", scene, session.configuration.name)
    application.items = options.items
    try application.whenConnecting(scene, options)
  }
  override func scene(_ scene: Scene, continue userActivity: UserActivity) throws {
    try note("continue", scene, userActivity.targetContentIdentifier ?? "")
    try application.whenContinuing(scene, userActivity)
  }
  override func scene(_ scene: Scene, receive items: [DragItem]) throws {
    try note("receive", scene, "\(items.count)")
    application.items = items
  }
  override func sceneWillEnterForeground(_ scene: Scene) { try? note("willEnterForeground", scene) }
  override func sceneDidBecomeActive(_ scene: Scene) { try? note("didBecomeActive", scene) }
  override func sceneWillResignActive(_ scene: Scene) { try? note("willResignActive", scene) }
  override func sceneDidEnterBackground(_ scene: Scene) { try? note("didEnterBackground", scene) }
  override func sceneDidDisconnect(_ scene: Scene) { try? note("didDisconnect", scene, "\(scene.dismissalAnimation)") }
  override func stateRestorationActivity(for scene: Scene) -> UserActivity? {
    // In the foreground the Kit asks for it now and then.
    if scene.activationState == .background { try? note("stateRestorationActivity", scene) }
    return application.restoring(scene)
  }
  override func scene(_ scene: Scene, willSave activity: inout UserActivity) {
    try? note("willSave", scene)
    activity.userInfo["saved"] = true
  }
  override func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {
    try? note("bringToFront", scene, data.activationToken ?? "")
    if application.windowsTakeFocus { scene.enter(.foregroundActive) }
  }
  override func sceneNeedsRefresh(_ scene: Scene) { try? note("needsRefresh", scene) }
  override func scene(_ scene: Scene, proposalFor items: [DragItem], allowed: Set<DropOperation>) -> DropOperation {
    try? note("proposal", scene)
    return super.scene(scene, proposalFor: items, allowed: allowed)
  }
}

/// Runs `body` with an application, and a service that the test plays.
@MainActor func withStage(
  _ body: @MainActor (PrivateBus, PlayedService, PlayedApplication) async throws -> Void
) async throws {
  let application = PlayedApplication("org.example.Cats")
  try await withStage(of: application) { bus, service in
    try await body(bus, service, application)
    #expect(application.failures.isEmpty)
  }
}

/// The same with any application, and with sessions that the service has from the beginning.
@MainActor func withStage(
  of application: Application, sessions: [Int] = [], connectsAtOnce: Bool = false,
  _ body: @MainActor (PrivateBus, PlayedService) async throws -> Void
) async throws {
  try await withPrivateBus { bus in
    let service = try await PlayedService(on: bus, sessions: sessions, connectsAtOnce: connectsAtOnce)
    try await ending(with: { await application.stop() }) {
      try await application.start(on: try await bus.connect())
      try await body(bus, service)
    }
  }
}

/// Runs `body` with an application that has taken a delivery into its only scene.
@MainActor func withScene(
  _ options: String = Options.none, _ body: @MainActor (PlayedService, PlayedApplication, Scene) async throws -> Void
) async throws {
  try await withStage { _, service, application in
    let session = service.addSession(1)
    try await service.connect(session, options)
    try await body(service, application, try #require(application.scene(of: session)))
  }
}
