import DBusTestSupport
import StagedoorKit
import StagedoorTestSupport
import Testing

extension StageTests {
  /// Each application, when the service is killed under it and comes back.
  @Suite struct ServiceKilledTests {
    @Test(arguments: ["Journalyst", "Cats", "Dates", "Gallery", "Mail", "Expose"], [false, true])
    func `an application goes on without the service, and has its windows when it is back`(
      folder: String, isWayland: Bool
    ) async throws {
      if isWayland {
        try await goesOn(Play(folder), on: WaylandDesktop.self) { _ in }
      } else {
        try await goesOn(Play(folder), on: Desktop.self) { desktop in
          // The window says that this did not work.
          try await desktop.key("ctrl+n")
          try await desktop.pause()
        }
      }
    }

    private func goesOn<Place: StageDesktop>(
      _ play: Play, on place: Place.Type, meanwhile: (Place) async throws -> Void
    ) async throws {
      try await Place.running(play) { desktop, _ in
        let window = try await desktop.windows(of: play, "its window") { $0.firstHasFocus }[0]
        try await desktop.house.killService()
        try await meanwhile(desktop)
        try await desktop.house.startService()
        try await desktop.windows(of: play, "the same window") {
          $0.contains { $0.identifier == window.identifier && $0.isConnected }
        }
        try await desktop.launch(play.identifier)
        try await desktop.windows(of: play, "the focus") { $0.contains { $0.activationState == .foregroundActive } }
        try await desktop.stagedoor.activate(window.identifier)
      }
    }
  }
}
