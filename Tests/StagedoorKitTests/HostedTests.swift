import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import StagedoorKit
import Testing

/// An application and the service that is built here: each hears what the other does.
@MainActor @Suite struct HostedTests {
  /// A cat's window takes that cat and no other.
  private static func showCat(_ scene: Scene, _ options: ConnectionOptions) {
    guard let activity = options.userActivities.first, let name = activity.targetContentIdentifier else { return }
    scene.title = name
    scene.activationConditions = SceneActivationConditions(can: .equals(name), prefers: .equals(name))
  }

  @Test(arguments: PrivateBus.Kind.available)
  func `each cat gets a window, and the same cat the same`(kind: PrivateBus.Kind) async throws {
    try await withHosted(Manifests.cats, kind) { stagedoor, application in
      application.whenConnecting = Self.showCat
      let tom = try await stagedoor.deliver(cat("tom"), .handled)
      #expect(tom.outcome == .created)
      try await application.waitForFocus(of: tom.session)
      #expect(
        application.taken() == [
          "configuration", "willConnect Cat Detail (unattached)", "willEnterForeground (unattached)",
          "bringToFront  (foregroundInactive)", "didBecomeActive (foregroundActive)",
        ])
      let tim = try await stagedoor.deliver(cat("tim"), .handled)
      #expect(tim.session != tom.session)
      // A scene that now shows something else still takes what its conditions accept.
      application.scene(of: tom.session)?.userActivity = cat("mouse")
      try await eventually("the mouse") { try await stagedoor.session(tom.session).userActivity == cat("mouse") }
      let again = try await stagedoor.deliver(cat("tom"), .handled)
      #expect(again.session == tom.session)
      #expect(again.outcome == .activated)
      #expect(application.taken().contains("continue tom (foregroundInactive)"))
      let session = try await stagedoor.session(tom.session)
      #expect(session.title == "tom")
      #expect(session.isConnected)
      #expect(application.openSessions.map(\.identifier) == [tom.session, tim.session])
    }
  }

  @Test(.house(installing: Manifests.cats))
  func `an application that comes first has the bus start the service`() async throws {
    try await house.installService("--durability", "memory")
    try await house.hosting { application in
      let tom = try await application.requestSceneSessionActivation(nil, userActivity: cat("tom"))
      try await application.waitForFocus(of: tom.session)
    }
  }

  /// The user closes the last window for good while the service is away, and the program ends with it.
  @Test(.house(installing: Manifests.cats))
  func `what was destroyed while the service was away stays destroyed when the program ends`() async throws {
    try await house.installService("--durability", "normal")
    try await house.withClient { stagedoor in
      try await house.hosting { application in
        let tom = try await application.requestSceneSessionActivation(nil, userActivity: cat("tom"))
        try await application.waitForFocus(of: tom.session)
        let service = try #require(try await stagedoor.connection.owner(of: House.name))
        let process = try #require(try await stagedoor.connection.credentials(of: service).processID)
        kill(pid_t(process), SIGKILL)
        try await application.noticesEnd()
        application.requestSceneSessionDestruction(try #require(application.scene(of: tom.session)).session)
      }
      #expect(try await stagedoor.sessions().isEmpty)
    }
  }

  /// A toolkit may set the focus at any moment, even before the service has received the reply that opened the scene.
  @Test(.hosted()) func `what a window says of its focus as soon as it is open is not lost`() async throws {
    application.windowsTakeFocus = false
    application.whenConnecting = { scene, _ in scene.enter(.foregroundActive) }
    for number in 0..<20 {
      let window = try await stagedoor.deliver(cat("cat\(number)"), .handled)
      try await eventually("the focus") {
        try await stagedoor.session(window.session).activationState == .foregroundActive
      }
    }
  }

  @Test(.hosted()) func `an application waits until its own window has taken a delivery`() async throws {
    let stagedoor = try #require(application.stagedoor)
    application.whenConnecting = Self.showCat
    let tom = try await stagedoor.deliver(cat("tom"), .handled)
    #expect(application.scene(of: tom.session)?.title == "tom")
    #expect(try await stagedoor.delivery(tom.identifier).state == .handled)
    application.whenContinuing = { _, _ in throw StagedoorError(.noSuchItem, "there is no tom") }
    let scene = try #require(application.scene(of: tom.session))
    let error = await #expect(throws: StagedoorError.self) {
      try await application.deliver(cat("tom"), from: scene, at: .anywhere, .handled)
    }
    #expect(error?.code == .hostRefused && "\(error as Any)".contains("there is no tom"))
  }

  @Test(.hosted())
  func `what is dropped at the edge gets a window of its own, and what is dropped on a window goes there`()
    async throws
  {
    application.whenConnecting = Self.showCat
    let tom = try await stagedoor.deliver(cat("tom"), .handled)
    let scene = try #require(application.scene(of: tom.session))
    #expect(try await application.deliver(cat("tom"), from: scene, at: .edge, .handled).outcome == .created)
    let window = try await application.deliver(cat("tim"), from: scene, at: .window(tom.session), .handled)
    #expect(window.session == tom.session)
    #expect(try await application.deliver(cat("tom"), from: scene, at: .anywhere, .handled).session == tom.session)
  }

  /// With the manifest of a tutorial for UIKit, which does not say that the application chooses.
  @Test func `an application chooses the configuration of a new window`() async throws {
    let manifest = Manifests.application(
      "org.example.Cats", types: "viewCat",
      configurations: Manifests.configuration("Main") + ", " + Manifests.configuration("For tom"))
    try await withHosted(manifest) { stagedoor, application in
      let wishes = DeliveryOptions.handled.with(\.disposition, .new)
      // The service waits one second for the answer, which may be too short on a busy machine.
      try await eventually("the configuration that the application chose") {
        let tom = try await stagedoor.deliver(cat("tom"), wishes)
        return try await stagedoor.session(tom.session).configuration.name == "For tom"
      }
      let calls = application.taken()
      let asked = try #require(calls.lastIndex(of: "configuration"))
      #expect(calls[asked + 1] == "willConnect For tom (unattached)")
    }
  }

  @Test(.service) func `an application that nobody installed brings its manifest along`() async throws {
    try await house.withClient { stagedoor in
      try await house.hosting(manifest: Manifests.cats) { application in
        let tom = try await stagedoor.deliver(cat("tom"), .handled)
        #expect(tom.outcome == .created)
        #expect(application.connectedScenes.map(\.id) == [tom.session])
      }
      // An earlier version of the program has declared less.
      try await stagedoor.register(
        manifest: Manifests.application(
          "org.example.Cats", types: "viewDog", configurations: Manifests.configuration("Default")))
      try await house.hosting(manifest: Manifests.cats) { _ in _ = try await stagedoor.deliver(cat("tom"), .handled) }
      let connection = try await house.bus.connect()
      #expect(
        await code { try await PlayedApplication("org.example.Dogs").start(on: connection) } == .noSuchApplication)
    }
  }
}

/// A service with an application installed, and a client.
@MainActor func withHosts(
  _ manifest: String = Manifests.cats, _ kind: PrivateBus.Kind = .daemon,
  _ body: @MainActor (House, Stagedoor) async throws -> Void
) async throws {
  try await withDaemon(kind, installing: manifest, with: "--durability", "memory") { house, _ in
    try await house.withClient { stagedoor in try await body(house, stagedoor) }
  }
}

/// The same, while the application runs.
@MainActor func withHosted(
  _ manifest: String = Manifests.cats, _ kind: PrivateBus.Kind = .daemon,
  _ body: @MainActor (Stagedoor, PlayedApplication) async throws -> Void
) async throws {
  try await withHosts(manifest, kind) { house, stagedoor in
    try await house.hosting { application in try await body(stagedoor, application) }
  }
}

extension House {
  /// Runs `body` while the application runs.
  @MainActor func hosting(
    manifest: String? = nil, restoresWindows: Bool = false, _ body: @MainActor (PlayedApplication) async throws -> Void
  ) async throws {
    let application = PlayedApplication("org.example.Cats", manifest: manifest)
    application.restoresWindows = restoresWindows
    try await ending(with: { await application.stop() }) {
      try await application.start(on: try await bus.connect())
      try await body(application)
    }
    #expect(application.failures.isEmpty)
  }
}
