import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import Glibc
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// A launcher's pointer looks busy until its startup sequence has ended.
@Suite struct StartupTests {
  private func open(_ name: String, _ program: String, _ token: String, on desktop: PlayedDesktop) async throws {
    let found = try await desktop.understudy.look(for: desktop.url(name), in: program)
    _ = try await desktop.understudy.act(on: found, token)
  }

  @Test func `a window that is raised ends the caller's sequence at once`() async throws {
    try await PlayedDesktop.run(programs: ["gvim"]) { desktop async throws in
      desktop.display.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM")
      try await open("a.txt", "gvim", "one_TIME5", on: desktop)
      #expect(desktop.display.raised == [1] && desktop.display.ended == ["one_TIME5"])
      try await desktop.understudy.activate("1", "two_TIME6")
      #expect(desktop.display.ended == ["one_TIME5", "two_TIME6"])
    }
  }

  @Test func `a program that is started ends no sequence before its window comes`() async throws {
    try await PlayedDesktop.run(programs: ["xpdf", "gvim"]) { desktop async throws in
      try await open("a.txt", "xpdf", "one", on: desktop)
      await desktop.tell { $0.show(1, "gvim", "other.txt (/) - GVIM") }
      #expect(desktop.display.ended == [])
      await desktop.tell { $0.show(2, "xpdf", "xpdf", isMain: false) }
      #expect(desktop.display.ended == [])
      await desktop.tell { $0.show(3, "xpdf", "a.txt") }
      #expect(desktop.display.ended == ["one"])
    }
  }

  @Test func `a window may say late whose it is`() async throws {
    try await PlayedDesktop.run(programs: ["libreoffice"]) { desktop async throws in
      try await open("a.txt", "libreoffice", "one", on: desktop)
      await desktop.tell { $0.show(1, "soffice", "a.txt - LibreOffice Writer") }
      #expect(await desktop.understudy.windows[1]?.application == nil && desktop.display.ended == [])
      await desktop.tell { $0.name("libreoffice", on: 1) }
      #expect(await desktop.understudy.windows[1]?.application == "libreoffice" && desktop.display.ended == ["one"])
      #expect(try await desktop.verdict("a.txt", "libreoffice") == .runAgain(window: nil))
    }
  }

  @Test func `an application that shows the file in a tab of its own ends the sequence with the tab`() async throws {
    try await PlayedDesktop.run(programs: ["mousepad"], files: ["a.txt", "b.txt"]) { desktop async throws in
      desktop.display.show(1, "mousepad", "\(desktop.place)/b.txt - Mousepad")
      try await open("a.txt", "mousepad", "one", on: desktop)
      #expect(desktop.display.ended == [])
      await desktop.tell { $0.write("\(desktop.place)/a.txt - Mousepad", on: 1) }
      #expect(desktop.display.ended == ["one"])
    }
  }

  @Test func `a program without a window ends its sequence later, one that cannot start at once`() async throws {
    try await PlayedDesktop.run(programs: ["xpdf"], busyTime: .milliseconds(50)) { desktop async throws in
      try await open("a.txt", "xpdf", "one", on: desktop)
      try await eventually("the end of the sequence") { desktop.display.ended == ["one"] }
    }
    try await PlayedDesktop.run(programs: ["xpdf"]) { desktop async throws in
      let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: "xpdf")
      try FileManager.default.removeItem(atPath: "\(desktop.place)/bin/xpdf")
      await #expect(throws: ErrorReply.self) { _ = try await desktop.understudy.act(on: found, "two") }
      #expect(desktop.display.ended == ["two"])
    }
  }
}
