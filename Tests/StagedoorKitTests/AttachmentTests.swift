import DBus
import DBusTestSupport
import DaemonTestSupport
import Glibc
import SceneTestSupport
import StagedoorKit
import Synchronization
import Testing

/// An application stays attached as long as it runs, and takes nothing from the moment when it begins to stop.
@MainActor @Suite struct AttachmentTests {
  @Test(.stage) func `an application that the next service refuses attaches as soon as it can`() async throws {
    let first = service
    await first.close()
    application.post("EntriesUpdated")
    // The manifest is missing for a moment, then the disk is full, then the store is slow.
    let second = try await PlayedService(
      on: bus, sessions: [1],
      answering: [
        "AttachHostWith": [
          "org.stagedoor.Error.NoSuchApplication", "org.stagedoor.Error.StorageFailed",
          "org.freedesktop.DBus.Error.Timeout",
        ]
      ])
    try await second.wait(for: "AttachHost org.example.Cats []")
    try await second.wait(for: "PostNotification EntriesUpdated")
    let session = PlayedService.session(1)
    try await second.connect(session, Options.activity("cat1"))
    #expect(application.scene(of: session)?.userActivity == cat("cat1"))
    // The first of the errors is reported, and not each attempt.
    let failures = application.takenFailures()
    #expect(failures.count == 1 && failures[0].contains("NoSuchApplication"), "\(failures)")
  }

  @Test(.stage) func `a service that was replaced gets no answer, which it would take for a refusal`() async throws {
    let (first, session) = (service, service.addSession(1))
    _ = try await first.connection.releaseName(House.name)
    let second = try await PlayedService(on: bus, sessions: [1])
    try await second.wait(for: "AttachHost org.example.Cats []")
    let error = await #expect(throws: CallError.self) {
      try await first.connection.call(
        to: "org.example.Cats", at: "/org/example/Cats", "org.stagedoor.SceneHost1", "ConnectScene", session.path,
        "Main",
        Options.none, timeout: .seconds(1))
    }
    #expect(error == .timedOut)
    try await second.connect(session, Options.none)
    #expect(application.connectedScenes.map(\.id) == [session])
  }

  @Test(.scene()) func `a change that could not be stored is written later`() async throws {
    service.answers.withLock {
      $0 = [
        "Title": ["org.stagedoor.Error.StorageFailed", "org.freedesktop.DBus.Error.Timeout"],
        "UserInfo": ["org.freedesktop.DBus.Error.AccessDenied"],
      ]
    }
    scene.title = "Tom"
    scene.userInfo = ["zoom": 2]
    try await service.wait(for: "1: Title = Tom")
    try await service.wait(for: #"1: UserInfo = {"zoom":2}"#)
  }

  @Test(.scene(Options.activity("cat1")))
  func `the end of a session is told, although a change that was on its way came back`() async throws {
    service.answers.withLock { $0 = ["UserActivity": ["org.stagedoor.Error.StorageFailed"]] }
    // The library calls this while it writes the activity.
    application.whenCalled = { [unowned application] name, scene in
      guard name == "willSave" else { return }
      application.whenCalled = { _, _ in }
      application.requestSceneSessionDestruction(scene.session)
    }
    scene.userActivity?.needsSave = true
    try await service.wait(for: "1: Destroy standard")
  }

  @Test(.stage) func `the sessions are followed again when the service did not list them`() async throws {
    let first = service
    first.addSession(1)
    try await eventually("the session") { await application.openSessions.count == 1 }
    await first.close()
    let timeouts: [PlayedService.Answer] = [
      "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.Timeout",
    ]
    let second = try await PlayedService(on: bus, answering: ["GetManagedObjects": timeouts])
    try await eventually("the list of the next service") { await application.openSessions.isEmpty }
    #expect(application.takenFailures().count == 1)
    await second.close()
  }

  @Test(.played()) func `an application that is stopped while nobody accepts it leaves nothing behind`() async throws {
    let first = service
    let connection = try await bus.connect()
    var application: PlayedApplication? = PlayedApplication("org.example.Cats")
    try await application?.start(on: connection)
    await first.close()
    let second = try await PlayedService(
      on: bus,
      answering: [
        "AttachHostWith": Array(repeating: "org.stagedoor.Error.NoSuchApplication", count: 1000),
        "GetManagedObjects": Array(repeating: "org.freedesktop.DBus.Error.Timeout", count: 1000),
      ])
    let running = application
    // By then a pause takes longer than this test may.
    try await eventually("some attempts") { second.answers.withLock { $0["AttachHostWith"]?.count ?? 0 } < 996 }
    await running?.stop()
    weak let gone = application
    application = nil
    _ = consume running
    try await eventually("the end of the application") { gone == nil }
  }

  @Test(.stage)
  func `the window of a delivery comes to the front, although the service was killed before it asked for that`()
    async throws
  {
    let first = service
    let (connected, continued, finished) = (first.addSession(1), first.addSession(2), first.addSession(3))
    for session in [continued, finished] { try await first.open(session) }
    try await first.resume(continued, Options.activity("cat2"))
    try await first.connect(connected, Options.activity("cat1"))
    _ = application.taken()
    await first.close()
    try await eventually("both windows") { await application.calls.count { $0.hasPrefix("bringToFront") } == 2 }
    #expect(application.scene(of: connected)?.activationState != .unattached)
    let second = try await PlayedService(on: bus, known: first.known)
    try await second.wait(
      for: "AttachHost org.example.Cats \([connected, continued, finished].map(\.path.rawValue).sorted())")
    application.post("Later")
    try await second.wait(for: "PostNotification Later")
    #expect(application.calls.count { $0.hasPrefix("bringToFront") } == 2)
  }

  @Test(.stage)
  func `a delivery that the service counts as late or redirected brings its window to the front at no restart`()
    async throws
  {
    let sessions = (1...6).map { service.addSession($0) }
    func options(_ delivery: Int, attempt: Int = 1, deadline: String = "2200-01-01T00:00:00Z") -> String {
      """
      {"delivery": "\(delivery)1111111-1111-4111-8111-111111111111", "attempt": \(attempt), "deadline": "\(deadline)",
       "userActivities": [{"activityType": "viewCat", "targetContentIdentifier": "cat\(delivery)"}]}
      """
    }
    for session in sessions { try await service.open(session) }
    // Its deadline had passed when it was answered.
    try await service.resume(sessions[0], options(1, deadline: "2020-01-01T00:00:00Z"))
    // It was redirected, and comes again.
    try await service.resume(sessions[1], options(2))
    try await service.resume(sessions[2], options(2, attempt: 2))
    // The next call for the scene comes, so the last delivery is over.
    try await service.resume(sessions[3], options(3))
    application.whenContinuing = { _, _ in throw StagedoorError(.noSuchItem, "there is no such cat") }
    await #expect(throws: (any Error).self) { try await service.resume(sessions[3], options(4)) }
    application.whenContinuing = { _, _ in }
    try await service.resume(sessions[4], options(5))
    try await service.refresh(sessions[4])
    try await service.resume(sessions[5], options(6))
    _ = application.taken()
    var fronted: [SessionIdentifier] = []
    application.windowsTakeFocus = false
    application.whenCalled = { name, scene in if name == "bringToFront" { fronted.append(scene.id) } }
    await service.close()
    try await eventually("the last window") { await application.calls.contains { $0.hasPrefix("bringToFront") } }
    #expect(Set(fronted) == [sessions[2], sessions[5]])
  }

  @Test(.stage) func `notifications that wait for a service are folded and limited`() async throws {
    await service.close()
    try await application.noticesEnd()
    for number in 0..<3000 {
      application.post("Typed", userInfo: ["entry": 7])
      application.post("Added", userInfo: ["entry": .integer(number)])
    }
    application.post("Last")
    let next = try await PlayedService(on: bus)
    try await next.wait(for: "PostNotification Last")
    let posted = next.lines.filter { $0.hasPrefix("PostNotification") }
    #expect(posted.count == 1000)
    #expect(posted.count { $0 == "PostNotification Typed" } == 1)
  }

  // MARK: Stopping

  @Test(.stage)
  func `a delivery that comes while an application stops is neither shown nor acknowledged`() async throws {
    let sessions = [service.addSession(1), service.addSession(2)]
    try await service.connect(sessions[0], Options.activity("cat1"))
    // The service takes its time with the last change, and meanwhile has deliveries.
    service.answers.withLock { $0["Title"] = Array(repeating: "org.stagedoor.Error.StorageFailed", count: 3) }
    application.scene(of: sessions[0])?.title = "Tom"
    let stopping = Task { await application.stop() }
    try await eventually("the stop") { await !application.isRunning }
    _ = application.taken()
    let calls = [
      Task { try await service.resume(sessions[0], Options.activity("cat2")) },
      Task { try await service.connect(sessions[1], Options.activity("cat3")) },
    ]
    await stopping.value
    for call in calls {
      // The host has left: no answer, and above all no success.
      let result = await call.result
      #expect(throws: (any Error).self) { try result.get() }
    }
    #expect(application.taken().isEmpty)
    #expect(application.openSessions.isEmpty)
  }

  @Test(.played(sessions: [1]))
  func `an application that two tasks stop can start again as soon as one of them goes on`() async throws {
    let connection = try await bus.connect()
    let application = PlayedApplication("org.example.Cats")
    try await application.start(on: connection)
    let stopping = (0..<2).map { _ in Task { await application.stop() } }
    await stopping[1].value
    try await application.start(on: connection)
    await stopping[0].value
    try await service.connect(PlayedService.session(1), Options.none)
    #expect(application.connectedScenes.count == 1)
    await application.stop()
  }

  @Test(.scene()) func `a window that changes without a pause holds up neither a delivery nor the stop`() async throws {
    let other = service.addSession(2)
    let changing = Task {
      var number = 0
      while !Task.isCancelled {
        number += 1
        scene.title = "\(number)"
        await Task.yield()
      }
    }
    defer { changing.cancel() }
    try await eventually("a change") { service.lines.contains { $0.hasPrefix("1: Title") } }
    try await withLimit(.seconds(60), "a delivery to a new window") {
      try await service.connect(other, Options.activity("cat2"))
    }
    try await withLimit(.seconds(60), "a delivery to this window") {
      try await service.resume(scene.id, Options.activity("cat1"))
    }
    try await withLimit(.seconds(60), "the stop") { await application.stop() }
  }

  /// What each run of the application got, in all its runs.
  private final class Book: Sendable {
    let taken = Mutex<[String: Int]>([:])
    let late = Mutex<[String]>([])
    func take(_ name: String, isRunning: Bool) {
      if isRunning { taken.withLock { $0[name, default: 0] += 1 } } else { late.withLock { $0.append(name) } }
    }
  }

  @Test func `no drop is handled and lost while an application is stopped again and again`() async throws {
    let (drops, stops) = isStress ? (10_000, 500) : (300, 15)
    try await withHosts { house, stagedoor in
      let book = Book()
      let connection = try await house.bus.connect()
      @MainActor func run() async throws -> PlayedApplication {
        let application = PlayedApplication("org.example.Cats")
        application.whenConnecting = { [unowned application] scene, options in
          scene.activationConditions = SceneActivationConditions(can: .always, prefers: .always)
          for activity in options.userActivities {
            book.take(activity.targetContentIdentifier ?? "", isRunning: application.isRunning)
          }
        }
        application.whenContinuing = { [unowned application] _, activity in
          book.take(activity.targetContentIdentifier ?? "", isRunning: application.isRunning)
        }
        try await application.start(on: connection)
        return application
      }
      // One window takes all of them, one after the other.
      let first = try await run()
      let window = try await stagedoor.newSession(of: "org.example.Cats")
      try await stagedoor.finished(window.identifier)
      await first.stop()
      let sending = Task {
        var sent: [(name: String, delivery: DeliveryIdentifier)] = []
        let options = DeliveryOptions.lasting
        for number in 0..<drops {
          let name = "cat\(number)"
          sent.append((name, try await stagedoor.deliver(cat(name), options).identifier))
        }
        return sent
      }
      for _ in 0..<stops {
        let application = try await run()
        let before = book.taken.withLock(\.count)
        try await eventually("something for this run") {
          let count = book.taken.withLock(\.count)
          return count > before || count == drops
        }
        await application.stop()
        #expect(application.failures.isEmpty)
      }
      let sent = try await sending.value
      let last = try await run()
      for (name, delivery) in sent {
        let state = try await withLimit(usualLimit, name) { try await stagedoor.finished(delivery) }
        #expect(state == .handled)
        #expect(book.taken.withLock { $0[name] } ?? 0 >= 1, "\(name) is handled, and nobody has it")
      }
      #expect(book.late.withLock(\.self) == [])
      await last.stop()
    }
  }
}
