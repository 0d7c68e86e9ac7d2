import DBus
import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import Testing

extension StageTests {
  /// The cats, with real windows and hands.
  @Suite struct CatsTests {
    private let play = Play("Cats")
    private let view = "org.stagedoor.examples.Cats.viewCat"
    /// Pictures in the window at (20, 20).
    private let tom = (x: 150, y: 220)
    private let kitty = (x: 430, y: 220)

    @Test func `a tap opens a window of the cat, and the next tap finds it`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Cats", at: 20, 20)
        try await desktop.click(tom.x, tom.y)
        try await desktop.place("Tom", at: 620, 60)
        let window = try await desktop.windows(of: play, "the focus of Tom") {
          $0.count == 2 && $0[1].activationState == .foregroundActive
        }[1]
        #expect(window.configuration.name == "Cat Detail")
        try await desktop.place("Cats", at: 20, 20)
        try await desktop.windows(of: play, "the focus of the list") { $0.firstHasFocus }
        // Otherwise the next click would make a double click.
        try await desktop.pause()
        try await desktop.click(tom.x, tom.y)
        let again = try await desktop.windows(of: play, "the focus of Tom again") { $0.lastHasFocus }
        #expect(again.map(\.identifier) == [again[0].identifier, window.identifier])
        // The window's own button ends the session for good.
        try await desktop.click(660, 90)
        try await desktop.windows(of: play, "the end of Tom") { $0.count == 1 }
      }
    }

    @Test func `a cat that is dragged to the edge gets a window`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Cats", at: 20, 20)
        try await desktop.drag(from: kitty, to: (1000, 600))
        let windows = try await desktop.windows(of: play, "a window of Kitty") { $0.last?.title == "Kitty" }
        #expect(windows.last?.configuration.name == "Cat Detail")
        #expect(windows.last?.userActivity?.activityType == view)
        #expect(windows.last?.targetContentIdentifier == "Kitty")
        let kitty = try #require(windows.last).identifier
        let picture = try await awaited("a picture of the window") {
          try? await desktop.stagedoor.snapshot(of: kitty)
        }
        #expect(picture.type == "image/png")
        #expect(picture.picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        try await desktop.click(tom.x, tom.y)
        try await desktop.place("Kitty", at: 620, 40)
        try await desktop.place("Tom", at: 860, 240)
        try await desktop.picture("Cats/screenshot.png")
      }
    }

    @Test func `make run starts an application, and the service beside it, from a folder whatever its name`()
      async throws
    {
      try await Desktop.run { desktop in
        let built = URL(filePath: play.command(desktop.environment).program).deletingLastPathComponent()
        let folder = desktop.home.appending(path: "my programs & more")
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: built)
        let run = Command(
          "\(Desktop.package.path)/run", folder.path, "cats", "--headless", environment: desktop.environment)
        _ = try await run.whileRunning { running in try await running.line { $0 == "-- Cats --" } }
      }
    }

    @Test func `a program does not end while a call of a launcher has no answer`() async throws {
      try await Desktop.headless(play) { desktop, running in
        let service = try await desktop.serviceProcess()
        kill(service, SIGSTOP)
        try await desktop.action("close", of: play.identifier)
        try await running.line { $0 == "-- Cats is closed --" }
        async let launched: Void = desktop.launch(play.identifier)
        // The program would end after half of this.
        try await desktop.pause(1)
        kill(service, SIGCONT)
        try await launched
        try await running.line { $0 == "-- Cats --" }
      }
    }

    @Test func `the call of a launcher that meets a program at its end reaches the next one`() async throws {
      try await Desktop.run(play) { desktop in
        try await desktop.running(play, "--headless") { running in
          try await running.line { $0 == "-- Cats --" }
          try desktop.stagedoor.connection.send(
            to: try BusName(play.identifier), at: try Desktop.path(of: play.identifier), "org.freedesktop.Application",
            "ActivateAction", "quit", [Variant](), [String: Variant]())
          try await desktop.launch(play.identifier)
          #expect(try await running.ended().isSuccess)
          _ = try await desktop.window(titled: "Cats")
        }
        try await desktop.action("quit", of: play.identifier)
      }
    }

    @Test func `a detail window without its activity shows no cat in particular, and all hear of a meal`() async throws
    {
      try await Desktop.headless(play) { desktop, running in
        try await desktop.stagedoor.newSession(of: play.identifier, configuration: "Cat Detail")
        try await running.line { $0 == "-- No cat in particular --" }
        try await desktop.stagedoor.deliver(UserActivity(view, targetContentIdentifier: "Luna"))
        try await running.line { $0 == "-- Luna --" }
        try await running.line { $0 == "  not fed yet" }
        try await desktop.action("feed", of: play.identifier)
        try await running.line { $0 == "  fed once" }
      }
    }
  }
}
