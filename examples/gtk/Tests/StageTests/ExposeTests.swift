import DBusTestSupport
import Foundation
import StagedoorKit
import Testing

extension StageTests {
  /// The window switcher, with real windows of two other applications.
  @Suite struct ExposeTests {
    private let expose = Play("Expose")
    private let cats = Play("Cats")
    private let gallery = Play("Gallery")

    @Test func `without windows there is a hint, until one opens and has a card`() async throws {
      try await Desktop.running(expose, "--headless", beside: [cats]) { desktop, running in
        try await running.line { $0 == "  No windows yet. + opens one." }
        try await desktop.running(cats, "--headless") { _ in
          let hint = "  No windows yet. + opens one."
          var shown: [String] = []
          repeat {
            let line = try await running.line { _ in true }
            if line == "-- Exposé --" { shown = [] }
            shown.append(line)
          } while shown.last != "    Cats, in use"
          #expect(shown.contains("  - (Cats)") && !shown.contains(hint))
        }
      }
    }

    @Test func `windows are brought to the front, opened and closed, and take what is dropped on their cards`()
      async throws
    {
      try await Desktop.running(cats, beside: [expose, gallery]) { desktop, _ in
        try await desktop.place("Cats", at: 700, 140)
        try await desktop.running(gallery) { _ in
          try await desktop.place("Gallery", at: 540, 240)
          try await desktop.windows(of: gallery, titled: "Gallery")
          try await desktop.running(expose) { _ in
            try await desktop.place("Exposé", at: 20, 20)
            try await desktop.place("Cats", at: 700, 140)
            let window = try await desktop.windows(of: expose, "the switcher") { $0.first?.isConnected == true }
            #expect(window.count == 1)
            // A cat, over the card of the gallery.
            try await desktop.pause(1.2)
            try await desktop.drag(from: (850, 340), to: (450, 240), letGo: false)
            try await desktop.picture("Expose/screenshot.png")
            try await desktop.letGo()
            try await desktop.windows(of: gallery, titled: "Tom")
            // The card of the cats.
            try await desktop.place("Exposé", at: 20, 20)
            try await desktop.click(170, 250)
            try await desktop.windows(of: cats, "the focus of the cats") { $0.firstHasFocus }
            try await desktop.place("Exposé", at: 20, 20)
            // "+ Cats"
            try await desktop.click(65, 95)
            try await desktop.windows(of: cats, titled: "Cats", "Cats")
            let old = try await desktop.sessions(of: cats)[0]
            try await desktop.place("Exposé", at: 20, 20)
            try await desktop.click(312, 367)
            try await desktop.windows(of: cats, "the end of the first window") { $0.count == 1 && $0[0] != old }
          }
        }
      }
    }
  }
}
