import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import Testing

extension StageTests {
  /// The mail, with real windows and hands.
  @Suite struct MailTests {
    private let play = Play("Mail")

    /// The middle of a row of the list, of a window whose corner is at (20, 20).
    private func row(_ number: Int) -> (x: Int, y: Int) { (140, 20 + 76 + 52 * number) }

    /// Chooses the first entry in the menu of a row.
    private func openInNewWindow(_ number: Int, on desktop: Desktop) async throws {
      try await desktop.click(row(number).x, row(number).y, button: 3)
      try await desktop.pause()
      try await desktop.click(row(number).x + 60, row(number).y + 22)
    }

    /// Opens a window for a new message, with its corner at (500, 300).
    private func compose(on desktop: Desktop) async throws -> SceneSession {
      try await desktop.place("Mail", at: 20, 20)
      try await desktop.key("ctrl+m")
      try await desktop.place("New message", at: 500, 300)
      return try await desktop.windows(of: play, "the new message") { $0.lastHasFocus }[1]
    }

    @Test func `a message opens in its own window, closes, and comes back when it is selected`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Mail", at: 20, 20)
        try await desktop.click(row(1).x, row(1).y)
        try await openInNewWindow(3, on: desktop)
        try await desktop.place("Is this your cat?", at: 560, 260)
        let windows = try await desktop.windows(of: play, "the message's window") { $0.lastHasFocus }
        let cat = try #require(windows.last)
        #expect(cat.configuration.name == "Message")
        let before = try await desktop.pixels("820x300+40+80")
        try await desktop.key("ctrl+l")
        try await eventually("larger text in both windows") { try await desktop.pixels("820x300+40+80") != before }
        try await desktop.picture("Mail/screenshot.png")
        try await desktop.key("ctrl+w")
        try await desktop.windows(of: play, "the session without a window") { $0.count == 2 && !$0[1].isConnected }
        try await desktop.stagedoor.activate(cat.identifier)
        try await desktop.windows(of: play, titled: "Is this your cat?", "Mail")
        _ = try await desktop.window(titled: "Is this your cat?")
      }
    }

    @Test func `a message that is dragged to the edge is shown in a window`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Mail", at: 20, 20)
        try await desktop.drag(from: row(3), to: (1100, 700))
        try await desktop.windows(of: play, titled: "Is this your cat?", "Mail")
      }
    }

    @Test func `windows in the background are released, and their sessions stay`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Mail", at: 20, 20)
        try await desktop.stagedoor.drop("org.stagedoor.examples.Mail.openMessage", "boat")
        let boat = try await desktop.window(titled: "The boat is back in the water")
        try await desktop.windows(of: play, "the focus of the message") { $0.lastHasFocus }
        try await desktop.xdotool("windowminimize", boat)
        try await desktop.windows(of: play, "the message in the background") {
          $0.last?.activationState == .background
        }
        try await desktop.action("release", of: play.identifier)
        try await desktop.windows(of: play, "the message without a window") {
          $0.count == 2 && !$0[1].isConnected && $0[0].isConnected
        }
      }
    }

    @Test func `a draft is there again after a restart, with its recipient and its subject`() async throws {
      try await Desktop.run(play) { desktop in
        try await desktop.running(play) { running in
          _ = try await compose(on: desktop)
          // The window opens with the focus in its first field.
          try await desktop.type("Ada")
          try await desktop.key("Tab")
          try await desktop.type("Thursday")
          try await desktop.key("Tab")
          try await desktop.type("Gladly.")
          try await running.end(with: SIGTERM)
        }
        try await desktop.running(play, "--headless") { running in
          for line in ["  _Ada_", "  _Thursday_", "  | Gladly."] { try await running.line { $0 == line } }
        }
      }
    }

    @Test func `a double click on Send sends the message once, and Mail shows it`() async throws {
      try await Desktop.running(play) { desktop, _ in
        _ = try await compose(on: desktop)
        try await desktop.type("Ada")
        try await desktop.key("Tab")
        try await desktop.type("Lunch")
        // The first message of the list.
        let first = "260x44+40+74"
        let before = try await desktop.pixels(first)
        try await desktop.xdotool(
          "mousemove", "808", "327", "sleep", "0.1", "click", "--repeat", "2", "--delay", "60", "1")
        try await desktop.windows(of: play, titled: "Mail")
        try await eventually("the sent message in the list") { try await desktop.pixels(first) != before }
        let sent = try Data(contentsOf: desktop.data(of: play).appending(path: "sent.json"))
        #expect(try JSONDecoder().decode([Sent].self, from: sent) == [Sent(person: "Ada", subject: "Lunch")])
        // The window fades for a moment.
        try await desktop.pause()
        try await desktop.action("large-text", of: play.identifier)
      }
    }

    private struct Sent: Decodable, Equatable {
      let person: String
      let subject: String
    }

    @Test func `the draft of a window that was closed while the program was away is gone after its start`() async throws
    {
      try await Desktop.run(play) { desktop in
        let drafts = try desktop.data(of: play).appending(path: "drafts")
        let session = try await desktop.running(play) { running in
          let session = try await compose(on: desktop)
          try await desktop.click(700, 560)
          try await desktop.type("Dear Ada")
          try await eventually("the draft") { try desktop.names(in: drafts) == ["\(session.identifier).json"] }
          try await running.end(with: SIGKILL)
          return session
        }
        try await desktop.stagedoor.destroy(session.identifier)
        try await desktop.running(play, "--headless") { running in
          try await running.line { $0 == "-- Mail --" }
          try await eventually("the end of the draft") { try desktop.names(in: drafts).isEmpty }
        }
      }
    }
  }
}
