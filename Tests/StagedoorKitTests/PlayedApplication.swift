import DBus
import DBusTestSupport
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
  /// What a delegate does in a call of its scene's life, by the name of the call.
  var whenCalled: (String, Scene) -> Void = { _, _ in }
  var whenBroughtToFront: (Scene) -> Void = { _ in }
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

  func takenFailures() -> [String] {
    defer { failures = [] }
    return failures
  }
}

@MainActor final class PlayedScene: SceneDelegate {
  private let application: PlayedApplication
  init(_ application: PlayedApplication) { self.application = application }

  private func note(_ call: String, _ scene: Scene) { application.calls.append("\(call) (\(scene.activationState))") }

  private func play(_ call: String, _ scene: Scene) {
    note(call, scene)
    application.whenCalled(call, scene)
  }

  override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) throws {
    note("willConnect \(session.configuration.name)", scene)
    application.items = options.items
    try application.whenConnecting(scene, options)
  }
  override func scene(_ scene: Scene, continue userActivity: UserActivity) throws {
    note("continue \(userActivity.targetContentIdentifier ?? "")", scene)
    try application.whenContinuing(scene, userActivity)
  }
  override func scene(_ scene: Scene, receive items: [DragItem]) throws {
    note("receive \(items.count)", scene)
    application.items = items
  }
  override func sceneWillEnterForeground(_ scene: Scene) { play("willEnterForeground", scene) }
  override func sceneDidBecomeActive(_ scene: Scene) { play("didBecomeActive", scene) }
  override func sceneWillResignActive(_ scene: Scene) { play("willResignActive", scene) }
  override func sceneDidEnterBackground(_ scene: Scene) { play("didEnterBackground", scene) }
  override func sceneDidDisconnect(_ scene: Scene) {
    note("didDisconnect \(scene.dismissalAnimation)", scene)
    application.whenCalled("didDisconnect", scene)
  }
  override func stateRestorationActivity(for scene: Scene) -> UserActivity? {
    // In the foreground the Kit asks for it now and then.
    if scene.activationState == .background { play("stateRestorationActivity", scene) }
    return application.restoring(scene)
  }
  override func scene(_ scene: Scene, willSave activity: inout UserActivity) {
    play("willSave", scene)
    activity.userInfo["saved"] = true
  }
  override func scene(_ scene: Scene, bringToFrontWith data: ActivationData) {
    note("bringToFront \(data.activationToken ?? "")", scene)
    application.whenBroughtToFront(scene)
    if application.windowsTakeFocus { scene.enter(.foregroundActive) }
  }
  override func sceneNeedsRefresh(_ scene: Scene) { note("needsRefresh", scene) }
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
  let bus = try await PrivateBus.start()
  let service = try await PlayedService(on: bus, sessions: sessions, connectsAtOnce: connectsAtOnce)
  do {
    try await application.start(on: try await bus.connect())
    try await body(bus, service)
  } catch {
    Issue.record(error)
  }
  await application.stop()
  await bus.stop()
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
