import DBus
import DBusTestSupport
import DaemonTestSupport
import ExitTestSupport
import FoundationEssentials
import Glibc
import StagedoorKit
import Synchronization
import Testing

/// Loads have bounds: of what a source sends, of threads, and of time.
@MainActor @Suite struct LoadTests {
  /// Runs `body` with the provider of a delivery whose item has this representation.
  private func withItem(
    _ type: String, name: String = "Beach",
    _ body: @MainActor (PlayedApplication, ItemProvider) async throws -> Void
  ) async throws {
    try await withScene(Options.items([type], name: name)) { _, application, _ in
      try await body(application, try #require(application.items.first).itemProvider)
    }
  }

  /// The first source states five bytes, the second one nothing.
  @Test(arguments: [("text/flood5", 5), ("text/flood", 100_000)])
  func `a source is cut off when it sends more than it stated, or than the application takes`(
    type: String, most: Int
  ) async throws {
    try await withItem(type) { application, item in
      application.loadLimit = 100_000
      let progress = ItemProgress()
      #expect(await code { _ = try await item.loadDataRepresentation(as: type) } == .limitsExceeded)
      #expect(
        await code { _ = try await item.loadFileRepresentation(as: type, progress: progress) } == .limitsExceeded)
      #expect(progress.completedByteCount <= most)
    }
  }

  @Test func `a limit below zero is zero`() async throws {
    try await withItem("text/flood") { application, item in
      application.loadLimit = -1
      #expect(await code { _ = try await item.loadDataRepresentation(as: "text/flood") } == .limitsExceeded)
    }
  }

  @Test func `the largest limit is no limit, and a source may state the largest size`() async throws {
    try await withItem("text/plain") { application, item in
      application.loadLimit = .max
      let data = try await item.loadDataRepresentation(as: "text/plain")
      #expect(data == Data("a beach".utf8))
    }
    try await withItem("text/vast") { application, item in
      application.loadLimit = .max
      #expect(await code { _ = try await item.loadDataRepresentation(as: "text/vast") } == .sourceGone)
    }
  }

  @Test(arguments: [
    (String(repeating: "ä", count: 200) + ".txt", "ä.txt"), ("a" + String(repeating: "\u{301}", count: 200), "item"),
  ])
  func `a long name becomes a name that a file may have`(name: String, end: String) async throws {
    try await withItem("text/plain", name: name) { _, item in
      let file = try await item.loadFileRepresentation(as: "text/plain")
      #expect(file.lastPathComponent.utf8.count <= 255)
      #expect(file.lastPathComponent.hasSuffix(end))
      try FileManager.default.removeItem(at: file.deletingLastPathComponent())
    }
  }

  @Test(.scene(Options.items(["text/plain", "text/plain"])))
  func `items that the application has finished with are released, whoever still has them`() async throws {
    let items = application.items.map(\.itemProvider)
    for item in items { item.finishLoading() }
    try await service.wait(for: "ReleaseDelivery \(PlayedService.delivery)")
    #expect(items.count == 2)
    application.items = []
    _ = consume items
    application.post("Later")
    try await service.wait(for: "PostNotification Later")
    #expect(service.lines.count { $0.hasPrefix("ReleaseDelivery") } == 1)
  }

  @Test(.scene(Options.items(Array(repeating: "text/plain", count: 17))))
  func `of many items that are handed on, the bus takes sixteen with the call, and the others are promised`()
    async throws
  {
    let stagedoor = try #require(application.stagedoor)
    try await stagedoor.deliver(application.items, .lasting)
    #expect(service.lines.count { $0.hasPrefix("OpenItem") } == 16)
    // A promise can be loaded until nobody asks for it, whoever has finished with it.
    for item in application.items { item.itemProvider.finishLoading() }
    _ = try await service.load(from: stagedoor.connection, at: service.path)
    #expect(service.count(of: "OpenItem 16 text/plain") == 1)
    #expect(!service.lines.contains { $0.hasPrefix("ReleaseDelivery") })
    try await service.release(of: stagedoor.connection, at: service.path)
    try await service.wait(for: "ReleaseDelivery \(PlayedService.delivery)")
  }

  @Test(.scene(Options.items(["text/torn"])))
  func `what is handed on from a pipe of known size is promised, and opened again for the other program`() async throws
  {
    let stagedoor = try #require(application.stagedoor)
    try await stagedoor.deliver(application.items, .lasting)
    application.items[0].itemProvider.finishLoading()
    _ = try await service.load(from: stagedoor.connection, at: service.path, "text/torn")
    #expect(service.count(of: "OpenItem 0 text/torn") == 2)
    #expect(!service.lines.contains { $0.hasPrefix("ReleaseDelivery") })
    try await service.release(of: stagedoor.connection, at: service.path)
    try await service.wait(for: "ReleaseDelivery \(PlayedService.delivery)")
  }

  /// The service queues four calls with descriptors, and refuses further ones.
  @Test(.played()) func `pictures of many windows have their turns, whoever gives up meanwhile`() async throws {
    let session = service.addSession(1)
    service.connection.holdCalls()
    // The session is there by then.
    _ = try await service.connection.owner(of: House.name)
    let pictures = (0..<10).map { _ in
      Task { await code { try await stagedoor.setSnapshot(Data([1]), as: "image/png", of: session) } }
    }
    await Task.yield()
    // What has been sent by now has reached the service then.
    _ = try await stagedoor.connection.owner(of: House.name)
    _ = try await service.connection.owner(of: House.name)
    pictures[5].cancel()
    #expect(await pictures[5].value == .taskCancelled)
    var hasty = stagedoor
    hasty.timeout = .milliseconds(10)
    #expect(await code { try await hasty.setSnapshot(Data([1]), as: "image/png", of: session) } == .timedOut)
    service.connection.releaseCalls()
    for (number, picture) in pictures.enumerated() where number != 5 {
      #expect(await picture.value == nil)
    }
    #expect(service.count(of: "1: SetSnapshot image/png") == 9)
  }

  @Test(.scene(Options.items(["text/plain"])))
  func `a delivery that waits for its application keeps its turn from nobody`() async throws {
    let stagedoor = try #require(application.stagedoor)
    service.answers.withLock { $0["DeliverItems"] = Array(repeating: .later, count: 5) }
    let deliveries = (0..<5).map { _ in Task { try await stagedoor.deliver(application.items, .handled) } }
    try await service.wait(for: "DeliverItems", 5)
    try await stagedoor.setSnapshot(Data([1]), as: "image/png", of: scene.id)
    service.answerNow("DeliverItems", .refused("org.stagedoor.Error.HostRefused"))
    for delivery in deliveries { await #expect(throws: StagedoorError.self) { try await delivery.value } }
  }

  private static var threads: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { id in
      (try? String(contentsOfFile: "/proc/self/task/\(id)/comm", encoding: .utf8)) == "load\n"
    }) ?? 0
  }

  @Test func `loads share four threads`() async throws {
    let most = Mutex(0)
    let item = DragItem(promising: "image/png") { _ in
      let threads = await Self.threads
      most.withLock { $0 = max($0, threads) }
      return Data([1])
    }
    let loads = (0..<200).map { _ in Task { try await item.itemProvider.loadDataRepresentation(as: "image/png") } }
    for load in loads { #expect(try await load.value == Data([1])) }
    #expect((1...4).contains(most.withLock(\.self)))
  }
}

/// What ends when it is cancelled, or when the service has forgotten it.
@MainActor @Suite struct WaitingTests {
  @Test(.played()) func `a wait that is cancelled is no success`() async throws {
    let waiting = Task { await code { try await stagedoor.finished(PlayedService.delivery) } }
    try await eventually("the question") { service.count(of: "GetDelivery") == 1 }
    for _ in 0..<5 { _ = try await stagedoor.connection.owner(of: House.name) }
    waiting.cancel()
    #expect(await waiting.value == .taskCancelled)
  }

  @Test func `who hands in and waits does so over the end of a service that has just answered`() async throws {
    let errors = [ErrorName.noReply, .serviceUnknown, .noReply].map { PlayedService.Answer.refused($0) }
    try await withPlayedService(answering: ["GetDelivery": errors]) { bus, service, stagedoor in
      let waiting = Task { try await stagedoor.deliver(cat("tom"), .handled) }
      try await eventually("both questions") { service.answers.withLock { $0["GetDelivery"]?.count } == 1 }
      await service.close()
      let next = try await PlayedService(on: bus, states: ["handled"])
      #expect(try await withLimit(usualLimit, "the end") { try await waiting.value.outcome } == .created)
      await next.close()
    }
  }

  @Test(.house) func `a drag ends for everyone who waits, also when the service has been restarted`() async throws {
    try await house.withClient { stagedoor in
      let drag = try await house.serving("--durability", "memory") { service in
        try await stagedoor.register(manifest: Manifests.cats)
        let drag = try await stagedoor.beginDrag([DragItem(cat("tom"))])
        let cancelled = Task { await code { _ = try await drag.ended() } }
        for _ in 0..<5 { _ = try await stagedoor.connection.owner(of: House.name) }
        cancelled.cancel()
        #expect(await cancelled.value == .taskCancelled)
        return drag
      }
      let waiting = (0..<3).map { _ in Task { try await drag.ended() } }
      for task in waiting {
        let ending = try await withLimit(usualLimit, "the end of the drag") { try await task.value }
        #expect(ending.operation == .cancel)
      }
      #expect(try await drag.ended().operation == .cancel)
    }
  }

  @Test func `the end of a drag that came before anyone could hear of it is known`() async throws {
    try await withPrivateBus { bus in
      let service = try await bus.connect()
      var root = Interface("org.stagedoor.Interchange1")
      root.method("OpenDrag", in: "ticket", out: "drag") { (_: String) -> ObjectPath in "/drag" }
      var drag = Interface("org.stagedoor.DragSession1")
      drag.property("State", constant: "ended")
      drag.property("Operation", constant: "move")
      service.export(root, at: PlayedService.root)
      service.export(drag, at: "/drag")
      #expect(try await service.requestName(House.name) == .owned)
      let opened = try await Stagedoor(on: try await bus.connect()).openDrag("a ticket")
      let ending = try await withLimit(.seconds(10), "the end of the drag") { try await opened.ended() }
      #expect(ending.operation == .move && ending.session == nil)
    }
  }

  @Test(.ownThreads)
  func `a client that nobody has any more leaves nothing behind, nor does one that was cancelled`() async throws {
    try await withPrivateBus { bus in
      setenv("DBUS_SESSION_BUS_ADDRESS", bus.address.description, 1)
      let before = OpenDescriptors.count
      let cancelled = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await code { _ = try await Stagedoor.connect() }
      }
      #expect(await cancelled.value == .taskCancelled)
      for _ in 0..<20 {
        let stagedoor = try await Stagedoor.connect()
        #expect(await code { _ = try await stagedoor.version() } == .serviceUnknown)
      }
      try await eventually("no open connection") { OpenDescriptors.count <= before }
    }
  }

  @Test(arguments: [true, false]) func `a file can be handed in to be opened in its place`(isInPlace: Bool) {
    let provider = ItemProvider(contentsOf: URL(filePath: "/etc/hostname"), as: "text/plain", openInPlace: isInPlace)
    #expect(provider.fileOpenedInPlace(as: "text/plain")?.path() == (isInPlace ? "/etc/hostname" : nil))
  }
}
