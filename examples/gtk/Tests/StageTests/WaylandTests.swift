import DBusTestSupport
import StagedoorKit
import Testing

extension StageTests {
  /// The differences without X: tokens, and drags that nobody takes.
  @Suite struct WaylandTests {
    private let cats = Play("Cats")

    @Test func `a cat that is dragged out gets a window, and a tap brings that to the front`() async throws {
      try await WaylandDesktop.running(cats) { desktop, _ in
        try await desktop.windows(of: cats, "the list") { $0.firstHasFocus }
        try await desktop.place("Cats", at: 20, 20)
        // A drag that ends in its own window has no effect.
        try await desktop.drag(from: (160, 220), to: (300, 560))
        try await desktop.drag(from: (430, 220), to: (1100, 700))
        try await desktop.windows(of: cats, "a window of Kitty") { $0.last?.title == "Kitty" && $0.lastHasFocus }
        try await desktop.place("Kitty", at: 700, 60)
        try await desktop.click(300, 44)
        try await desktop.windows(of: cats, "the focus of the list") { $0.firstHasFocus }
        try await desktop.click(430, 220)
        let windows = try await desktop.windows(of: cats, "the focus of Kitty") { $0.lastHasFocus }
        #expect(windows.map(\.title) == ["Cats", "Kitty"])
      }
    }
  }
}
