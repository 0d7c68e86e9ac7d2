import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import StagedoorKit
import Testing

/// What a host writes, loads and asks for, and how it returns.
@MainActor @Suite struct HostTests {
  @Test(.stage) func `what a delegate sets is with the service before the delivery counts as handled`() async throws {
    let session = service.addSession(1)
    application.whenConnecting = { scene, _ in
      scene.title = "Tim"
      scene.title = "Tom"
      scene.activationConditions = SceneActivationConditions(can: .equals("cat1"), prefers: .begins(with: "cat"))
      scene.userInfo = ["zoom": 2]
      cat("cat7").becomeCurrent(in: scene)
    }
    try await service.connect(session, Options.activity("cat1"))
    let lines = Self.withoutRestoration(service.lines).dropFirst()
    #expect(
      Set(lines) == [
        "1: Title = Tom", #"1: CanActivatePredicate = SELF == "cat1""#,
        #"1: PrefersToActivatePredicate = SELF BEGINSWITH "cat""#, #"1: UserInfo = {"zoom":2}"#, written("cat7"),
      ])
    // Each property is written once, with its last value.
    #expect(lines.count == 5)
    application.whenContinuing = { scene, _ in
      scene.title = "Tim"
      scene.userInfo = [:]
      scene.activationConditions = SceneActivationConditions()
    }
    try await service.resume(session, Options.activity("cat2"))
    #expect(Self.withoutRestoration(service.lines).count == 1 + 5 + 4)
  }

  /// Leaves out the restoration activity, which the host writes a moment later.
  private static func withoutRestoration(_ lines: [String]) -> [String] {
    lines.filter { !$0.contains("StateRestorationActivity") }
  }

  @Test func `a delivery that comes with the attachment waits until the host may write`() async throws {
    let application = PlayedApplication("org.example.Cats")
    application.whenConnecting = { scene, _ in
      scene.title = "Tom"
      scene.userInfo = ["zoom": 2]
    }
    try await withStage(of: application, sessions: [1], connectsAtOnce: true) { _, service in
      try await service.wait(for: "1: connected")
      #expect(
        service.lines == [
          "AttachHost org.example.Cats []", "1: Title = Tom", #"1: UserInfo = {"zoom":2}"#, "1: connected",
        ])
    }
  }

  @Test(.scene(Options.activity("cat1")))
  func `an activity that needs saving is filled in, once for many changes`() async throws {
    _ = application.taken()
    for _ in 0..<10 { scene.userActivity?.needsSave = true }
    try await service.wait(
      for:
        #"1: UserActivity = {"activityType":"viewCat","targetContentIdentifier":"cat1","userInfo":{"saved":true}}"#)
    #expect(application.taken() == ["willSave (foregroundInactive)"])
    #expect(scene.userActivity?.needsSave == false)
  }

  @Test(.stage)
  func `an activity becomes current in the scene whose delegate is called, and in the tasks that begin there`()
    async throws
  {
    var tasks: [Task<Void, Never>] = []
    application.whenConnecting = { scene, options in
      #expect(Scene.current === scene)
      let name = "mouse of \(options.userActivities.first?.targetContentIdentifier ?? "")"
      tasks.append(Task { cat(name).becomeCurrent() })
    }
    application.whenContinuing = { _, _ in cat("dog").becomeCurrent() }
    let sessions = [service.addSession(1), service.addSession(2)]
    for (session, name) in zip(sessions, ["cat1", "cat2"]) {
      try await service.connect(session, Options.activity(name))
    }
    for task in tasks { await task.value }
    // Where no delegate is called no scene is meant, and nothing happens.
    #expect(Scene.current == nil)
    cat("nobody").becomeCurrent()
    #expect(sessions.map { application.scene(of: $0)?.userActivity } == [cat("mouse of cat1"), cat("mouse of cat2")])
    try await service.resume(sessions[0], Options.activity("cat3"))
    #expect(sessions.map { application.scene(of: $0)?.userActivity } == [cat("dog"), cat("mouse of cat2")])
  }

  @Test func `items are loaded as long as somebody has them, and then released`() async throws {
    let delivery = PlayedService.delivery
    let options = """
      {"delivery": "\(delivery)", "attempt": 1, "userActivities": [{"activityType": "viewCat"}],
       "items": [{"suggestedName": "Beach.txt", "activities": [0],
                  "representations": [{"type": "text/plain", "size": 7}]}],
       "sourceApplication": "org.example.Mail"}
      """
    try await withScene(options) { service, application, _ in
      let item = try #require(application.items.first)
      #expect(item.itemProvider.suggestedName == "Beach.txt")
      #expect(item.itemProvider.userActivities == [UserActivity("viewCat")])
      #expect(try await item.itemProvider.loadText() == "a beach")
      #expect(service.lines.contains("OpenItem 0 text/plain"))
      #expect(!service.lines.contains("ReleaseDelivery \(delivery)"))
      application.items = []
      _ = consume item
      try await service.wait(for: "ReleaseDelivery \(delivery)")
    }
  }

  @Test(.stage)
  func `a delegate learns whether a delivery is private, how it was dropped, and where it came from`() async throws {
    var seen: [ConnectionOptions] = []
    application.whenConnecting = { seen.append($1) }
    let said = #"{"userActivities": [], "private": true, "operation": "move", "origin": "laptop"}"#
    for (number, options) in [said, Options.none].enumerated() {
      try await service.connect(service.addSession(number + 1), options)
    }
    #expect(seen.map(\.isPrivate) == [true, false])
    #expect(seen.map(\.operation) == [.move, nil])
    #expect(seen.map(\.origin) == ["laptop", nil])
  }

  @Test(.scene(Options.items(["text/plain", "text/torn"])))
  func `what was not loaded to its end is not released`() async throws {
    #expect(try await application.items[0].itemProvider.loadText() == "a beach")
    let torn = application.items[1].itemProvider
    #expect(await code { _ = try await torn.loadText(as: "text/torn") } == .sourceGone)
    #expect(await code { _ = try await torn.loadFileRepresentation(as: "text/torn") } == .sourceGone)
    _ = consume torn
    application.items = []
    scene.title = "later"
    try await service.wait(for: "1: Title = later")
    #expect(!service.lines.contains { $0.hasPrefix("ReleaseDelivery") })
  }

  @Test func `what an item promises is not made on the main actor`() async throws {
    let place = Lock<pthread_t?>(nil)
    let item = DragItem(promising: "image/png") { _ in
      place.withLock { $0 = pthread_self() }
      return Data()
    }
    _ = try await item.itemProvider.loadDataRepresentation(as: "image/png")
    #expect(place.withLock(\.self) != pthread_self())
  }

  @Test(.scene(Options.items(["text/endless"])))
  func `whoever waits for an item that does not end can be called off, and so can each load of a progress`()
    async throws
  {
    let item = try #require(application.items.first).itemProvider
    let progress = ItemProgress()
    let loads = [
      Task { await code { _ = try await item.loadDataRepresentation(as: "text/endless") } },
      Task { await code { _ = try await item.loadDataRepresentation(as: "text/endless", progress: progress) } },
      Task { await code { _ = try await item.loadFileRepresentation(as: "text/endless", progress: progress) } },
    ]
    try await service.wait(for: "OpenItem 0 text/endless", loads.count)
    loads[0].cancel()
    progress.cancel()
    for load in loads {
      #expect(try await withLimit(usualLimit, "the end of the loading") { await load.value } == .taskCancelled)
    }
    #expect(StagedoorError(.taskCancelled, "").isCancellation)
  }

  @Test(.scene())
  func `what the application asks for goes to the service, and its refusals come back typed`() async throws {
    let session = scene.id
    let options = Application.ActivationRequestOptions(
      requestingScene: scene, preferredPresentationStyle: .prominent)
    let made = try await application.requestSceneSessionActivation(nil, userActivity: cat("cat2"), options: options)
    #expect(made.session == PlayedService.newSession)
    try await application.requestSceneSessionActivation(scene.session, userActivity: nil)
    try await application.requestSceneSessionActivation(nil, userActivity: nil)
    try await application.requestSceneSessionRefresh(scene.session)
    application.requestSceneSessionDestruction(scene.session, options: .init(windowDismissalAnimation: .decline))
    try await service.wait(for: "1: Destroy decline")
    #expect(
      service.lines.dropFirst() == [
        #"Deliver {"activity":{"activityType":"viewCat","targetContentIdentifier":"cat2"},"#
          + #""options":{"application":"org.example.Cats","presentationStyle":"prominent","#
          + #""requestingSession":"\#(session)"}}"#,
        #"Deliver {"options":{"session":"\#(session)"}}"#,
        #"Deliver {"options":{"application":"org.example.Cats","disposition":"new"}}"#, "1: Refresh",
        "1: Destroy decline",
      ])
    #expect(
      await code { try await application.requestSceneSessionActivation(nil, userActivity: UserActivity("refuse")) }
        == .requestDenied)
  }

  @Test(.stage) func `files go to the service as a list`() async throws {
    let stagedoor = try #require(application.stagedoor)
    let files = [URL(filePath: "/home/user/Beach at noon.png"), try #require(URL(string: "https://example.org/a?b"))]
    #expect(try await stagedoor.drop(files, as: "viewCat", "cat1").outcome == .activated)
    #expect(
      service.lines.last
        == #"DropURIs ["file:///home/user/Beach%20at%20noon.png", "https://example.org/a?b"] viewCat cat1"#)
  }

  @Test(.stage) func `a notification reaches every process, and only its own application's listeners`() async throws {
    let other = Stagedoor(on: try await bus.connect())
    let there = try await other.notifications(named: "EntriesUpdated", of: "org.example.Cats")
    let stranger = try await other.notifications(named: "EntriesUpdated", of: "org.example.Dogs")
    application.post("Something")
    application.post("EntriesUpdated", userInfo: ["entryID": "7", "count": 3])
    let first = try await collect(1, from: there)[0]
    #expect(first.name == "EntriesUpdated")
    #expect(first.userInfo == ["entryID": "7", "count": 3])
    await other.close()
    #expect(await stranger.makeAsyncIterator().next() == nil)
  }

  @Test(.scene()) func `a host says what a drop would do`() async throws {
    let item: [String: Variant] = ["suggestedName": "Beach.png"]
    #expect(try await service.propose(scene.id, [item], ["copy", "move"]) == "copy")
    #expect(try await service.propose(scene.id, [item], ["move"]) == "forbidden")
  }

  @Test(.stage) func `only the service may call a host`() async throws {
    let session = service.addSession(1)
    let stranger = try await bus.connect()
    let host = stranger.object("org.example.Cats", at: "/org/example/Cats", "org.stagedoor.SceneHost1")
    #expect(await refusal { try await host.call("DestroyScene", session.path, "standard") }?.name == .accessDenied)
    #expect(application.taken().isEmpty)
  }

  @Test(.stage) func `a second process of the application is told that there is one`() async throws {
    let connection = try await bus.connect()
    let second = PlayedApplication("org.example.Cats")
    #expect(await code { try await second.start(on: connection) } == .alreadyRunning)
    #expect(await code { try await PlayedApplication("no identifier").start(on: connection) } == .invalidArguments)
  }

  @Test(.stage)
  func `a host attaches again to the next service, with what it shows and what it had not said`() async throws {
    let session = service.addSession(1)
    let doomed = service.addSession(2)
    for session in [session, doomed] { try await service.open(session) }
    try await service.wait(for: "2: SetState foregroundActive")
    await service.close()
    _ = application.taken()
    let scene = try #require(application.scene(of: session))
    scene.title = "Tom"
    scene.enter(.background)
    application.post("EntriesUpdated")

    let next = try await PlayedService(on: bus, sessions: [1], discardsUnknown: true)
    try await next.wait(for: "AttachHost org.example.Cats \([session.path.rawValue, doomed.path.rawValue])")
    try await next.wait(for: "1: Title = Tom")
    try await next.wait(for: "1: SetState background")
    try await next.wait(for: "PostNotification EntriesUpdated")
    #expect(application.connectedScenes.map(\.id) == [session])
    #expect(application.taken().contains("didDisconnect standard (unattached)"))
    // The application takes calls from the new service.
    try await next.resume(session, Options.activity("cat5"))
    #expect(application.taken().contains("continue cat5 (foregroundInactive)"))
  }

  @Test(.stage)
  func `what is released while the service is away is told to the next service, behind the attachment`() async throws {
    try await service.connect(service.addSession(1), Options.items(["text/plain"]))
    let item = try #require(application.items.first)
    await service.close()
    // The application has the news of the loss before this answer.
    let connection = try #require(application.stagedoor).connection
    #expect(try await connection.owner(of: "org.stagedoor.Interchange1") == nil)
    item.itemProvider.finishLoading()
    let next = try await PlayedService(on: bus, sessions: [1])
    try await next.wait(for: "ReleaseDelivery \(PlayedService.delivery)")
    let order = next.lines.compactMap { line in ["AttachHost", "ReleaseDelivery"].first { line.hasPrefix($0) } }
    #expect(order == ["AttachHost", "ReleaseDelivery"])
  }

  @Test(.stage, arguments: [false, true])
  func `an item that is loaded while the service restarts is opened by the next one, behind the attachment`(
    isNoticed: Bool
  ) async throws {
    try await service.connect(service.addSession(1), Options.items(["text/plain"]))
    let item = try #require(application.items.first).itemProvider
    await service.close()
    if isNoticed {
      let connection = try #require(application.stagedoor).connection
      #expect(try await connection.owner(of: "org.stagedoor.Interchange1") == nil)
    }
    let loading = Task { try await item.loadDataRepresentation(as: "text/plain") }
    let next = try await PlayedService(on: bus, sessions: [1])
    #expect(try await loading.value == Data("a beach".utf8))
    let order = next.lines.compactMap { line in ["AttachHost", "OpenItem"].first { line.hasPrefix($0) } }
    #expect(order == ["AttachHost", "OpenItem"])
  }

  @Test(.played(sessions: [1]))
  func `an application runs until it is stopped, called off, or left without a bus, and puts its scenes away`()
    async throws
  {
    let session = PlayedService.session(1)
    for ending in ["stopped", "called off", "left"] {
      let application = PlayedApplication("org.example.Cats")
      let connection = try await bus.connect()
      let running = Task { await code { try await application.run(on: connection) } }
      try await eventually("the host") { try await service.connection.owner(of: "org.example.Cats") != nil }
      try await eventually("the scene") {
        try? await service.connect(session, Options.activity("cat1"))
        return await application.connectedScenes.count == 1
      }
      try await service.activate(session)
      switch ending {
      case "stopped": await application.stop()
      case "called off": running.cancel()
      default: await bus.kill()
      }
      let error = try await withLimit(usualLimit, "the end of the application") { await running.value }
      #expect(error == (ending == "left" ? .disconnected : nil))
      #expect(application.calls.last == "didDisconnect standard (unattached)")
      #expect(application.connectedScenes.isEmpty)
      #expect(application.failures.isEmpty)
      if ending == "left" { return }
      #expect(try await service.connection.owner(of: "org.example.Cats") == nil)
      #expect(service.lines.contains(written("cat1", as: "StateRestorationActivity")))
    }
  }
}
