import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import Testing

extension StageTests {
  /// Drags between two programs, of this package or others.
  @Suite struct BetweenTests {
    private let cats = Play("Cats")
    private let gallery = Play("Gallery")

    /// The pictures that were added to the gallery.
    private func added(_ desktop: Desktop) throws -> [String] {
      let folder = "\(desktop.environment["XDG_DATA_HOME"] ?? "")/\(gallery.identifier)"
      return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// Runs `body` while a file manager shows a folder in a window at (700, 40).
    nonisolated(nonsending) private func showing(
      _ folder: URL, on desktop: Desktop, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let manager = Command("pcmanfm", "--no-desktop", folder.path, environment: desktop.environment)
      try await manager.whileRunning { _ in
        let window = try await desktop.window(titled: folder.lastPathComponent)
        try await desktop.xdotool("windowsize", "--sync", window, "540", "420")
        try await desktop.xdotool("windowmove", "--sync", window, "700", "40")
        try await desktop.pause(2)
        try await body()
      }
    }

    @Test func `a cat's picture is dragged into the gallery`() async throws {
      try await Desktop.run { desktop in
        for play in [cats, gallery] { try await desktop.install(play) }
        try await desktop.running(gallery) { _ in
          try await desktop.place("Gallery", at: 560, 120)
          try await desktop.running(cats) { _ in
            try await desktop.place("Cats", at: 20, 40)
            try await desktop.pause()
            try await desktop.drag(from: (150, 220), to: (900, 400), letGo: false)
            // The picture of the repository's README.
            try await desktop.picture("../../docs/drop.png", "1280x680+0+20")
            try await desktop.letGo()
            try await eventually("the picture in the gallery") {
              try added(desktop).map { $0.hasPrefix("Tom-") } == [true]
            }
            #expect(try await desktop.sessions(of: cats).count == 1)
            #expect(try await desktop.sessions(of: gallery).count == 1)
          }
        }
      }
    }

    @Test func `a picture of a file manager is dragged into the gallery`() async throws {
      try await Desktop.run { desktop in
        try await desktop.install(gallery)
        let folder = URL(filePath: "\(desktop.environment["HOME"] ?? "")/Pictures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
          at: Desktop.package.appending(path: "Cats/Pictures/Luna.png"), to: folder.appending(path: "Luna.png"))
        try await desktop.running(gallery) { _ in
          try await desktop.place("Gallery", at: 10, 40)
          try await showing(folder, on: desktop) {

            try await desktop.drag(from: (910, 170), to: (300, 400), holding: 1)
            try await eventually("the picture in the gallery") {
              try added(desktop).map { $0.hasPrefix("Luna-") } == [true]
            }
          }
        }
      }
    }

    @Test func `a picture of a file manager is dragged onto the card of the gallery`() async throws {
      try await Desktop.run { desktop in
        let expose = Play("Expose")
        for play in [expose, gallery] { try await desktop.install(play) }
        let folder = URL(filePath: "\(desktop.environment["HOME"] ?? "")/Pictures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
          at: Desktop.package.appending(path: "Cats/Pictures/Luna.png"), to: folder.appending(path: "Luna.png"))
        try await desktop.running(gallery) { _ in
          try await desktop.place("Gallery", at: 10, 250)
          try await desktop.running(expose) { _ in
            try await desktop.place("Exposé", at: 10, 40)
            try await showing(folder, on: desktop) {
              try await desktop.drag(from: (910, 170), to: (160, 260), holding: 1)
              try await eventually("the picture in the gallery") {
                try added(desktop).map { $0.hasPrefix("Luna-") } == [true]
              }
              try await desktop.windows(of: gallery, titled: "Luna")
            }
          }
        }
      }
    }

    @Test func `a photo of the gallery is dragged into a file manager`() async throws {
      try await Desktop.run { desktop in
        try await desktop.install(gallery)
        let folder = URL(filePath: "\(desktop.environment["HOME"] ?? "")/Empty")
        @Sendable func copies() throws -> [String] {
          try FileManager.default.contentsOfDirectory(atPath: desktop.environment["TMPDIR"] ?? "")
        }
        try await desktop.running(gallery) { running in
          try await desktop.place("Gallery", at: 10, 40)
          try await showing(folder, on: desktop) {
            try await desktop.drag(from: (120, 190), to: (1050, 350), holding: 1)
            try await eventually("the file of the photo") {
              try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Beach.jpg"]
            }
          }
          #expect(try await desktop.sessions(of: gallery).count == 1)
          // The copy for the file manager goes with the last window at the latest.
          #expect(try copies().count == 1)
          running.signal(SIGTERM)
          try await running.ended()
          #expect(try copies().isEmpty)
        }
      }
    }
  }
}
