import DBusTestSupport
import Foundation
import StagedoorKit
import Testing

extension StageTests {
  /// The journal, with real windows and hands.
  @Suite struct JournalystTests {
    private let play = Play("Journalyst")
    private let openDetail = "org.stagedoor.examples.Journalyst.EntryOpenDetail"

    /// The middle of a row of the list, of a window whose corner is at (40, 60).
    private func row(_ number: Int) -> (x: Int, y: Int) { (140, 60 + 76 + 50 * number) }

    @Test func `what is written in one window is shown in the other, and what is deleted is gone in both`() async throws
    {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.windows(of: play, titled: "Journalyst")
        try await desktop.place("Journalyst", at: 40, 60)
        try await desktop.click(row(0).x, row(0).y)
        try await desktop.windows(of: play, titled: "Night train")
        // A second window of the same entry shows each letter.
        let entry = UserActivity(openDetail, userInfo: ["entryID": "train"])
        _ = try await desktop.stagedoor.deliver(entry)
        try await desktop.windows(of: play, titled: "Night train", "Night train")
        try await desktop.key("ctrl+n")
        try await desktop.windows(of: play, titled: "Journalyst", "Night train", "Night train")
        try await desktop.place("Journalyst", at: 40, 60)
        try await desktop.click(row(0).x, row(0).y)
        try await desktop.windows(of: play, titled: "Night train", "Night train", "Night train")
        try await desktop.click(600, 200)
        try await desktop.key("ctrl+Home")
        try await desktop.type("Late ")
        try await desktop.windows(of: play, titled: "Late Night train", "Late Night train", "Late Night train")
        try await desktop.key("ctrl+shift+n")
        try await desktop.windows(of: play, titled: "Late Night train", "Late Night train", "New entry")
        try await desktop.type("Rain")
        try await desktop.click(row(1).x, row(1).y)
        try await desktop.windows(of: play, titled: "Late Night train", "Late Night train", "Late Night train")
        try await desktop.action("delete-entry", of: play.identifier)
        // If the list had the focus, the next entry has it now.
        try await desktop.windows(of: play, "windows without the deleted entry") { windows in
          windows.count == 3 && windows.allSatisfy { ["Rain", "Journalyst"].contains($0.title) }
        }
      }
    }

    @Test func `what is written is stored and announced when its user pauses, and when the window loses the focus`()
      async throws
    {
      try await Desktop.run(play) { desktop in
        let announced = Lines()
        let notes = try await desktop.stagedoor.notifications(named: "JournalEntriesUpdated", of: play.identifier)
        let listening = Task { for try await note in notes { await announced.add(note.name.rawValue) } }
        defer { listening.cancel() }
        try await desktop.running(play) { _ in
          try await desktop.place("Journalyst", at: 40, 60)
          try await desktop.click(row(0).x, row(0).y)
          try await desktop.windows(of: play, titled: "Night train")
          try await desktop.click(600, 200)
          try await desktop.key("ctrl+Home")
          try await desktop.type("The very long and very late ")
          try await desktop.windows(of: play, titled: "The very long and very late Night train")
          try await eventually("the announcement") { await !announced.all.isEmpty }
          try await desktop.type("x")
          try await desktop.key("ctrl+n")
          try await desktop.windows(of: play, titled: "Journalyst", "The very long and very late xNight train")
          try await eventually("the second announcement") { await announced.all.count > 1 }
          #expect(await announced.all.count == 2)
        }
      }
    }

    private actor Lines {
      private(set) var all: [String] = []
      func add(_ line: String) { all.append(line) }
    }

    @Test func `an entry that is dragged to the edge opens a window, and one that is dropped at home does not`()
      async throws
    {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.windows(of: play, titled: "Journalyst")
        try await desktop.place("Journalyst", at: 40, 60)
        try await desktop.drag(from: row(0), to: (560, 300))
        try await desktop.drag(from: row(1), to: (1100, 700), letGo: false)

        try await desktop.letGo()
        let sessions = try await desktop.windows(of: play, "a second window") { $0.count == 2 && $0[1].title != "" }
        // The window shows an entry that was dropped onto it.
        #expect(sessions.map(\.title) == ["Night train", "Bread, third attempt"])
        #expect(sessions[1].userActivity?.activityType == openDetail)
        #expect(sessions[1].userActivity?.userInfo == ["entryID": "bread"])
        #expect(sessions[1].targetContentIdentifier == "")
        try await desktop.place("Bread, third attempt", at: 460, 270)
        try await desktop.picture("Journalyst/screenshot.png")
      }
    }

    @Test func `an entry that is dropped onto another window is shown there, and text becomes an entry`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Journalyst", at: 40, 60)
        try await desktop.drag(from: row(0), to: (1100, 700))
        try await desktop.place("Night train", at: 420, 300)
        try await desktop.place("Journalyst", at: 40, 60)
        // Onto the list of the second window.
        try await desktop.drag(from: row(2), to: (560, 700))
        try await desktop.windows(of: play, titled: "Journalyst", "A walk along the coast")
        let session = try await desktop.sessions(of: play)[0].identifier
        var provider = ItemProvider()
        provider.registerText("Sent from elsewhere")
        var options = DeliveryOptions()
        options.session = session
        try await desktop.stagedoor.deliver([DragItem(itemProvider: provider)], options)
        try await desktop.windows(of: play, titled: "Sent from elsewhere", "A walk along the coast")
      }
    }

    @Test func `what is written is kept after a time in which nothing was selected`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Journalyst", at: 40, 60)
        try await desktop.click(row(0).x, row(0).y)
        try await desktop.windows(of: play, titled: "Night train")
        let activity = UserActivity(openDetail, userInfo: ["entryID": "lost"])
        var options = DeliveryOptions()
        options.session = try await desktop.sessions(of: play)[0].identifier
        try await desktop.stagedoor.deliver([DragItem(activity)], options)
        try await desktop.windows(of: play, titled: "Journalyst")
        try await desktop.click(row(1).x, row(1).y + 30)
        let shown = try await desktop.windows(of: play, "an entry") { $0.first?.title != "Journalyst" }[0].title
        try await desktop.click(600, 250)
        try await desktop.key("ctrl+Home")
        try await desktop.type("My ")
        try await desktop.windows(of: play, titled: "My \(shown)")
      }
    }

    @Test func `text that names the journal only becomes an entry, also in a new window`() async throws {
      try await Desktop.headless(play) { desktop, running in
        for (text, disposition) in [("Somewhere", DeliveryOptions.Disposition.auto), ("In its own", .new)] {
          var provider = ItemProvider()
          provider.registerText(text)
          var options = DeliveryOptions()
          (options.application, options.disposition) = (play.identifier, disposition)
          try await desktop.stagedoor.deliver([DragItem(itemProvider: provider)], options)
          try await running.line { $0 == "-- \(text) --" }
        }
        try await desktop.windows(of: play, titled: "Journalyst", "Somewhere", "In its own")
      }
    }

    @Test func `without a display the windows are lines of text, and an entry that is not there has one that says so`()
      async throws
    {
      try await Desktop.headless(play) { desktop, running in
        try await running.line { $0 == "  - Night train" }
        try await desktop.stagedoor.deliver(UserActivity(openDetail, userInfo: ["entryID": "lost"]))
        try await running.line { $0 == "! Journalyst: There is no entry lost." }
        try await desktop.windows(of: play, titled: "Journalyst", "Journalyst")
        // A name that would clear the terminal.
        try await desktop.stagedoor.deliver(UserActivity(openDetail, userInfo: ["entryID": "\u{1B}[2J"]))
        try await running.line { $0 == #"! Journalyst: There is no entry \u{1b}[2J."# }
        try await desktop.stagedoor.deliver(UserActivity(openDetail, userInfo: ["entryID": "coast"]))
        try await running.line { $0 == "-- A walk along the coast --" }
        try await running.line { $0 == "  * A walk along the coast" }
        try await running.line { $0.hasPrefix("  | Fog until noon.") }
      }
    }
  }
}
