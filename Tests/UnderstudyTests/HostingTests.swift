import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import SceneModel
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// The understudy as the host of applications that know nothing of Stagedoor, with the real service.
@Suite struct HostingTests {
  private struct Stage {
    let desktop: PlayedDesktop
    let environment: [String: String]

    func command(_ words: String...) -> Command {
      Command(Command.built("stagedoor").program, arguments: words, environment: environment)
    }

    /// The sessions: document, title and state of each.
    func sessions() async throws -> [String] {
      try await command("sessions", "--print", "targetContentIdentifier,title,state").output()
        .split(separator: "\n").map(String.init)
    }

    func becomes(_ what: String, _ condition: @escaping @Sendable ([String]) -> Bool) async throws {
      do {
        try await eventually(what, within: usualLimit) {
          // The real display wakes the understudy; the played one waits to be asked.
          await desktop.understudy.takeEvents()
          return condition(try await sessions())
        }
      } catch {
        Issue.record(
          "\(error): the sessions are \((try? await sessions()) ?? []), known as \(await desktop.understudy.hosting.sessions)"
        )
        throw error
      }
    }

    /// Waits until a program was started with a file.
    func starts(_ name: String) async throws {
      try await eventually("the start") {
        (try? String(contentsOfFile: "\(desktop.place)/started", encoding: .utf8)) == "\(desktop.place)/\(name)"
      }
    }

    func serving(_ body: nonisolated(nonsending) () async throws -> Void) async throws {
      try await Command(Command.built("stagedoord").program, arguments: [], environment: environment).whileRunning {
        _ in
        try await eventually("the applications") {
          let apps = (try? await command("apps").output()) ?? ""
          return apps.split(separator: "\n").count { $0.hasSuffix("\tyes") } == 2
        }
        try await body()
      }
    }
  }

  private nonisolated(nonsending) func withStage(
    _ body: nonisolated(nonsending) (Stage, PlayedDesktop, _ place: String) async throws -> Void
  ) async throws {
    try await PlayedDesktop.run(programs: ["mousepad", "gvim"], files: ["a.txt", "b.txt"]) { desktop async throws in
      let stage = Stage(desktop: desktop, environment: try desktop.bus.environmentWithFreshHome())
      let part = desktop.understudy.connection.loop.task { await desktop.understudy.takePart() }
      defer { part.cancel() }
      try await body(stage, desktop, desktop.place)
    }
  }

  @Test func `a drop opens the file, its window becomes the session's, and the next drop finds it`() async throws {
    try await withStage { stage, desktop, place async throws in
      try await stage.serving {
        let drop = stage.command(
          "drop", "--app", "desktop.mousepad", "--wait", "handled", "--print", "outcome", "\(place)/a.txt")
        #expect(try await drop.output() == "created")
        try await stage.starts("a.txt")
        desktop.display.show(1, "mousepad", "\(place)/a.txt - Mousepad")
        desktop.display.change {
          $0.active = 1
          $0.changes.list = true
        }
        let url = desktop.url("a.txt")
        try await stage.becomes("the window") { $0 == ["\(url)\t\(place)/a.txt - Mousepad\tforegroundActive"] }
        let again = stage.command("drop", "--wait", "handled", "--print", "outcome", "\(place)/a.txt")
        #expect(try await again.output() == "activated")
        #expect(desktop.display.raised.last == 1)
        // A text has no file, and the understudy writes none. `explain` says so beforehand, and says nothing of a file.
        let note = "mousepad has an understudy, which opens files only"
        let explained = try await stage.command("explain", "--app", "desktop.mousepad", "--text", "x").run()
        #expect(explained.standardError.lowercased().contains(note), "\(explained)")
        let ofFile = try await stage.command("explain", "--app", "desktop.mousepad", "\(place)/a.txt").run()
        #expect(ofFile.status.isSuccess && ofFile.standardError == "", "\(ofFile)")
        let text = try await stage.command(
          "drop", "--app", "desktop.mousepad", "--wait", "handled", "--new", "--text", "x"
        ).run()
        #expect(text.standardError.contains("mousepad opens files only"), "\(text)")
        desktop.display.hide(1)
        try await stage.becomes("the end") { $0.contains { $0.hasSuffix("\tunattached") } }
        // A closed window is opened again with its document.
        try FileManager.default.removeItem(atPath: "\(place)/started")
        let lines = try await stage.command("sessions", "--print", "session,targetContentIdentifier").output()
        let session = lines.split(separator: "\n").first { $0.hasSuffix(url) }?.prefix(36)
        _ = try await stage.command("activate", String(try #require(session))).output()
        try await stage.starts("a.txt")
      }
    }
  }

  @Test func `a window that was there is adopted, follows its document, and closes as by its button`() async throws {
    try await withStage { stage, desktop, place async throws in
      desktop.display.show(1, "gvim", "a.txt (\(place)) - GVIM")
      try await stage.serving {
        let (a, b) = (desktop.url("a.txt"), desktop.url("b.txt"))
        try await stage.becomes("the session") { $0 == ["\(a)\ta.txt (\(place)) - GVIM\tforegroundInactive"] }
        let again = stage.command("drop", "--wait", "handled", "--print", "outcome", "\(place)/a.txt")
        #expect(try await again.output() == "activated")
        #expect(desktop.display.raised == [1])
        // An editor that shows one document shows another one now.
        desktop.display.write("b.txt (\(place)) - GVIM", on: 1)
        try await stage.becomes("the other document") { $0.count == 1 && $0[0].hasPrefix("\(b)\t") }
        desktop.display.write("[No Name] - GVIM", on: 1)
        try await stage.becomes("no document") { $0.first?.hasPrefix("\t[No Name]") ?? false }
        desktop.display.write("b.txt (\(place)) - GVIM", on: 1)
        try await stage.becomes("the document again") { $0.count == 1 && $0[0].hasPrefix("\(b)\t") }
        _ = try await stage.command("close", "--yes", "--app", "desktop.gvim").output()
        try await eventually("the closed window") { desktop.display.windows().isEmpty }
      }
    }
  }

  @Test func `of several windows that show a document its session keeps the one that it has`() async throws {
    try await withStage { stage, desktop, place async throws in
      for number in 1...6 as ClosedRange<WindowNumber> {
        desktop.display.show(number, "gvim", "a.txt (\(place)) - GVIM\(number)")
      }
      try await stage.serving {
        let url = desktop.url("a.txt")
        try await stage.becomes("the session") { $0 == ["\(url)\ta.txt (\(place)) - GVIM1\tforegroundInactive"] }
        desktop.display.write("a.txt + (\(place)) - GVIM1", on: 1)
        try await stage.becomes("the title of its own window") {
          $0 == ["\(url)\ta.txt + (\(place)) - GVIM1\tforegroundInactive"]
        }
      }
    }
  }

  @Test func `a window that comes after its session is closed, unless somebody asks again`() async throws {
    try await withStage { stage, desktop, place async throws in
      let (title, drop) = (
        "\(place)/a.txt - Mousepad",
        stage.command("drop", "--app", "desktop.mousepad", "--wait", "handled", "\(place)/a.txt")
      )
      try await stage.serving {
        for number: WindowNumber in [1, 2] {
          _ = try await drop.output()
          _ = try await stage.command("close", "--yes", "--app", "desktop.mousepad").output()
          #expect(try await stage.sessions() == [])
          // Closed, and asked for again.
          if number == 2 { _ = try await drop.output() }
          desktop.display.show(number, "mousepad", title)
          if number == 2 {
            try await stage.becomes("the session") { $0 == ["\(desktop.url("a.txt"))\t\(title)\tforegroundInactive"] }
            #expect(desktop.display.windows() == [2])
          } else {
            try await desktop.becomes("the closed window") { desktop.display.windows().isEmpty }
            #expect(try await stage.sessions() == [])
          }
        }
      }
    }
  }

  @Test func `after a restart of the service, its applications and sessions are there again`() async throws {
    try await withStage { stage, desktop, place async throws in
      desktop.display.show(1, "gvim", "a.txt (\(place)) - GVIM")
      for _ in 0..<2 {
        try await stage.serving {
          try await stage.becomes("the session") {
            $0 == ["\(desktop.url("a.txt"))\ta.txt (\(place)) - GVIM\tforegroundInactive"]
          }
        }
        try await eventually("the end of the service") {
          try await desktop.understudy.connection.owner(of: "org.stagedoor.Interchange1") == nil
        }
      }
    }
  }

  enum Loss: CaseIterable {
    case unregistered, declared, hosted
  }

  @Test(arguments: Loss.allCases)
  func `an application that nobody stands in for any more is taken back`(after loss: Loss) async throws {
    try await withStage { stage, desktop, place async throws in
      try await stage.serving {
        switch loss {
        case .unregistered: _ = try await stage.command("unregister", "desktop.gvim").output()
        case .declared:
          let configurations = #"{"UIWindowSceneSessionRoleApplication": [{"UISceneConfigurationName": "Document"}]}"#
          try """
          {"CFBundleIdentifier": "desktop.gvim", "CFBundleDisplayName": "Vim",
           "UIApplicationSceneManifest": {"UISceneConfigurations": \(configurations)}}
          """.write(toFile: "\(place)/Info.json", atomically: true, encoding: .utf8)
          _ = try await stage.command("install-manifest", "\(place)/Info.json").output()
          _ = try await stage.command("uninstall-manifest", "desktop.gvim").output()
        case .hosted:
          let program = try await desktop.bus.connect()
          program.export(Interface("org.stagedoor.SceneHost1"), at: "/desktop/gvim")
          _ = try await program.requestName("desktop.gvim")
          _ = try await program.call(
            to: PlayedService.name, at: PlayedService.root, "org.stagedoor.Interchange1", "AttachHost", "desktop.gvim",
            [ObjectPath](), returning: ObjectPath.self, [ObjectPath].self)
          await program.close()
        }
        desktop.display.show(1, "gvim", "a.txt (\(place)) - GVIM")
        try await stage.becomes("the session of its window") {
          $0 == ["\(desktop.url("a.txt"))\ta.txt (\(place)) - GVIM\tforegroundInactive"]
        }
      }
    }
  }

  // MARK: The front behind a delivery

  /// Runs `body` with an editor that shows `a.txt`, and its host as the played service calls it.
  private nonisolated(nonsending) func withHost(
    _ service: PlayedService = PlayedService(),
    _ body: nonisolated(nonsending) (PlayedDesktop, RemoteObject) async throws -> Void
  ) async throws {
    try await PlayedDesktop.run(programs: ["mousepad"]) { desktop async throws in
      desktop.display.show(1, "mousepad", "\(desktop.place)/a.txt - Mousepad")
      try await desktop.withHost(of: "mousepad", service) { host async throws in try await body(desktop, host) }
    }
  }

  @Test func `a window is adopted once, however long the service takes`() async throws {
    let service = PlayedService()
    let start = ContinuousClock.now
    try await withHost(service) { desktop, host async throws in
      let (understudy, connection) = (desktop.understudy, desktop.understudy.connection)
      try await eventually("the question") { service.adopted > 0 }
      await understudy.windowsChanged()
      let updating = connection.loop.task { await understudy.updateManifests() }
      // Both would compare before this is over, and the service would get what they ask before the last question.
      await connection.loop.sleep(for: .milliseconds(400))
      _ = try await connection.call(
        to: "org.stagedoor.Interchange1", at: "/org/stagedoor/Interchange1", "org.stagedoor.Interchange1",
        "GetDelivery", "the-delivery", returning: String.self, String.self)
      try await eventually("the end of the comparisons") {
        service.adopt()
        return await !understudy.hosting.isComparing
      }
      await updating.value
      // A question without an answer is asked again after 25 seconds, and a busy machine may take so long for these lines.
      #expect(service.adopted == 1 || start.duration(to: .now) > .seconds(25))
      #expect(await desktop.session()?.window == 1)
    }
  }

  @Test(
    arguments: [
      ("RegisterApplication", "org.stagedoor.Error.StorageFailed"),
      ("AttachHostWith", "org.stagedoor.Error.StorageFailed"),
      ("RegisterApplication", "org.freedesktop.DBus.Error.NoReply"),
      // Another host is still there.
      ("AttachHostWith", "org.stagedoor.Error.RequestDenied"),
    ] as [(String, ErrorName)])
  func `a service that cannot take an application yet is asked again`(method: String, error: ErrorName) async throws {
    let service = PlayedService(refusing: [method: [error, error]])
    // This waits until the application is registered.
    try await withHost(service) { _, _ in #expect(service.count(of: method) == 3) }
  }

  @Test func `a service that refuses an application is not asked again`() async throws {
    try await PlayedDesktop.run(programs: ["gvim", "mousepad"]) { desktop async throws in
      let service = PlayedService(refusing: ["RegisterApplication": ["org.stagedoor.Error.RequestDenied"]])
      let played = try await service.play(on: desktop.bus)
      let connection = desktop.understudy.connection
      let part = connection.loop.task { await desktop.understudy.takePart() }
      defer { part.cancel() }
      try await eventually("the other application") {
        let hosting = await desktop.understudy.hosting
        return hosting.registered.count == 1 && !hosting.isUpdating
      }
      // Longer than the pause before a second question.
      await connection.loop.sleep(for: .milliseconds(300))
      #expect(service.count(of: "RegisterApplication") == 2)
      await played.close()
    }
  }

  @Test func `a host that the next service cannot take yet keeps its sessions`() async throws {
    try await withHost { desktop, host async throws in
      try await host.call("ContinueScene", PlayedService.session, desktop.options(["a.txt"])) as ()
      await host.connection.close()
      let service = PlayedService(refusing: ["AttachHostWith": ["org.stagedoor.Error.StorageFailed"]])
      let attachment = "AttachHostWith [\"\(PlayedService.session.rawValue)\"]"
      let next = try await service.play(on: desktop.bus)
      try await eventually("the second attachment") { service.count(of: attachment) == 2 }
      await next.close()
    }
  }

  @Test func `a new session that is refused is forgotten, also where its first file was shown`() async throws {
    try await withHost { desktop, host async throws in
      let options = desktop.options(["a.txt", "gone.txt"])
      await #expect(throws: CallError.self) {
        try await host.call("ConnectScene", PlayedService.session, "", options) as ()
      }
      #expect(desktop.display.raised == [1])
      #expect(await desktop.session() == nil)
    }
  }

  @Test func `a window is brought to the front although its file was deleted`() async throws {
    try await withHost(PlayedService(deliveriesAre: "failed")) { desktop, host async throws in
      try await host.call("ContinueScene", PlayedService.session, desktop.options(["a.txt"])) as ()
      try await eventually("the window of the session") { await desktop.session()?.window == 1 }
      try FileManager.default.removeItem(atPath: "\(desktop.place)/a.txt")
      try await host.call("ActivateScene", PlayedService.session, [String: Variant]()) as ()
      #expect(desktop.display.raised == [1, 1])
    }
  }

  /// After a delivery that was taken, the service asks the host to bring the window to the front. After a late answer it does not.
  @Test(arguments: ["handled", "forwarded", "failed", "routed"])
  func `the front is asked for twice only if the service asks for it behind the delivery`(state: String) async throws {
    try await withHost(PlayedService(deliveriesAre: state)) { desktop, host async throws in
      try await host.call("ContinueScene", PlayedService.session, desktop.options(["a.txt"])) as ()
      #expect(desktop.display.raised == [1])
      try await host.call("ActivateScene", PlayedService.session, [String: Variant]()) as ()
      #expect(desktop.display.raised == (["handled", "forwarded"].contains(state) ? [1] : [1, 1]))
      let before = desktop.display.raised.count
      try await host.call("ActivateScene", PlayedService.session, [String: Variant]()) as ()
      #expect(desktop.display.raised.count == before + 1)
    }
  }
}
