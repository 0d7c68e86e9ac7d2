import DBus
import DBusTestSupport
import Foundation
import Synchronization
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// What the understudy tells a played service of its sessions.
@Suite struct SessionTests {
  /// Runs `body` with programs and the host of the first of them, as the played service calls it.
  private nonisolated(nonsending) func withHost(
    of programs: String..., service: PlayedService = PlayedService(), startTime: Duration = usualLimit,
    _ processes: (String) -> [Process] = { _ in [] },
    _ body: nonisolated(nonsending) (PlayedDesktop, RemoteObject) async throws -> Void
  ) async throws {
    try await PlayedDesktop.run(
      programs: programs, files: ["a.txt", "b.txt", "c.txt"], startTime: startTime, processes
    ) { desktop async throws in
      try await desktop.withHost(of: programs[0], service) { host async throws in try await body(desktop, host) }
    }
  }

  @Test func `a file that is reached by two names has a session for each, and no more`() async throws {
    let service = PlayedService()
    try await withHost(of: "okular", service: service, { [Process.holding("\($0)/a.txt", 7)] }) {
      desktop, host async throws in
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
    let service = PlayedService()
    try await withHost(of: "mousepad", service: service) { desktop, host async throws in
      try await host.call("ConnectScene", PlayedService.session, "", desktop.options(["a.txt"])) as ()
      await desktop.tell { $0.show(1, "mousepad", "\(desktop.place)/a.txt - Mousepad") }
      try await eventually("the window") { await desktop.session()?.window == 1 }
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
}
