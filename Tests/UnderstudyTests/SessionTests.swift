import DBus
import DBusTestSupport
import Foundation
import Synchronization
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// What the understudy tells a played service of its sessions.
@Suite struct SessionTests {
  /// Runs `body` with a program and its host, as the played service calls it.
  private nonisolated(nonsending) func withHost(
    of program: String, service: PlayedService = PlayedService(),
    _ processes: (String) -> [Process] = { _ in [] },
    _ body: nonisolated(nonsending) (PlayedDesktop, RemoteObject, PlayedService) async throws -> Void
  ) async throws {
    try await PlayedDesktop.run(programs: [program], files: ["a.txt", "b.txt", "c.txt"], processes) {
      desktop async throws in
      try await desktop.withHost(of: program, service) { host async throws in
        try await body(desktop, host, service)
      }
    }
  }

  /// Delivers a file to a new session, and waits until the session has its window.
  private nonisolated(nonsending) func connect(
    _ name: String, _ window: WindowNumber, process: Int32? = nil, to session: ObjectPath = PlayedService.session,
    _ desktop: PlayedDesktop, _ host: RemoteObject
  ) async throws {
    try await host.call("ConnectScene", session, "", desktop.options([name])) as ()
    await desktop.tell { $0.show(window, "gvim", "\(name) (\(desktop.place)) - GVIM", process: process) }
    try await eventually("the window of \(name)") { await desktop.session(session)?.window == window }
  }

  @Test func `a file that is reached by two names has a session for each, and no more`() async throws {
    try await withHost(of: "okular", { [Process.holding("\($0)/a.txt", 7)] }) { desktop, host, service async throws in
      try FileManager.default.createSymbolicLink(
        atPath: "\(desktop.place)/link", withDestinationPath: "\(desktop.place)/a.txt")
      let sessions = [(PlayedService.session, "link"), (PlayedService.other, "a.txt")]
      for (session, name) in sessions {
        try await host.call("ConnectScene", session, "", desktop.options([name])) as ()
        if name == "link" { await desktop.tell { $0.show(1, "okular", "a.txt  — Okular", process: 7) } }
        try await eventually("the window of \(name)") { await desktop.session(session)?.window == 1 }
        try await desktop.isCompared()
      }
      for (session, name) in sessions { #expect(await desktop.session(session)?.url == desktop.url(name)) }
      #expect(!service.told.contains { $0.contains("UserActivity") }, "\(service.told)")
      #expect(service.adopted == 0)
    }
  }

  /// An X server gives the number of a window that has gone to another.
  @Test(arguments: [false, true])
  func `the window of another application is no session's, whatever its number`(closes: Bool) async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await connect("a.txt", 1, desktop, host)
      try await desktop.isCompared()
      await desktop.tell { $0.hide(1) }
      await desktop.tell { $0.show(1, "xterm", "a letter") }
      if closes {
        try await host.call("DestroyScene", PlayedService.session, "standard") as ()
        #expect(desktop.display.windows() == [1])
      } else {
        try await eventually("the end of the session's scene") { service.count(of: "s.Disconnect") == 1 }
        #expect(!service.told.contains { $0.contains("a letter") }, "\(service.told)")
      }
    }
  }

  @Test func `a delivery that comes while another session ends keeps its own session`() async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await connect("a.txt", 1, desktop, host)
      try await connect("b.txt", 2, to: PlayedService.other, desktop, host)
      try await desktop.isCompared()
      let options = desktop.options(["c.txt"])
      service.whileDisconnecting.withLock {
        $0 = { ended in
          let other = ended == PlayedService.session ? PlayedService.other : PlayedService.session
          try await host.call("ContinueScene", other, options) as ()
        }
      }
      await desktop.tell {
        $0.hide(1)
        $0.hide(2)
      }
      try await eventually("the end of one") {
        service.count(of: "s.Disconnect") + service.count(of: "t.Disconnect") > 0
      }
      try await desktop.isCompared()
      #expect(service.count(of: "s.Disconnect") + service.count(of: "t.Disconnect") == 1)
      #expect(await desktop.understudy.hosting.sessions.count == 1)
    }
  }

  // MARK: Telling

  @Test func `what the service could not take is told once more`() async throws {
    let failure: [ErrorName] = ["org.stagedoor.Error.StorageFailed"]
    let service = PlayedService(refusing: [
      "AdoptSession": failure, "s.StateRestorationActivity": failure, "s.UserActivity": failure, "s.Title": failure,
      "s.Disconnect": failure,
    ])
    try await withHost(of: "gvim", service: service) { desktop, _, _ async throws in
      func isToldTwice(_ call: String, _ part: String = " ") async throws {
        @Sendable func count() -> Int {
          service.calls.withLock { $0.count { "\($0) ".hasPrefix(call) && "\($0) ".contains(part) } }
        }
        try await desktop.becomes("\(call) twice") {
          service.adopt()
          return count() >= 2
        }
        #expect(count() == 2, "\(service.calls.withLock(\.self))")
      }
      desktop.display.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM")
      try await isToldTwice("AdoptSession")
      try await isToldTwice("s.StateRestorationActivity", "a.txt")
      desktop.display.write("b.txt (\(desktop.place)) - GVIM", on: 1)
      try await isToldTwice("s.UserActivity", "b.txt")
      try await isToldTwice("s.Title", "b.txt")
      desktop.display.hide(1)
      try await isToldTwice("s.Disconnect")
      try await eventually("the end of the session") { await desktop.session() == nil }
    }
  }

  @Test func `a session without a window here is not brought to the front`() async throws {
    try await withHost(of: "gvim") { _, host, _ async throws in
      await #expect(throws: CallError.self) {
        try await host.call("ActivateScene", PlayedService.session, [String: Variant]()) as ()
      }
    }
  }

  @Test func `a file that is dropped on the session of another opens, and the session goes on showing its own`()
    async throws
  {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await connect("a.txt", 1, desktop, host)
      try await host.call("ContinueScene", PlayedService.session, desktop.options(["b.txt"])) as ()
      await desktop.tell { $0.show(2, "gvim", "b.txt (\(desktop.place)) - GVIM") }
      try await eventually("the word that the window shows its own file") {
        service.told.contains { $0.hasPrefix("s.UserActivity") && $0.contains(desktop.url("a.txt")) }
      }
      try await eventually("the session of the other window") {
        service.adopt(as: PlayedService.other)
        return await desktop.session(PlayedService.other)?.window == 2
      }
      #expect(await desktop.session()?.window == 1)
    }
  }

  // MARK: Private deliveries

  /// What the service was told that says more of a file than that its session is there.
  private func said(_ service: PlayedService) -> [String] {
    service.calls.withLock { calls in
      calls.filter { $0.contains(".txt") && !($0.hasPrefix("s.StateRestoration") && $0.contains("private")) }
    }
  }

  @Test func `nothing is said of the files of a private delivery until their windows have gone`() async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      func title(_ name: String) -> String { "\(name) (\(desktop.place)) - GVIM" }
      let options = desktop.options(["a.txt", "b.txt"], isPrivate: true)
      try await host.call("ConnectScene", PlayedService.session, "", options) as ()
      await desktop.tell {
        $0.show(1, "gvim", title("a.txt"))
        $0.show(2, "gvim", title("b.txt"))
      }
      try await eventually("the window") { await desktop.session()?.window == 1 }
      try await desktop.isCompared()
      // Saved under another name; no longer known; and a title that only looks like one.
      for other in [title("c.txt"), "a.txt, changed - GVIM", title("b.txt")] {
        desktop.display.write(other, on: 1)
        try await desktop.isCompared()
      }
      #expect(said(service) == [] && service.adopted == 0)
      desktop.display.hide(2)
      desktop.display.hide(1)
      try await desktop.isCompared()
      desktop.display.show(3, "gvim", title("b.txt"))
      try await desktop.becomes("the question for a session") { service.adopted == 1 }
    }
  }

  @Test func `the window of a private delivery stays secret after another of its files was refused`() async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      let options = desktop.options(["a.txt", "gone.txt"], isPrivate: true)
      await #expect(throws: CallError.self) {
        try await host.call("ConnectScene", PlayedService.session, "", options) as ()
      }
      await desktop.tell { $0.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM") }
      try await desktop.isCompared()
      #expect(said(service) == [] && service.adopted == 0)
    }
  }

  @Test func `a private file that comes to a window while another session ends gives no session its title`()
    async throws
  {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await connect("a.txt", 1, desktop, host)
      try await connect("c.txt", 2, to: PlayedService.other, desktop, host)
      try await desktop.isCompared()
      let options = desktop.options(["b.txt"], isPrivate: true)
      service.whileDisconnecting.withLock {
        $0 = { _ in
          desktop.display.write("b.txt (\(desktop.place)) - GVIM", on: 1)
          try await host.call("ConnectScene", ObjectPath("\(PlayedService.root.rawValue)/session/u"), "", options) as ()
        }
      }
      await desktop.tell { $0.hide(2) }
      try await eventually("the end of the session") { service.count(of: "t.Disconnect") == 1 }
      try await desktop.isCompared()
      #expect(!said(service).contains { $0.contains("b.txt") } && service.adopted == 0, "\(service.told)")
    }
  }

  @Test func `a private file on the session of another file stays secret until it is delivered to everyone`()
    async throws
  {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await connect("a.txt", 1, desktop, host)
      let options = desktop.options(["b.txt"], isPrivate: true)
      try await host.call("ContinueScene", PlayedService.session, options) as ()
      await desktop.tell { $0.show(2, "gvim", "b.txt (\(desktop.place)) - GVIM") }
      try await eventually("the word that the window shows its own file") {
        service.told.contains { $0.hasPrefix("s.UserActivity") && $0.contains("a.txt") }
      }
      try await desktop.isCompared()
      #expect(!said(service).contains { $0.contains("b.txt") } && service.adopted == 0)
      try await host.call("ConnectScene", PlayedService.other, "", desktop.options(["b.txt"])) as ()
      try await eventually("the title") { service.told.contains { $0.hasPrefix("t.Title") && $0.contains("b.txt") } }
    }
  }

  @Test func `what a private window gets back when it is opened again stays secret`() async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      let options = desktop.options(["a.txt"], isPrivate: true)
      try await host.call("ConnectScene", PlayedService.session, "", options) as ()
      let told = service.told.first { $0.hasPrefix("s.StateRestorationActivity ") } ?? ""
      let restored =
        #"{"delivery": "the-delivery", "stateRestorationActivity": \#(told.split(separator: " ", maxSplits: 1)[1])}"#
      for window: WindowNumber in [1, 2] {
        await desktop.tell { $0.show(window, "gvim", "a.txt (\(desktop.place)) - GVIM") }
        try await eventually("the window") { await desktop.session()?.window == window }
        desktop.display.hide(window)
        try await desktop.becomes("its end") { await desktop.session() == nil }
        if window == 1 { try await host.call("ConnectScene", PlayedService.session, "", restored) as () }
      }
      #expect(said(service) == [] && service.adopted == 0)
    }
  }

  // MARK: Closed

  /// Runs `body` with a session whose window was asked to close, and asks its person.
  private nonisolated(nonsending) func withClosing(
    _ body: nonisolated(nonsending) (PlayedDesktop, PlayedService) async throws -> Void
  ) async throws {
    try await withHost(of: "gvim", { _ in [.running(7)] }) { desktop, host, service async throws in
      desktop.display.change { $0.asksBeforeClosing = true }
      try await connect("a.txt", 1, process: 7, desktop, host)
      try await host.call("DestroyScene", PlayedService.session, "standard") as ()
      #expect(desktop.display.closed == [1])
      try await body(desktop, service)
    }
  }

  @Test func `a window that asks before it closes gets no session meanwhile, whatever it shows`() async throws {
    try await withClosing { desktop, service async throws in
      for name in ["a.txt +", "b.txt"] {
        desktop.display.write("\(name) (\(desktop.place)) - GVIM", on: 1)
        try await desktop.isCompared()
      }
      #expect(service.adopted == 0 && desktop.display.closed == [1])
      // Somebody asks for it after all.
      await desktop.understudy.keep(desktop.url("a.txt"), of: "gvim")
      desktop.display.write("a.txt (\(desktop.place)) - GVIM", on: 1)
      try await desktop.becomes("the question for a session") { service.adopted == 1 }
    }
  }

  @Test func `a window that stays gets a session again, but not before its dialog has gone`() async throws {
    try await withClosing { desktop, service async throws in
      await desktop.tell { $0.show(2, "gvim", "Save?", process: 7, isMain: false) }
      try await desktop.isCompared()
      await desktop.understudy.windowsHaveHadTime()
      try await desktop.isCompared()
      #expect(service.adopted == 0)
      await desktop.understudy.windowsHaveHadTime(false)
      desktop.display.hide(2)
      try await desktop.isCompared()
      #expect(service.adopted == 0)
      await desktop.understudy.windowsHaveHadTime()
      desktop.display.write("a.txt + (\(desktop.place)) - GVIM", on: 1)
      try await desktop.becomes("the question for a session") { service.adopted == 1 }
    }
  }

  // MARK: Windows that are never known

  @Test func `a session whose window is never known ends when nothing of its program is there any more`() async throws {
    try await withHost(of: "gvim") { desktop, host, service async throws in
      try await host.call("ConnectScene", PlayedService.session, "", desktop.options(["a.txt"])) as ()
      await desktop.tell { $0.show(1, "gvim", "a picture") }
      await desktop.understudy.windowsHaveHadTime()
      try await desktop.isCompared()
      #expect(service.count(of: "s.Disconnect") == 0)
      desktop.display.hide(1)
      try await desktop.becomes("the end of its scene") { service.count(of: "s.Disconnect") == 1 }
      try await host.call("ConnectScene", PlayedService.other, "", desktop.options(["b.txt"])) as ()
      try await eventually("the end of a scene that got no window") { service.count(of: "t.Disconnect") == 1 }
    }
  }
}

extension Understudy {
  /// Whether all windows that may come or go have had the time for that.
  fileprivate func windowsHaveHadTime(_ isOver: Bool = true) { startTime = isOver ? .zero : usualLimit }
}
