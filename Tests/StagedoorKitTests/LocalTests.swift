import DBus
import DBusTestSupport
import StagedoorKit
import Testing

/// What a user does with windows takes effect at once, and the service hears of it later.
@MainActor @Suite struct LocalTests {
  @Test(.stage) func `the scenes of a process hear each other at once, also while the service is away`() async throws {
    let sessions = [service.addSession(1), service.addSession(2)]
    var heard: [String] = []
    application.whenConnecting = { scene, _ in
      scene.observe("EntriesUpdated") { notification in
        heard.append("\(scene.id == sessions[0] ? 1 : 2): \(notification.userInfo["entryID"]?.string ?? "")")
        #expect(Scene.current === scene)
      }
    }
    for session in sessions { try await service.connect(session, Options.none) }
    application.post("SomethingElse")
    application.post("EntriesUpdated", userInfo: ["entryID": "a"])
    #expect(heard == ["1: a", "2: a"])
    try await service.wait(for: "PostNotification EntriesUpdated")
    await service.close()
    try await application.noticesEnd()
    application.post("EntriesUpdated", userInfo: ["entryID": "b"])
    #expect(heard == ["1: a", "2: a", "1: b", "2: b"])
    application.scene(of: sessions[1])?.release()
    application.post("EntriesUpdated", userInfo: ["entryID": "c"])
    #expect(heard.last == "1: c")

    let next = try await PlayedService(on: bus, sessions: [1, 2])
    try await next.wait(for: "PostNotification EntriesUpdated")
    #expect(heard.count == 5)
  }

  @Test(.scene(Options.activity("caf\u{e9}"))) func `a key that only its bytes tell from the last is told`()
    async throws
  {
    scene.userActivity?.targetContentIdentifier = "cafe\u{301}"
    try await service.wait(for: written("cafe\u{301}"))
  }

  @Test(.stage) func `an observer of a window sees all sessions`() async throws {
    let session = service.addSession(1)
    try await service.connect(session, Options.none)
    for number in [2, 3] { service.addSession(number) }
    try await eventually("the sessions") { await application.openSessions.count == 3 }
    let scene = try #require(application.scene(of: session))
    var seen: [Int] = []
    scene.onChange(of: \.session.title) { _ in seen.append(application.openSessions.count) }
    scene.title = "Tom"
    try await eventually("the title") { await scene.session.title == "Tom" }
    #expect(seen == [3])
  }

  @Test(.stage) func `windows close while the service is away, and the next service is told`() async throws {
    let sessions = [1, 2, 3].map { service.addSession($0) }
    for session in sessions { try await service.connect(session, Options.activity("cat1")) }
    try await eventually("the sessions") { await application.openSessions.count == 3 }
    await service.close()
    try await application.noticesEnd()
    _ = application.taken()
    application.requestSceneSessionDestruction(
      try #require(application.scene(of: sessions[0])).session, options: .init(windowDismissalAnimation: .commit))
    #expect(application.taken().last == "didDisconnect commit (unattached)")
    application.scene(of: sessions[1])?.title = "the last title"
    application.scene(of: sessions[1])?.release()
    #expect(application.taken().last == "didDisconnect standard (unattached)")
    #expect(application.connectedScenes.map(\.id) == [sessions[2]])
    #expect(application.openSessions.map(\.identifier) == [sessions[1], sessions[2]])

    let next = try await PlayedService(on: bus, sessions: [1, 2, 3])
    try await next.wait(for: "1: Destroy commit")
    try await next.wait(for: "2: Title = the last title")
    #expect(next.lines.first == "AttachHost org.example.Cats \([sessions[2].path.rawValue])")
    #expect(!next.lines.contains("2: Disconnect"))
    #expect(application.openSessions.map(\.identifier) == [sessions[1], sessions[2]])
    // A delivery for a closed window finds no session.
    await #expect(throws: CallError.self) { try await next.connect(sessions[0], Options.activity("cat2")) }
  }

  @Test(.scene())
  func `a window's end that the service could not store is told again before what came later`() async throws {
    service.answers.withLock { $0["Destroy"] = ["org.stagedoor.Error.StorageFailed"] }
    application.requestSceneSessionDestruction(scene.session)
    application.post("Later")
    try await service.wait(for: "PostNotification Later")
    let lines = service.lines
    #expect(lines.prefix { $0 != "PostNotification Later" }.contains("1: Destroy standard"), "\(lines)")
  }

  @Test(.stage) func `a window's state is told before what came later, also to the next service`() async throws {
    let session = service.addSession(1)
    try await service.open(session)
    try await application.waitForFocus(of: session)
    await service.close()
    try await application.noticesEnd()
    application.scene(of: session)?.enter(.background)
    application.post("Later")
    let next = try await PlayedService(on: bus, sessions: [1])
    try await next.wait(for: "PostNotification Later")
    let lines = next.lines
    #expect(lines.prefix { $0 != "PostNotification Later" }.contains("1: SetState background"), "\(lines)")
  }

  @Test(.scene()) func `an end that the service forbids is reported, and holds nothing up`() async throws {
    service.answers.withLock {
      $0["Destroy"] = Array(repeating: "org.freedesktop.DBus.Error.AccessDenied", count: 5)
    }
    application.requestSceneSessionDestruction(scene.session)
    application.post("Later")
    try await service.wait(for: "PostNotification Later")
    #expect(application.takenFailures().count == 1)
    #expect(service.lines.count { $0.hasPrefix("AttachHost") } == 1)
  }

  @Test(.stage) func `a window can close itself while it opens`() async throws {
    let session = service.addSession(1)
    for closes in [{ $0.release() }, { application.requestSceneSessionDestruction($0.session) }] as [(Scene) -> Void] {
      application.whenConnecting = { scene, _ in closes(scene) }
      await #expect(throws: CallError.self) { try await service.connect(session, Options.activity("cat1")) }
      #expect(application.taken() == ["willConnect Main (unattached)"])
      #expect(application.connectedScenes.isEmpty)
    }
    try await service.wait(for: "1: Destroy standard")
  }

  @Test(.stage) func `one window at most has the focus, and only where it says so`() async throws {
    application.windowsTakeFocus = false
    let sessions = [service.addSession(1), service.addSession(2)]
    for session in sessions { try await service.open(session) }
    let scenes = sessions.compactMap { application.scene(of: $0) }
    #expect(scenes.map(\.activationState) == [.foregroundInactive, .foregroundInactive])
    scenes[0].enter(.foregroundActive)
    scenes[1].enter(.foregroundActive)
    #expect(scenes.map(\.activationState) == [.foregroundInactive, .foregroundActive])
    scenes[0].enter(.background)
    try await service.activate(sessions[0])
    #expect(scenes.map(\.activationState) == [.foregroundInactive, .foregroundActive])
  }

  @Test(.scene()) func `a change of a scene is observed as long as the scene lives`() async throws {
    var seen: [String] = []
    scene.onChange(of: \.title) { seen.append($0) }
    scene.onChange(of: \.userActivity) { seen.append($0?.targetContentIdentifier ?? "") }
    scene.onChange(of: \.activationState) { seen.append("\($0)") }
    scene.title = "Tom"
    scene.title = "Tom"
    try await service.resume(scene.id, Options.activity("cat2"))
    #expect(seen == ["Tom", "cat2"])
    scene.release()
    scene.title = "Tim"
    #expect(seen == ["Tom", "cat2", "background", "unattached"])
  }

  @Test func `what a base class of delegates leaves out its subclass may add`() async throws {
    class Base: SceneDelegate {
      override func scene(_ scene: Scene, willConnectTo session: SceneSession, options: ConnectionOptions) {
        scene.title = "of the base class"
      }
    }
    final class Window: Base {
      override func sceneWillEnterForeground(_ scene: Scene) { scene.title += ", in the foreground" }
    }
    final class Windows: Application {
      override func sceneDelegate(for session: SceneSession) -> SceneDelegate? { Window() }
    }
    let application = Windows("org.example.Cats")
    try await withStage(of: application, sessions: [1]) { _, service in
      let session = PlayedService.session(1)
      try await service.connect(session, Options.none)
      #expect(application.scene(of: session)?.title == "of the base class, in the foreground")
    }
  }
}
