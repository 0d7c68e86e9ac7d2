import DBus
import DBusTestSupport
import StagedoorKit
import Testing

/// Which calls a scene gets, in which order and state, in each case.
@MainActor @Suite struct LifecycleTests {
  private static let leaving = [
    "willResignActive (foregroundActive)", "didEnterBackground (background)", "stateRestorationActivity (background)",
  ]

  @Test(.scene(Options.activity("cat1")))
  func `a new scene connects and becomes active, and later comes out of the background to continue`() async throws {
    let session = scene.id
    #expect(service.lines.first == "AttachHost org.example.Cats []")
    #expect(scene.userActivity == cat("cat1"))
    try await service.activate(session, token: "let-me")
    #expect(
      application.taken() == [
        "willConnect Main (unattached)", "willEnterForeground (unattached)",
        "bringToFront let-me (foregroundInactive)", "didBecomeActive (foregroundActive)",
      ])
    try await service.wait(for: "1: SetState foregroundActive")
    #expect(application.connectedScenes.map(\.id) == [session])
    #expect(application.openSessions.map(\.identifier) == [session])
    try await service.resume(session, Options.activity("cat2"))
    try await service.activate(session)
    #expect(application.taken() == ["continue cat2 (foregroundActive)", "bringToFront  (foregroundActive)"])

    scene.enter(.background)
    #expect(application.taken() == Self.leaving)
    try await service.wait(for: "1: SetState background")
    try await service.wait(for: written("cat2", as: "StateRestorationActivity"))
    try await service.resume(session, Options.activity("cat3"))
    try await service.activate(session)
    #expect(
      application.taken() == [
        "willEnterForeground (background)", "continue cat3 (foregroundInactive)",
        "bringToFront  (foregroundInactive)", "didBecomeActive (foregroundActive)",
      ])
  }

  @Test(.scene())
  func `a scene that is destroyed leaves step by step, and then its session is discarded`() async throws {
    let session = scene.id
    try await service.activate(session)
    _ = application.taken()
    service.removeSession(session)
    try await service.destroy(session, .commit)
    try await service.discard(session)
    #expect(application.taken() == Self.leaving + ["didDisconnect commit (unattached)", "didDiscard 1"])
    #expect(application.discardedSessions == [session])
    #expect(application.connectedScenes.isEmpty)
    try await eventually("no open session") { await application.openSessions.isEmpty }
    // The service may report a session that the application has closed already.
    try await service.destroy(session)
    #expect(application.taken().isEmpty)
  }

  @Test(.scene(Options.activity("cat1")))
  func `a scene that is released keeps its session, and is restored with what it was doing`() async throws {
    let session = scene.id
    try await service.activate(session)
    _ = application.taken()
    scene.release()
    #expect(application.taken() == Self.leaving + ["didDisconnect standard (unattached)"])
    #expect(application.connectedScenes.isEmpty)
    try await service.wait(for: "1: Disconnect")
    #expect(service.lines.last == "1: Disconnect")
    try await eventually("an open session") { await application.openSessions.map(\.identifier) == [session] }

    var restored: UserActivity?
    application.whenConnecting = { scene, _ in restored = scene.session.stateRestorationActivity }
    try await service.connect(session, Options.none)
    #expect(restored == cat("cat1"))
  }

  @Test(.stage) func `what a delegate throws refuses the delivery, and leaves things as they were`() async throws {
    let session = service.addSession(1)
    application.whenConnecting = { _, _ in throw NoSuchCat() }
    await #expect(throws: CallError.self) { try await service.connect(session, Options.activity("cat9")) }
    #expect(application.taken() == ["willConnect Main (unattached)"])
    #expect(application.connectedScenes.isEmpty)
    application.whenConnecting = { _, _ in }
    try await service.connect(session, Options.activity("cat1"))
    application.scene(of: session)?.enter(.background)
    _ = application.taken()
    application.whenContinuing = { _, _ in throw StagedoorError(.noSuchItem, "there is no cat9") }
    let reply = await refusal { try await service.resume(session, Options.activity("cat9")) }
    #expect(reply?.name == "org.stagedoor.Error.NoSuchItem" && reply?.text == "there is no cat9")
    #expect(application.scene(of: session)?.userActivity == cat("cat1"))
    #expect(application.scene(of: session)?.activationState == .background)
    await #expect(throws: CallError.self) {
      try await service.connect(service.addSession(2), Options.none, configuration: "Unknown")
    }
  }

  /// The service goes back to the activity before the delivery.
  @Test(.scene(Options.activity("cat1")))
  func `what a scene shows is written after an equal activity was refused`() async throws {
    application.whenContinuing = { _, _ in throw NoSuchCat() }
    // The answer to the first call was lost with a service, and the delivery comes again.
    await #expect(throws: CallError.self) {
      try await service.resume(scene.id, Options.activity("cat1", attempt: 2), isAgain: true)
    }
    try await service.wait(for: written("cat1"))
    // The person opens a cat at the moment in which somebody drops the same.
    scene.enter(.background)
    application.whenCalled = { call, scene in
      if call == "willEnterForeground" { scene.userActivity = cat("cat2") }
    }
    await #expect(throws: CallError.self) { try await service.resume(scene.id, Options.activity("cat2")) }
    try await service.wait(for: written("cat2"))
  }

  /// The scene's older activity has replaced the delivery's at the service, and the service refuses further changes for a moment.
  @Test(.scene(Options.activity("cat1")))
  func `an activity that a delivery brings twice is written if the service lost it`() async throws {
    scene.userActivity = cat("cat2")
    try await service.wait(for: written("cat2"))
    scene.enter(.background)
    try await service.wait(for: "1: SetState background")
    application.whenCalled = { call, scene in if call == "willEnterForeground" { scene.title = "Tom" } }
    service.answers.withLock { $0 = ["Title": ["org.stagedoor.Error.StorageFailed"]] }
    for attempt in 1...2 {
      try await service.resume(scene.id, Options.activity("cat3", attempt: attempt), isAgain: true)
    }
    try await service.wait(for: written("cat3"))
  }

  @Test(.scene(Options.activity("cat1")))
  func `a session that is destroyed while a delivery for it is being answered gets no new window`() async throws {
    let session = scene.id
    _ = application.taken()
    service.whenNextRead { [application, scene] in application.requestSceneSessionDestruction(scene.session) }
    let reply = await refusal { try await service.resume(session, Options.activity("cat2")) }
    #expect(reply?.name == "org.stagedoor.Error.NoSuchSession")
    #expect(!application.taken().contains { $0.hasPrefix("willConnect") })
    try await service.wait(for: "1: Destroy standard")
    #expect(application.connectedScenes.isEmpty)
  }

  @Test(.scene(Options.activity("cat1")))
  func `a scene that is released while a delivery for it is being answered hands its last values on`()
    async throws
  {
    service.whenNextRead { [scene] in
      scene.userInfo = ["zoom": 2]
      scene.release()
    }
    try await service.resume(scene.id, Options.activity("cat2"))
    let next = try #require(application.scene(of: scene.id))
    #expect(next !== scene && next.userInfo == ["zoom": 2] && next.userActivity == cat("cat2"))
    try await service.wait(for: #"1: UserInfo = {"zoom":2}"#)
    // The service has heard of the release, and now hears that the window exists.
    try await service.wait(for: "AttachHost org.example.Cats [\"\(scene.id.path)\"]")
  }

  /// A task goes on later than one may think: other tasks of the main actor run whenever an async function is entered or left.
  @Test(.stage)
  func `a scene that is released at any moment of a delivery for it loses none of its values`() async throws {
    let session = service.addSession(1)
    for round in 1...800 {
      if application.connectedScenes.isEmpty { try await service.connect(session, Options.none) }
      service.whenNextRead { [application] in
        Task {
          for _ in 0..<(round * 7 % 100) { await Task.yield() }
          let scene = application.connectedScenes.first
          scene?.userInfo = ["round": .integer(round)]
          scene?.release()
        }
      }
      try await service.connect(session, Options.activity("cat1"))
      try await service.wait(for: #"1: UserInfo = {"round":\#(round)}"#)
    }
  }

  @Test(.scene())
  func `a scene that refuses a delivery of a service which does not know of the scene is listed again`() async throws {
    application.whenContinuing = { _, _ in throw NoSuchCat() }
    await #expect(throws: CallError.self) { try await service.connect(scene.id, Options.activity("cat1")) }
    try await service.wait(for: "AttachHost org.example.Cats [\"\(scene.id.path)\"]")
    #expect(application.scene(of: scene.id) === scene)
  }

  /// A list of sessions may come late.
  @Test(.scene()) func `a destruction that waits is not forgotten because a list lacks the session`() async throws {
    let session = scene.id
    service.addSession(2)
    try await eventually("both sessions") { await application.openSessions.count == 2 }
    // The application is not attached from here on, until the service accepts it again.
    service.answers.withLock {
      $0 = [
        "Title": ["org.stagedoor.Error.StorageFailed"],
        "AttachHostWith": Array(repeating: "org.freedesktop.DBus.Error.AccessDenied", count: 1000),
      ]
    }
    scene.title = "Tom"
    try await eventually("a refused attachment") {
      service.answers.withLock { $0["AttachHostWith"]?.count } ?? 0 < 1000
    }
    application.requestSceneSessionDestruction(scene.session)
    service.removeSession(session)
    service.removeSession(PlayedService.session(2))
    try await eventually("the list without both") { await application.openSessions.isEmpty }
    service.addSession(1)
    await #expect(throws: CallError.self) { try await service.connect(session, Options.activity("cat1")) }
    #expect(application.connectedScenes.isEmpty)
    service.answers.withLock { $0 = [:] }
    try await service.wait(for: "1: Destroy standard")
    #expect(application.takenFailures().count == 1)
  }

  @Test(.scene(Options.activity("cat1")))
  func `a delivery that comes again to a scene that is there makes no second one`() async throws {
    _ = application.taken()
    try await service.connect(scene.id, Options.activity("cat1", attempt: 2))
    #expect(application.taken() == ["continue cat1 (foregroundInactive)"])
    #expect(application.connectedScenes.count == 1)
  }

  @Test(.stage) func `a dynamic application chooses the configuration, and refreshes when it is asked`() async throws {
    let session = service.addSession(1)
    #expect(try await service.configuration(session, Options.activity("cat1")) == "For cat1")
    #expect(try await service.configuration(session, Options.none) == "")
    try await service.connect(session, Options.none)
    try await service.refresh(session)
    #expect(application.taken().last == "needsRefresh (foregroundInactive)")
    await #expect(throws: CallError.self) { try await service.refresh(PlayedService.newSession) }
  }
}
