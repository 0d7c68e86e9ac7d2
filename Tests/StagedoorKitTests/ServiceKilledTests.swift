import DBus
import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Glibc
import StagedoorKit
import Testing

/// The service is killed while the main actor waits for it: whoever waits goes on there, with an error.
///
/// In a debug build every function came back to the main actor before this suite existed. In a release build, which `make stress` tests, those did not
/// whose errors passed through `Connection.call`.
@MainActor @Suite struct ServiceKilledTests {
  private typealias Call = @MainActor (Stagedoor) async throws -> Void

  private static let session = SessionIdentifier("6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa41")!
  private static let delivery = DeliveryIdentifier("6f1c0a52-8a3e-4f0e-9c55-2b7d1e90aa42")!
  private static let promise = DragItem(promising: "text/plain") { _ in Data() }

  /// Every public function that waits for the service, by its name.
  private static let calls: [(name: String, call: Call)] = [
    ("drop", { try await $0.drop("viewCat") }),
    ("drop files", { try await $0.drop([URL(filePath: "/etc/hostname")]) }),
    ("deliver an activity", { try await $0.deliver(cat("tom")) }),
    ("deliver items", { try await $0.deliver([DragItem(cat("tom"))]) }),
    ("deliver and wait", { try await $0.deliver(cat("tom"), .handled) }),
    ("deliver a promise", { try await $0.deliver([promise]) }),
    ("deliverEach", { _ = try await $0.deliverEach([DragItem(cat("tom"))]) }),
    ("explain", { _ = try await $0.explain(Payload(cat("tom"))) }),
    ("delivery", { _ = try await $0.delivery(delivery) }),
    ("deliveries", { _ = try await $0.deliveries() }),
    ("renewPromises", { try await $0.renewPromises(of: [promise], token: "t") }),
    ("cancel", { try await $0.cancel(delivery) }),
    ("redirect", { try await $0.redirect(delivery, to: session) }),
    ("finished", { try await $0.finished(delivery) }),
    ("progress", { _ = try await $0.progress(of: delivery) }),
    ("deliver a document", { try await $0.deliver(document: "{}") }),
    ("explain a document", { _ = try await $0.explain(document: "{}") }),
    ("register", { try await $0.register(manifest: Manifests.oneScene) }),
    ("unregister", { try await $0.unregister("org.example.Player") }),
    ("preferredApplication", { _ = try await $0.preferredApplication(for: "viewCat") }),
    ("preferredApplications", { _ = try await $0.preferredApplications() }),
    ("setPreferredApplication", { try await $0.setPreferredApplication(nil, for: "viewCat") }),
    ("applications", { _ = try await $0.applications() }),
    ("application", { _ = try await $0.application("org.example.Cats") }),
    ("handlers", { _ = try await $0.handlers(of: "viewCat") }),
    ("sessionList", { _ = try await $0.sessionList() }),
    ("sessions", { _ = try await $0.sessions() }),
    ("session", { _ = try await $0.session(session) }),
    ("document", { _ = try await $0.document(of: session) }),
    ("liveSessions", { _ = try await $0.liveSessions() }),
    ("activate", { try await $0.activate(session) }),
    ("refresh", { try await $0.refresh(session) }),
    ("destroy", { try await $0.destroy(session) }),
    ("newSession", { try await $0.newSession(of: "org.example.Cats") }),
    ("setSnapshot", { try await $0.setSnapshot(Data([1]), as: "image/png", of: session) }),
    ("snapshot", { _ = try await $0.snapshot(of: session) }),
    ("version", { _ = try await $0.version() }),
    ("events", { _ = try await $0.events() }),
    ("eventSequence", { _ = try await $0.eventSequence() }),
    ("oldestEventSequence", { _ = try await $0.oldestEventSequence() }),
    ("beginDrag", { _ = try await $0.beginDrag([DragItem(cat("tom"))]) }),
    ("openDrag", { _ = try await $0.openDrag("no such ticket") }),
  ]

  private struct Outcome: Sendable {
    /// `nil`: it returned.
    let error: StagedoorError?
    let isOnLoop: Bool

    /// `call` is of the main actor too: a caller of another function would come back there by itself.
    @MainActor init(of call: @MainActor () async throws -> Void, on loop: EventLoop) async {
      do {
        try await call()
        error = nil
      } catch {
        self.error = error as? StagedoorError
      }
      isOnLoop = loop.isCurrent
    }
  }

  /// Lets all calls wait for a service that does not answer any more, kills the service, and returns how each call went on.
  private func outcomes(
    of calls: [(name: String, call: Call)], _ stagedoor: Stagedoor, _ service: RunningCommand, restarting: Bool = false
  ) async throws -> [String: Outcome] {
    service.signal(SIGSTOP)
    let loop = stagedoor.connection.loop
    let tasks = calls.map { _, call in
      Task { @MainActor in await Outcome(of: { try await call(stagedoor) }, on: loop) }
    }
    // The bus answers in order: after this many answers every call has reached the service, behind all its questions to the bus.
    for _ in 0..<20 { _ = try await stagedoor.connection.owner(of: House.name) }
    service.signal(SIGKILL)
    func outcomes() async throws -> [String: Outcome] {
      var outcomes: [String: Outcome] = [:]
      for ((name, _), task) in zip(calls, tasks) {
        outcomes[name] = try await withLimit(usualLimit, name) { await task.value }
      }
      return outcomes
    }
    return restarting ? try await house.serving { _ async throws in try await outcomes() } : try await outcomes()
  }

  private func expectErrors(_ outcomes: [String: Outcome]) {
    for (name, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
      #expect([.noReply, .serviceUnknown].contains(outcome.error?.code), "\(name): \(outcome)")
      #expect(!outcome.isOnLoop, "\(name)")
    }
  }

  /// These ask the bus, and no service; or end when the service does, as their own tests show.
  private static let others: Set = ["connect", "close", "stop", "ended", "notifications"]

  @Test func `every public function that waits is in this suite`() throws {
    let suite = try Repository.text(of: "Tests/StagedoorKitTests/ServiceKilledTests.swift")
    var count = 0
    for file in try Repository.texts(below: "Sources/StagedoorKit") {
      for match in file.matches(of: /\n *public (?:[\w()]+ )*func (\w+)([^{]*)\{/) where match.2.contains(" async") {
        let name = String(match.1)
        count += 1
        #expect(Self.others.contains(name) || suite.contains("\"\(name)"), "\(name)")
      }
    }
    #expect(count > 50)
  }

  @Test(.daemon(installing: Manifests.cats, with: "--durability", "memory"))
  func `whoever hands in or asks goes on, with an error`() async throws {
    let service = daemon
    try await house.withClient { stagedoor in
      expectErrors(try await outcomes(of: Self.calls, stagedoor, service))
    }
  }

  @Test(.daemon(installing: Manifests.cats, with: "--durability", "memory"))
  func `so do a drag and everyone who has its ticket`() async throws {
    let service = daemon
    try await house.withClient { stagedoor in
      let drag = try await stagedoor.beginDrag([DragItem(cat("tom"))])
      let calls: [(name: String, call: Call)] = [
        ("state", { _ in _ = try await drag.state }),
        ("items", { _ in _ = try await drag.items }),
        ("allowedOperations", { _ in _ = try await drag.allowedOperations }),
        ("add", { _ in try await drag.add([DragItem(cat("tim"))]) }),
        ("cancel", { _ in try await drag.cancel() }),
        ("proposal", { _ in _ = try await drag.proposal() }),
        ("drop", { _ in try await drag.drop() }),
      ]
      expectErrors(try await outcomes(of: calls, stagedoor, service))
    }
  }

  @Test(.daemon(installing: Manifests.cats, with: "--durability", "memory"))
  func `so does an application`() async throws {
    let service = daemon
    try await house.hosting { application in
      let stagedoor = try #require(application.stagedoor)
      let tom = try await stagedoor.deliver(cat("tom"), .handled)
      let scene = try #require(application.scene(of: tom.session))
      let late = PlayedApplication(
        "org.example.Dogs",
        manifest: Manifests.application(
          "org.example.Dogs", types: "viewDog", configurations: Manifests.configuration("Main")))
      let connection = try await house.bus.connect()
      let other = PlayedApplication("org.example.Mice")
      let calls: [(name: String, call: Call)] = [
        ("start", { _ in try await late.start(on: connection) }),
        ("run", { _ in try await other.run(on: connection) }),
        (
          "requestSceneSessionActivation",
          { _ in try await application.requestSceneSessionActivation(nil, userActivity: nil) }
        ),
        ("requestSceneSessionRefresh", { _ in try await application.requestSceneSessionRefresh(scene.session) }),
        ("deliver", { _ in try await application.deliver(cat("tim"), from: scene, at: .edge) }),
        ("deliver items", { _ in try await application.deliver([DragItem(cat("tim"))], from: scene, at: .edge) }),
      ]
      expectErrors(try await outcomes(of: calls, stagedoor, service))
      // Nobody waits here: these return at once, and what they say waits for the next service.
      scene.title = "later"
      application.requestSceneSessionDestruction(scene.session)
      #expect(application.connectedScenes.isEmpty)
      await late.stop()
      await other.stop()
    }
  }

  @Test(.house(installing: Manifests.cats)) func `who loads an item gets it from the next service`() async throws {
    try await house.serving { service async throws in
      try await house.hosting { application async throws in
        let stagedoor = try #require(application.stagedoor)
        var provider = ItemProvider(cat("tom"))
        provider.registerData(Data(repeating: 1, count: 100_000), as: "image/png")
        try await stagedoor.deliver([DragItem(itemProvider: provider)], .handled)
        let item = try #require(application.items.first?.itemProvider)
        let calls: [(name: String, call: Call)] = [
          ("loadDataRepresentation", { _ in _ = try await item.loadDataRepresentation(as: "image/png") }),
          ("loadFileRepresentation", { _ in _ = try await item.loadFileRepresentation(as: "image/png") }),
          ("loadInPlace", { _ in _ = try await item.loadInPlace(as: "image/png") }),
          ("loadText", { _ in _ = try await item.loadText(as: "image/png") }),
          ("encoded", { _ in _ = try await Payload(items: [DragItem(itemProvider: item)]).encoded() }),
        ]
        for (name, outcome) in try await outcomes(of: calls, stagedoor, service, restarting: true) {
          #expect(outcome.error == nil && !outcome.isOnLoop, "\(name)")
        }
      }
    }
  }

  @Test(.service)
  func `whoever follows waits for the next service, and goes on with an error when the bus goes`() async throws {
    let stagedoor = Stagedoor(on: try await house.bus.connect())
    try await stagedoor.register(manifest: Manifests.cats)
    let delivery = try await stagedoor.deliver(cat("tom"), .lasting)
    let events = try await stagedoor.events()
    let sessions = try await stagedoor.liveSessions()
    let progress = try await stagedoor.progress(of: delivery.identifier)
    let loop = stagedoor.connection.loop
    let followers: [(name: String, follow: @MainActor () async throws -> Void)] = [
      ("events", { for try await _ in events {} }),
      ("liveSessions", { for try await _ in sessions {} }),
      ("progress", { for try await _ in progress {} }),
      ("finished", { try await stagedoor.finished(delivery.identifier) }),
      (
        "next event",
        {
          var events = try await stagedoor.events().makeAsyncIterator()
          while try await events.next() != nil {}
        }
      ),
      (
        "next sessions",
        {
          var sessions = try await stagedoor.liveSessions().makeAsyncIterator()
          while try await sessions.next() != nil {}
        }
      ),
      (
        "next step",
        {
          var progress = try await stagedoor.progress(of: delivery.identifier).makeAsyncIterator()
          while try await progress.next() != nil {}
        }
      ),
    ]
    let tasks = followers.map { _, follow in Task { @MainActor in await Outcome(of: follow, on: loop) } }
    for _ in 0..<20 { _ = try await stagedoor.eventSequence() }
    await stagedoor.close()
    for ((name, _), task) in zip(followers, tasks) {
      let outcome = try await withLimit(usualLimit, name) { await task.value }
      #expect(outcome.error?.code == .disconnected, "\(name): \(outcome)")
      #expect(!outcome.isOnLoop, "\(name)")
    }
  }
}
