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

    /// Waits until a picture with this name is the only one that was added to the gallery.
    private func waitForOnly(_ name: String, on desktop: Desktop) async throws {
      try await eventually("the picture in the gallery") {
        try desktop.files(of: gallery).map { $0.hasPrefix("\(name)-") } == [true]
      }
    }

    /// Makes a folder with a picture.
    private func pictures(on desktop: Desktop) throws -> URL {
      let folder = desktop.home.appending(path: "Pictures")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try FileManager.default.copyItem(at: Desktop.luna, to: folder.appending(path: "Luna.png"))
      return folder
    }

    @Test func `a cat's picture is dragged into the gallery`() async throws {
      try await Desktop.running(gallery, beside: [cats]) { desktop, _ in
        try await desktop.place("Gallery", at: 560, 120)
        try await desktop.running(cats) { _ in
          try await desktop.place("Cats", at: 20, 40)
          try await desktop.pause()
          try await desktop.drag(from: (150, 220), to: (900, 400), letGo: false)
          // The picture of the repository's README.
          try await desktop.picture("../../docs/drop.png", "1280x680+0+20")
          try await desktop.letGo()
          try await waitForOnly("Tom", on: desktop)
          #expect(try await desktop.sessions(of: cats).count == 1)
          #expect(try await desktop.sessions(of: gallery).count == 1)
        }
      }
    }

    @Test func `a picture of a file manager is dragged into the gallery`() async throws {
      try await Desktop.running(gallery) { desktop, _ in
        try await desktop.place("Gallery", at: 10, 40)
        try await desktop.showing(try pictures(on: desktop)) {
          try await desktop.drag(from: (910, 170), to: (300, 400), holding: 1)
          try await waitForOnly("Luna", on: desktop)
        }
      }
    }

    @Test func `a picture of a file manager is dragged onto the card of the gallery`() async throws {
      let expose = Play("Expose")
      try await Desktop.running(gallery, beside: [expose]) { desktop, _ in
        try await desktop.place("Gallery", at: 10, 250)
        try await desktop.running(expose) { _ in
          try await desktop.place("Exposé", at: 10, 40)
          try await desktop.showing(try pictures(on: desktop)) {
            try await desktop.drag(from: (910, 170), to: (160, 260), holding: 1)
            try await waitForOnly("Luna", on: desktop)
            try await desktop.windows(of: gallery, titled: "Luna")
          }
        }
      }
    }

    @Test func `a photo of the gallery is dragged into a file manager`() async throws {
      try await Desktop.running(gallery) { desktop, running in
        try await desktop.place("Gallery", at: 10, 40)
        let folder = desktop.home.appending(path: "Empty")
        try await desktop.showing(folder) {
          try await desktop.drag(from: (120, 190), to: (1050, 350), holding: 1)
          try await eventually("the file of the photo") { try desktop.names(in: folder) == ["Beach.jpg"] }
        }
        #expect(try await desktop.sessions(of: gallery).count == 1)
        // The copy for the file manager goes with the last window at the latest.
        #expect(try desktop.names(in: desktop.temporary).count == 1)
        try await running.end(with: SIGTERM)
        #expect(try desktop.names(in: desktop.temporary).isEmpty)
      }
    }
  }
}
