import DBusTestSupport
import Foundation
import StagedoorKit
import Testing

extension StageTests {
  /// `stagedoor drag`, from a terminal.
  @Suite struct DragTests {
    private let gallery = Play("Gallery")

    @Test func `a file is dragged into the gallery, and the command ends`() async throws {
      try await Desktop.run { desktop in
        try await desktop.install(gallery)
        let picture = Desktop.package.appending(path: "Cats/Pictures/Luna.png").path
        try await desktop.running(gallery) { _ in
          try await desktop.place("Gallery", at: 400, 40)
          try await Command.built("stagedoor-drag", "--once", picture, environment: desktop.environment).whileRunning {
            drag in
            try await desktop.place("Drag", at: 20, 40)
            try await desktop.pause()
            try await desktop.drag(from: (150, 125), to: (700, 400))
            #expect(try await drag.ended().isSuccess)
            drag.expectNoComplaints()
          }
          try await eventually("the picture in the gallery") {
            let folder = "\(desktop.environment["XDG_DATA_HOME"] ?? "")/\(gallery.identifier)"
            return try FileManager.default.contentsOfDirectory(atPath: folder).map { $0.hasPrefix("Luna-") } == [true]
          }
        }
      }
    }

    @Test func `a drag into a file manager copies the file, and nothing is left behind`() async throws {
      try await Desktop.run { desktop in
        let home = URL(filePath: desktop.environment["HOME"] ?? "")
        let (file, folder) = (home.appending(path: "letter.txt"), home.appending(path: "Inbox"))
        try Data("Dear Tom".utf8).write(to: file)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try await Command("pcmanfm", "--no-desktop", folder.path, environment: desktop.environment).whileRunning { _ in
          let window = try await desktop.window(titled: "Inbox")
          try await desktop.xdotool("windowsize", "--sync", window, "540", "420")
          try await desktop.xdotool("windowmove", "--sync", window, "700", "40")
          try await Command.built("stagedoor-drag", file.path, environment: desktop.environment).whileRunning { drag in
            try await desktop.place("Drag", at: 20, 40)
            try await desktop.pause(2)
            try await desktop.drag(from: (150, 125), to: (1050, 350), holding: 1)
            try await eventually("the file") {
              try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["letter.txt"]
            }
            drag.expectNoComplaints()
          }
          #expect(try FileManager.default.contentsOfDirectory(atPath: desktop.environment["TMPDIR"] ?? "").isEmpty)
          #expect(FileManager.default.fileExists(atPath: file.path))
        }
      }
    }

    @Test func `a file that does not exist, and no file, are refused with a sentence`() async throws {
      try await Desktop.run { desktop in
        let missing = try await Command.built("stagedoor-drag", "/nowhere", environment: desktop.environment).run()
        #expect(missing.status == .exited(2) && missing.standardError.contains("there is no file /nowhere"))
        let none = try await Command.built("stagedoor-drag", environment: desktop.environment).run()
        #expect(none.status == .exited(2) && none.standardError.contains("usage: stagedoor drag"))
      }
    }
  }
}
