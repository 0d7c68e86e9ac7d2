import DBusTestSupport
import Foundation
import StagedoorKit
import Testing

extension StageTests {
  /// `stagedoor drag`, from a terminal.
  @Suite struct DragTests {
    private let gallery = Play("Gallery")

    @Test func `a file is dragged into the gallery, and the command ends`() async throws {
      try await Desktop.running(gallery) { desktop, _ in
        try await desktop.place("Gallery", at: 400, 40)
        let command = Command.built("stagedoor-drag", "--once", Desktop.luna.path, environment: desktop.environment)
        try await command.whileRunning { drag in
          try await desktop.place("Drag", at: 20, 40)
          try await desktop.pause()
          try await desktop.drag(from: (150, 125), to: (700, 400))
          #expect(try await drag.ended().isSuccess)
          drag.expectNoComplaints()
        }
        try await eventually("the picture in the gallery") {
          try desktop.files(of: gallery).map { $0.hasPrefix("Luna-") } == [true]
        }
      }
    }

    @Test func `a drag into a file manager copies the file, and nothing is left behind`() async throws {
      try await Desktop.run { desktop in
        let (file, folder) = (desktop.home.appending(path: "letter.txt"), desktop.home.appending(path: "Inbox"))
        try Data("Dear Tom".utf8).write(to: file)
        try await desktop.showing(folder) {
          try await Command.built("stagedoor-drag", file.path, environment: desktop.environment).whileRunning { drag in
            try await desktop.place("Drag", at: 20, 40)
            try await desktop.pause(2)
            try await desktop.drag(from: (150, 125), to: (1050, 350), holding: 1)
            try await eventually("the file") { try desktop.names(in: folder) == ["letter.txt"] }
            drag.expectNoComplaints()
          }
          #expect(try desktop.names(in: desktop.temporary).isEmpty)
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
