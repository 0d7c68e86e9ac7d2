import DBusTestSupport
import StagedoorKit
import Testing

@testable import dates

extension StageTests {
  /// The dates, with real windows and hands.
  @Suite struct DatesTests {
    private let play = Play("Dates")

    @Test func `dates are inserted, selected and deleted with the mouse`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Dates", at: 40, 40)
        try await desktop.key("ctrl+n")
        try await desktop.windows(of: play, titled: "Dates", "Dates")
        try await desktop.place("Dates", at: 40, 40)
        for _ in 1...4 {
          try await desktop.key("ctrl+i")
          try await desktop.pause()
        }
        try await desktop.click(140, 120)
        let selected = try await desktop.windows(of: play, "a selected date") {
          $0.contains { $0.userActivity != nil }
        }
        let title = try #require(selected.first { $0.userActivity != nil }?.title)
        try await desktop.place("Dates", at: 560, 280)
        try await desktop.picture("Dates/screenshot.png")
        // The other window deletes the same date: in its edit mode, with the button of the row.
        try await desktop.click(585, 307)
        try await desktop.pause()
        try await desktop.click(820, 360)
        try await desktop.windows(of: play, "windows without the deleted date") {
          $0.allSatisfy { $0.title != title }
        }
      }
    }

    @Test @MainActor func `a date that comes back in an activity is in the list`() async throws {
      let controller = DatesController()
      for _ in 1...20 { controller.insert() }
      for stamp in controller.dates {
        let decoded = try Payload(decoding: try await Payload(stamp.activity).encoded())
        let date = decoded.items.first?.itemProvider.userActivities.first?.userInfo["date"]?.date
        #expect(date == stamp.date)
      }
    }

    @Test @MainActor func `the list of dates keeps no observer alive`() {
      final class Window { var updates = 0 }
      let controller = DatesController()
      var first: Window? = Window()
      weak let kept = first
      let second = Window()
      for window in [first, second].compactMap(\.self) { controller.addObserver(window) { $0.updates += 1 } }
      controller.insert()
      #expect(first?.updates == 1)
      first = nil
      #expect(kept == nil)
      controller.remove(controller.dates[0].date)
      #expect(second.updates == 2)
    }
  }
}
