import DBus
import DBusTestSupport
import DaemonTestSupport
import ExitTestSupport
import FoundationEssentials
import Glibc
import StagedoorKit
import Testing

/// Items that an application gets from the service that is built here: how long it can load them, and what their source hears.
@MainActor @Suite struct ReceivedItemTests {
  private static let manifest = Manifests.application(
    "org.example.Cats", types: "viewCat", configurations: Manifests.configuration("Main"),
    more: #" "CFBundleDocumentTypes": [{"LSItemContentTypes": ["public.data"]}],"#)

  /// Drops a note as a move into a new window, and returns the drag and its delivery when the window has it.
  private func move(
    _ stagedoor: Stagedoor, _ application: PlayedApplication, _ items: [DragItem] = [DragItem(text: "a beach")]
  ) async throws -> (DragSession, Delivery) {
    let drag = try await stagedoor.beginDrag(items, allowing: [.copy, .move], .lasting)
    let delivery = try await drag.drop(operation: .move)
    try await eventually("a window") { try await stagedoor.delivery(delivery.identifier).state == .handled }
    return (drag, delivery)
  }

  private func end(of drag: DragSession) async throws -> DragSession.Ending {
    try await withLimit(usualLimit, "the end of the drag") { try await drag.ended() }
  }

  @Test(.hosted(manifest)) func `what makes a window can be loaded there`() async throws {
    try await stagedoor.deliver([DragItem(text: "a beach")], .handled)
    #expect(application.calls.first == "configuration")
    #expect(try await application.items[0].itemProvider.loadText() == "a beach")
    // Load it again: the options of the configuration question are gone by now, and the window has its own.
    #expect(try await application.items[0].itemProvider.loadText() == "a beach")
  }

  @Test(.hosted(manifest))
  func `a move ends as a move when the application has loaded each item and lets go of them`() async throws {
    let (drag, delivery) = try await move(
      stagedoor, application, [DragItem(text: "a beach"), DragItem(text: "a sea")])
    #expect(try await application.items[0].itemProvider.loadText() == "a beach")
    let file = try await application.items[1].itemProvider.loadFileRepresentation(as: "text/plain")
    #expect(try String(contentsOf: file, encoding: .utf8) == "a sea")
    try FileManager.default.removeItem(at: file.deletingLastPathComponent())
    #expect(try await drag.state == .dropped)
    application.items = []
    let ending = try await end(of: drag)
    #expect(ending.operation == .move && ending.session == delivery.session)
  }

  @Test(.hosted(manifest))
  func `the source of a move keeps its items where the application has not loaded all of them`() async throws {
    for loads in [false, true] {
      let (drag, delivery) = try await move(
        stagedoor, application, [DragItem(text: "a beach"), DragItem(text: "a sea")])
      if loads { _ = try await application.items[0].itemProvider.loadText() }
      application.items = []
      // What the application says about the delivery reaches the service before this call.
      try await stagedoor.destroy(delivery.session)
      #expect(try await end(of: drag).operation == .copy)
    }
  }

  @Test(.hosted(manifest))
  func `the window to which items were redirected can load them, whatever the first window does`() async throws {
    let other = try await stagedoor.newSession(of: "org.example.Cats").session
    try await eventually("a window") { await application.scene(of: other) != nil }
    let (drag, delivery) = try await move(stagedoor, application)
    var first = application.items
    #expect(try await first[0].itemProvider.loadText() == "a beach")
    try await stagedoor.redirect(delivery.identifier, to: other)
    try await eventually("the other window to get it") {
      await application.calls.contains { $0.hasPrefix("receive") }
    }
    first = []
    #expect(try await drag.state == .dropped)
    #expect(try await application.items[0].itemProvider.loadText() == "a beach")
    application.items = []
    let ending = try await end(of: drag)
    #expect(ending.operation == .move && ending.session == other)
  }

  /// A film of several gigabytes fits on the disk, but not into memory. In a process of its own, no other test uses memory.
  @Test(.ownThreads) func `a file is loaded piece by piece, however large it is`() async {
    await #expect(processExitsWith: .success) {
      let film = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      let size = 128 << 20
      try #require(FileManager.default.createFile(atPath: film.path, contents: nil))
      defer { try? FileManager.default.removeItem(at: film) }
      try #require(truncate(film.path, off_t(size)) == 0)
      var provider = ItemProvider(contentsOf: film, as: "video/mp4")
      provider.suggestedName = "../film"
      let most = Lock(0)
      let progress = ItemProgress { progress in
        if progress.completedByteCount % (8 << 20) == 0 { most.withLock { $0 = max($0, memory()) } }
      }
      let before = memory()
      let copy = try await provider.loadFileRepresentation(as: "video/mp4", progress: progress)
      defer { try? FileManager.default.removeItem(at: copy.deletingLastPathComponent()) }
      #expect(progress.completedByteCount == size)
      #expect(most.withLock(\.self) > 0)
      #expect(most.withLock(\.self) - before < size / 8)
      #expect(copy.lastPathComponent == "film")
      #expect(try FileManager.default.attributesOfItem(atPath: copy.path)[.size] as? Int == size)
    }
  }
}

/// The private memory of this process.
private func memory() -> Int {
  let status = try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) << 10
}
