import DBus
import DBusTestSupport
import DaemonTestSupport
import ExitTestSupport
import Glibc
import StagedoorKit
import StagedoorTestSupport
import Testing

/// How an application starts: what it knows then, and which windows it opens.
@MainActor @Suite struct LaunchTests {
  @Test(.hosts()) func `an application knows its sessions when it is told that it has started`() async throws {
    var sessions: [SessionIdentifier] = []
    try await house.hosting { application in
      #expect(application.launches.map(\.deliveries) == [[]])
      for name in ["tom", "tim"] { sessions.append(try await stagedoor.deliver(cat(name), .handled).session) }
    }
    for _ in 0..<5 {
      let application = PlayedApplication("org.example.Cats")
      var known: [SessionIdentifier] = []
      application.whenLaunching = { known = application.openSessions.map(\.identifier) }
      try await application.start(on: try await house.bus.connect())
      #expect(known == sessions)
      #expect(application.openSessions.map(\.identifier) == sessions)
      await application.stop()
    }
  }

  @Test(.hosts()) func `an application that a delivery started is told which, before it gets it`() async throws {
    let tom = try await stagedoor.deliver(cat("tom"), .lasting)
    let tim = try await stagedoor.deliver(cat("tim"), .lasting)
    try await house.hosting { application in
      #expect(application.launches.map { $0.deliveries.map(\.identifier) } == [[tom.identifier, tim.identifier]])
      try await eventually("two windows") { await application.connectedScenes.count == 2 }
    }
  }

  @Test(.hosts()) func `a window that releases itself when it closes comes back too`() async throws {
    try await house.hosting(restoresWindows: true) { application in
      application.whenCalled = { name, scene in if name == "didDisconnect" { scene.release() } }
      try await eventually("a first window") { await application.connectedScenes.count == 1 }
      _ = try await stagedoor.deliver(cat("tom"), .handled)
    }
    try await house.hosting(restoresWindows: true) { application in
      try await eventually("two windows") { await application.connectedScenes.count == 2 }
      #expect(application.connectedScenes.map { $0.session.stateRestorationActivity } == [nil, cat("tom")])
    }
  }

  @Test(.hosts()) func `the windows that were shown come back, the one that was used last in front`() async throws {
    var made: [SessionIdentifier] = []
    try await house.hosting(restoresWindows: true) { application in
      try await eventually("a first window") { await application.connectedScenes.count == 1 }
      let first = try #require(application.connectedScenes.first)
      #expect(first.session.configuration.name == "Default")
      for name in ["tom", "tim", "kit"] { made.append(try await stagedoor.deliver(cat(name), .handled).session) }
      let (tom, tim, kit) = (made[0], made[1], made[2])
      application.requestSceneSessionDestruction(first.session)
      application.scene(of: kit)?.release()
      _ = try await stagedoor.deliver(cat("tom"), .handled)
      try await eventually("the release") {
        try await stagedoor.sessions().filter(\.isConnected).map(\.identifier) == [tom, tim]
      }
    }
    let (tom, tim, kit) = (made[0], made[1], made[2])
    #expect(try await stagedoor.sessions().count == 3)
    try await house.hosting(restoresWindows: true) { application in
      #expect(application.openSessions.count == 3)
      try await application.waitForFocus(of: tom)
      #expect(application.connectedScenes.map(\.id) == [tom, tim])
      #expect(application.connectedScenes.map { $0.session.stateRestorationActivity } == [cat("tom"), cat("tim")])
      #expect(application.connectedScenes.allSatisfy { $0.userInfo.isEmpty && $0.session.userInfo.isEmpty })
    }
    // A delivery opens its own window only.
    #expect(try await stagedoor.deliver(cat("kit"), .lasting).session == kit)
    try await house.hosting(restoresWindows: true) { application in
      try await application.waitForFocus(of: kit)
      #expect(application.connectedScenes.count == 1)
    }
  }

  @Test(arguments: [[1, 2], []])
  func `the windows of the start open, although the service leaves meanwhile`(shown: [Int]) async throws {
    try await withPrivateBus { bus in
      let known = PlayedService.Known()
      for number in shown {
        known.replace(PlayedService.session(number), by: ["UserInfo": #"{"org.stagedoor.kit.shown": true}"#])
      }
      let first = try await PlayedService(on: bus, sessions: shown, known: known, answering: ["Deliver": [.later]])
      let application = PlayedApplication("org.example.Cats")
      application.restoresWindows = true
      try await application.start(on: try await bus.connect())
      @Sendable func requests(_ service: PlayedService) -> [String] { service.lines.filter { $0.hasPrefix("Deliver") } }
      try await eventually("a request") { requests(first).count == 1 }
      await first.close()
      let second = try await PlayedService(on: bus, sessions: shown, known: known)
      try await eventually("the end of the start") { await !application.isLaunching }
      #expect(requests(second).count == max(1, shown.count))
      // The same token: the next service knows whether it had accepted the request.
      #expect(requests(second).first == requests(first).first)
      #expect(application.failures.isEmpty)
      await application.stop()
    }
  }

  @Test func `a private window comes back too, and keeps its content over a restart of the service`() async throws {
    try await withPrivateStagedoor { house in
      try await house.install(manifest: Manifests.cats, of: "org.example.Cats")
      var secretly = DeliveryOptions.handled
      secretly.isPrivate = true
      let first = PlayedApplication("org.example.Cats")
      try await first.start(on: try await house.connect())
      first.restoresWindows = true
      let tom = try await (try #require(first.stagedoor)).deliver(cat("tom"), secretly).session
      first.scene(of: tom)?.title = "Tom"
      await first.stop()

      let second = PlayedApplication("org.example.Cats")
      second.restoresWindows = true
      var known: [SceneSession] = []
      second.whenLaunching = { known = second.openSessions }
      try await second.start(on: try await house.connect())
      #expect(known.map(\.title) == ["Tom"] && known.map(\.userActivity) == [cat("tom")])
      try await eventually("a window") { await second.connectedScenes.count == 1 }
      #expect(second.connectedScenes.map(\.id) == [tom])

      try await house.killService()
      try await house.startService()
      let tim = try await (try #require(second.stagedoor)).deliver(cat("tim"), .handled).session
      second.scene(of: tim)?.release()
      // The list of the next service.
      try await eventually("the list") {
        await second.openSessions.contains { $0.identifier == tim && !$0.isConnected }
      }
      #expect(second.scene(of: tom)?.session.title == "Tom")
      #expect(second.scene(of: tom)?.session.userActivity == cat("tom"))
      #expect(second.failures.isEmpty)
      await second.stop()
    }
  }

  @Test(.played(sessions: [1])) func `an application that somebody started lives until it is stopped`() async throws {
    let session = PlayedService.session(1)
    let connection = try await bus.connect()
    let forgotten = Forgotten()
    try await { @MainActor in
      let application = PlayedApplication("org.example.Cats")
      forgotten.application = application
      try await application.start(on: connection)
    }()
    try await service.connect(session, Options.none)
    #expect(forgotten.application?.connectedScenes.map(\.id) == [session])
    await forgotten.application?.stop()
    try await eventually("its end") { await forgotten.application == nil }
  }

  @MainActor private final class Forgotten {
    weak var application: PlayedApplication?
  }

  private static let neverAttaching: [MemberName: [PlayedService.Answer]] = [
    "AttachHostWith": Array(repeating: "org.freedesktop.DBus.Error.NoReply", count: 1000)
  ]

  @Test(.played(answering: neverAttaching))
  func `an application whose service leaves before it has attached gets an error, if nobody can start the next`()
    async throws
  {
    let connection = try await bus.connect()
    let starting = Task { await code { try await PlayedApplication("org.example.Cats").start(on: connection) } }
    try await eventually("an attempt") { service.answers.withLock { $0["AttachHostWith"]?.count ?? 0 } < 1000 }
    await service.close()
    #expect(try await withLimit(usualLimit, "the error") { await starting.value } == .serviceUnknown)
  }

  @Test(.played(answering: neverAttaching))
  func `an application that is cancelled while it starts says so`() async throws {
    let connection = try await bus.connect()
    let application = PlayedApplication("org.example.Cats")
    @Sendable func left() -> Int { service.answers.withLock { $0["AttachHostWith"]?.count ?? 0 } }
    let starting = Task { await code { try await application.start(on: connection) } }
    try await eventually("an attempt") { left() < 1000 }
    starting.cancel()
    #expect(await starting.value == .taskCancelled)
    let before = left()
    let running = Task { await code { try await application.run(on: connection) } }
    try await eventually("another attempt") { left() < before }
    running.cancel()
    #expect(await running.value == nil)
    #expect(application.failures.isEmpty)
  }

  @Test(.played(sessions: [1]))
  func `an application that is stopped while it starts is not told that it has started`() async throws {
    let connection = try await bus.connect()
    let application = PlayedApplication("org.example.Cats")
    service.whenNextRead { Task { await application.stop() } }
    #expect(await code { try await application.start(on: connection) } == .disconnected)
    service.whenNextRead { Task { await application.stop() } }
    #expect(await code { try await application.run(on: connection) } == nil)
    #expect(application.launches.isEmpty && application.failures.isEmpty)
    #expect(!application.isLaunching && application.stagedoor == nil)
  }

  @Test(.played(), .ownThreads) func `an application that two tasks start at once traps`() async throws {
    await #expect(processExitsWith: .failure) { [address = bus.address.description as String] in
      setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
      let application = await PlayedApplication("org.example.Cats")
      let tasks = (0..<2).map { _ in Task { await code { try await application.start() } } }
      for task in tasks { _ = await task.value }
    }
  }

  @Test(.played(), .ownThreads)
  func `a start that was stopped while it connected takes nothing from the next one`() async throws {
    await #expect(processExitsWith: .success) { [address = bus.address.description as String] in
      setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
      try await Task { @MainActor in
        let application = PlayedApplication("org.example.Cats")
        let first = Task { await code { try await application.start() } }
        while !application.isLaunching { await Task.yield() }
        await application.stop()
        try await application.start()
        #expect(await first.value == .disconnected)
        #expect(application.isRunning)
      }.value
    }
  }

  @Test func `a name that this very process has on another connection is told as such`() async throws {
    try await withPrivateBus { bus in
      let toolkit = try await bus.connect()
      #expect(try await toolkit.requestName("org.example.Cats") == .owned)
      let connection = try await bus.connect()
      let error = await #expect(throws: StagedoorError.self) {
        try await PlayedApplication("org.example.Cats").start(on: connection)
      }
      #expect(error?.code == .alreadyRunning)
      #expect(error?.message.hasPrefix("this very process has the name org.example.Cats on another connection") == true)
    }
  }

  @Test func `an application without a bus ends its scenes, and is forgotten`() async throws {
    let application = PlayedApplication("org.example.Cats")
    try await withStage(of: application, sessions: [1]) { bus, service in
      try await service.connect(PlayedService.session(1), Options.none)
      await bus.kill()
      try await eventually("the end") { await application.failures.count == 1 }
      #expect(application.calls.last == "didDisconnect standard (unattached)")
      #expect(application.stagedoor == nil)
    }
  }
}
