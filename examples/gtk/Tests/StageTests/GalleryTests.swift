import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import Testing

extension StageTests {
  /// The gallery, with real windows and hands.
  @Suite struct GalleryTests {
    private let play = Play("Gallery")
    private let openDetail = "org.stagedoor.examples.Gallery.openDetail"
    /// Photos in the window at (20, 20).
    private let beach = (x: 130, y: 170)
    private let mountains = (x: 350, y: 170)

    /// The name of an added picture's file ends with a digest.
    private func withoutDigest(_ name: String) -> String {
      "\(name.split(separator: "-").first ?? "").\(name.split(separator: ".").last ?? "")"
    }

    @Test func `a photo that is dragged to the edge gets a window, and the next drop of it finds that`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Gallery", at: 20, 20)
        try await desktop.drag(from: mountains, to: (1100, 700))
        // After this window has the focus, it cannot take the focus from another.
        let windows = try await desktop.windows(of: play, "the focus of a window of the photo") {
          $0.last?.title == "Mountains" && $0.lastHasFocus
        }
        try await desktop.place("Gallery", at: 20, 20)
        try await desktop.windows(of: play, "the focus of the gallery") { $0.firstHasFocus }
        // A drop from a shell has no token.
        let delivery = try await desktop.stagedoor.drop(openDetail, "photo-2")
        #expect(delivery.outcome == .activated)
        #expect(delivery.session == windows.last?.identifier)
        try await desktop.windows(of: play, "the focus of the photo") { $0.lastHasFocus }
        try await desktop.place("Mountains", at: 540, 220)
        try await desktop.picture("Gallery/screenshot.png")
      }
    }

    @Test func `a photo that is dragged to the edge is shown in its new window`() async throws {
      try await Desktop.running(play) { desktop, _ in
        /// Keeps what is below the bar of the window that shows this photo.
        func show(_ name: String) async throws -> String {
          try await desktop.windows(of: play, "the focus of the photo") {
            $0.contains { $0.title == "Mountains" && $0.activationState == .foregroundActive }
          }
          try await desktop.place("Mountains", at: 540, 220)
          try await desktop.pause(1)
          let file = desktop.home.appending(path: "\(name).png").path
          try await desktop.output("import", "-window", "root", "-crop", "660x440+560+270", "+repage", file)
          return file
        }
        try await desktop.place("Gallery", at: 20, 20)
        try await desktop.drag(from: mountains, to: (1100, 700))
        let dragged = try await show("dragged")
        try await desktop.key("ctrl+w")
        try await desktop.windows(of: play, titled: "Gallery")
        try await desktop.place("Gallery", at: 20, 20)
        try await desktop.click(mountains.x, mountains.y)
        let clicked = try await show("clicked")
        // The two pictures are drawn at different fractions of a pixel.
        let different = try await Command(
          "compare", "-metric", "AE", "-fuzz", "10%", dragged, clicked, "null:", environment: desktop.environment
        ).run().standardError
        #expect(Int(different).map { $0 < 1000 } == true, "\(different) pixels")
      }
    }

    /// The name of the second one is as long as that of a file may be.
    @Test(arguments: [("Tom", "Tom"), (String(repeating: "ä", count: 125), String(repeating: "ä", count: 100))])
    func `a picture from elsewhere gets a new window, which shows it`(name: String, title: String) async throws {
      try await Desktop.headless(play) { desktop, running in
        var provider = ItemProvider()
        provider.suggestedName = "\(name).png"
        provider.registerDataRepresentation(as: "image/png") { _ in Data("a cat".utf8) }
        var options = DeliveryOptions()
        (options.application, options.disposition) = (play.identifier, .new)
        try await desktop.stagedoor.deliver([DragItem(itemProvider: provider)], options)
        try await running.line { $0 == "-- \(title) --" }
        #expect(try desktop.files(of: play).map(withoutDigest) == ["\(title).png"])
      }
    }

    @Test func `a picture that is dropped onto the gallery is scrolled to, also one that is there already`()
      async throws
    {
      let cats = Play("Cats")
      try await Desktop.running(play, beside: [cats]) { desktop, _ in
        try await desktop.place("Gallery", at: 560, 120)
        // The first photo.
        let first = "150x100+610+210"
        try await desktop.running(cats) { _ in
          try await desktop.place("Cats", at: 20, 40)
          for _ in 1...2 {
            try await desktop.xdotool("mousemove", "900", "400", "click", "--repeat", "20", "4")
            try await desktop.pause(1)
            let before = try await desktop.pixels(first)
            try await desktop.drag(from: (150, 220), to: (900, 400))
            try await eventually("another part of the gallery") { try await desktop.pixels(first) != before }
            try await desktop.pause()
            #expect(try desktop.files(of: play).map(withoutDigest) == ["Tom.png"])
          }
        }
      }
    }

    @Test func `a window that showed a photo, and shows all of them again, is what it was`() async throws {
      let cats = Play("Cats")
      try await Desktop.running(play, beside: [cats]) { desktop, _ in
        try await desktop.place("Gallery", at: 560, 120)
        for (photo, x) in [("Beach", 670), ("Mountains", 890)] {
          try await desktop.click(x, 270)
          try await desktop.windows(of: play, titled: photo)
          try await desktop.pause()
          try await desktop.click(585, 145)
          try await desktop.windows(of: play, titled: "Gallery")
          try await desktop.pause()
        }
        try await desktop.running(cats) { _ in
          try await desktop.place("Cats", at: 20, 40)
          for (number, y) in [220, 470].enumerated() {
            try await desktop.pause()
            try await desktop.drag(from: (150, y), to: (900, 400))
            try await eventually("a picture in the gallery") { try desktop.files(of: play).count == number + 1 }
          }
          #expect(try await desktop.sessions(of: cats).count == 1)
        }
        try await desktop.place("Gallery", at: 560, 120)
        try await desktop.xdotool("mousemove", "900", "400", "click", "--repeat", "20", "4")
        try await desktop.pause()
        try await desktop.drag(from: (670, 270), to: (300, 700))
        try await desktop.windows(of: play, titled: "Gallery", "Beach")
      }
    }

    @Test func `the inspector of a photo opens above its window, and once`() async throws {
      try await Desktop.running(play) { desktop, _ in
        try await desktop.place("Gallery", at: 20, 20)
        for _ in 1...2 {
          try await desktop.click(beach.x, beach.y, button: 3)
          try await desktop.pause()
          try await desktop.click(beach.x + 40, beach.y + 22)
          try await desktop.windows(of: play, "the inspector") {
            $0.count == 2 && $0[1].activationState == .foregroundActive
          }
          let inspector = try await desktop.window(titled: "Inspector")
          #expect(try await desktop.output("xprop", "-id", inspector, "WM_TRANSIENT_FOR").contains("window id"))
          try await desktop.place("Gallery", at: 20, 20)
        }
        let sessions = try await desktop.sessions(of: play)
        #expect(sessions.map(\.configuration.name) == ["Default Configuration", "Inspector Configuration"])
      }
    }

    @Test func `windows are restored after a restart, and one says that its photo is gone`() async throws {
      try await Desktop.run(play) { desktop in
        try await desktop.running(play, "--headless") { running in
          try await running.line { $0 == "-- Gallery --" }
          try await desktop.stagedoor.drop(openDetail, "photo-7")
          try await desktop.stagedoor.drop(openDetail, "photo-70")
          try await running.line { $0 == "! Gallery: There is no photo photo-70 any more." }
          try await desktop.windows(of: play, titled: "Gallery", "Gallery", "Palm")
          try await running.end(with: SIGTERM)
        }
        try await desktop.running(play, "--headless") { _ in
          try await desktop.windows(of: play, titled: "Gallery", "Gallery", "Palm")
        }
      }
    }

    @Test func `pictures are kept as what they are, and never in the place of another`() async throws {
      try await Desktop.run(play) { desktop in
        let folder = try desktop.data(of: play)
        for number in [1, 2] { try Data("\(number)".utf8).write(to: folder.appending(path: "Tom-\(number).png")) }
        func drop(_ pictures: (type: String, bytes: String)...) async throws {
          var provider = ItemProvider()
          provider.suggestedName = "Tom.jpg"
          for picture in pictures { provider.registerData(Data(picture.bytes.utf8), as: picture.type) }
          var options = DeliveryOptions()
          (options.session, options.wait) = (try await desktop.sessions(of: play)[0].identifier, .handled)
          try await desktop.stagedoor.deliver([DragItem(itemProvider: provider)], options)
        }
        /// The names of the files, and their contents.
        @Sendable func kept() throws -> [String] {
          // A hidden file is one that is being written.
          try desktop.names(in: folder).filter { !$0.hasPrefix(".") }.map {
            "\(withoutDigest($0)) \(try String(contentsOf: folder.appending(path: $0), encoding: .utf8))"
          }.sorted()
        }
        try await desktop.running(play, "--headless") { running in
          try await running.line { $0 == "-- Gallery --" }
          try FileManager.default.removeItem(at: folder.appending(path: "Tom-1.png"))
          try await drop(("image/jpeg", "jpeg"), ("image/png", "png"))
          try await eventually("the first picture") { try kept() == ["Tom.png 2", "Tom.png png"] }
          try await drop(("image/webp", "webp"))
          try await eventually("the second picture") { try kept() == ["Tom.png 2", "Tom.png png", "Tom.webp webp"] }
        }
      }
    }

    @Test func `an empty folder for data counts as none, and nobody else may read the photos`() async throws {
      try await Desktop.run(play) { desktop in
        var environment = desktop.environment
        environment["XDG_DATA_HOME"] = ""
        _ = try await play.command(environment, ["--headless"]).whileRunning { running in
          try await running.line { $0 == "-- Gallery --" }
        }
        let folder = desktop.home.appending(path: ".local/share/\(play.identifier)").path
        #expect(try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int == 0o700)
      }
    }

    @Test func `no photo is read to find out whether the gallery has a picture`() async throws {
      try await Desktop.run(play) { desktop in
        let folder = try desktop.data(of: play)
        // A pipe without a writer, as a file of a server that does not answer.
        #expect(mkfifo(folder.appending(path: "Never-0000000000000000.png").path, 0o600) == 0)
        try await desktop.running(play) { _ in
          try await desktop.place("Gallery", at: 20, 20)
          try await desktop.stagedoor.drop([Desktop.luna])
          try await desktop.windows(of: play, titled: "Gallery", "Luna")
          #expect(try desktop.files(of: play).map(withoutDigest).sorted() == ["Luna.png", "Never.png"])
        }
      }
    }
  }
}
