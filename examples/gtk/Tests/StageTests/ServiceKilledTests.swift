import DBusTestSupport
import StagedoorKit
import StagedoorTestSupport
import Testing

extension StageTests {
  /// Each application, when the service is killed under it and comes back.
  @Suite struct ServiceKilledTests {
    static let folders = ["Journalyst", "Cats", "Dates", "Gallery", "Mail", "Expose"]

    @Test(arguments: folders) func `an application goes on without the service, and has its windows when it is back`(
      folder: String
    ) async throws {
      let play = Play(folder)
      try await Desktop.running(play) { desktop, _ in
        let window = try await desktop.windows(of: play, "its window") { $0.firstHasFocus }[0]
        try await desktop.house.killService()
        // The window says that this did not work.
        try await desktop.key("ctrl+n")
        try await desktop.pause()
        try await desktop.house.startService()
        try await desktop.windows(of: play, "the same window") {
          $0.contains { $0.identifier == window.identifier && $0.isConnected }
        }
        try await desktop.launch(play.identifier)
        try await desktop.windows(of: play, "the focus") { $0.contains { $0.activationState == .foregroundActive } }
      }
    }

    @Test(arguments: folders) func `the same under Wayland`(folder: String) async throws {
      let play = Play(folder)
      try await WaylandDesktop.running(play) { desktop in
        let window = try await desktop.windows(of: play, "its window") { $0.firstHasFocus }[0]
        try await desktop.house.killService()
        try await desktop.house.startService()
        try await desktop.windows(of: play, "the same window") {
          $0.contains { $0.identifier == window.identifier && $0.isConnected }
        }
        try await desktop.stagedoor.activate(window.identifier)
      }
    }
  }
}
