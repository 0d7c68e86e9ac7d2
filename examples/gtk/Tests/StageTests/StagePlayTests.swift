import DBus
import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import Testing

extension StageTests {
  /// The library itself, with a program made for it.
  @Suite struct StagePlayTests {
    /// Places in the window at (20, 20), or at (620, 20) of the second program.
    private let two = (x: 200, y: 110)
    private let one = (x: 200, y: 180)
    private let target = (x: 200, y: 250)
    private let rest = (x: 200, y: 320)
    private let odd = (x: 200, y: 390)

    private func program(_ name: String, on desktop: Desktop, _ arguments: String...) -> Command {
      var environment = desktop.environment
      environment["PLAY"] = name
      var command = Command.built("stage-play", environment: environment)
      command.arguments = arguments
      return command
    }

    /// Runs `body` with a program, whose window stands at (20, 20).
    private func alone(_ body: (Desktop, _ here: RunningCommand) async throws -> Void) async throws {
      try await Desktop.run { desktop in
        try await program("Here", on: desktop).whileRunning { here in
          try await desktop.place("Here", at: 20, 20)
          try await body(desktop, here)
          here.expectNoComplaints()
        }
      }
    }

    /// Runs `body` with two programs. The window of the second stands at (620, 20).
    private func beside(
      _ body: (Desktop, _ here: RunningCommand, _ there: RunningCommand) async throws -> Void
    ) async throws {
      try await alone { desktop, here in
        try await program("There", on: desktop).whileRunning { there in
          try await desktop.place("There", at: 620, 20)
          try await desktop.pause()
          try await body(desktop, here, there)
          there.expectNoComplaints()
        }
      }
    }

    @Test func `items are moved within a program, as the objects that they are`() async throws {
      try await alone { desktop, here in
        try await desktop.drag(from: two, to: target)
        try await here.line { $0 == #"dropped: ["one", "another"] ["one", "another"]"# }
        try await here.line { $0 == "ended: move" }
        try await desktop.drag(from: one, to: target)
        try await here.line { $0 == #"dropped: ["alone"] ["alone"]"# }
        try await here.line { $0 == "ended: copy" }
        try await desktop.drag(from: two, to: (900, 600))
        try await here.line { $0 == "out: 2" }
        try await here.line { $0 == "ended: cancel" }
        // Nothing happens, because nothing can be opened.
        try await desktop.drag(from: one, to: (900, 600))
        try await here.line { $0 == "ended: cancel" }
      }
    }

    @Test func `items go to another program with their data, and onto its whole window by way of the service`()
      async throws
    {
      try await beside { desktop, here, there in
        try await desktop.drag(from: two, to: (target.x + 600, target.y))
        try await there.line { $0 == #"dropped: ["one", "another"] ["foreign", "foreign"]"# }
        try await here.line { $0 == "ended: move" }
        try await desktop.drag(from: one, to: (target.x + 600, target.y))
        try await there.line { $0 == #"dropped: ["alone"] ["foreign"]"# }
        try await here.line { $0 == "ended: copy" }
        try await desktop.drag(from: one, to: (rest.x + 600, rest.y))
        try await there.line { $0 == "received: alone" }
        try await here.line { $0 == "ended: copy" }
      }
    }

    @Test func `a move that its target refuses is cancelled`() async throws {
      try await alone { desktop, here in
        try await desktop.drag(from: odd, to: target)
        try await here.line { $0.hasPrefix(#"dropped: ["unwanted"]"#) }
        #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
        try await program("There", on: desktop).whileRunning { there in
          try await desktop.place("There", at: 620, 20)
          try await desktop.pause()
          try await desktop.drag(from: odd, to: (target.x + 600, target.y))
          try await there.line { $0.hasPrefix(#"dropped: ["unwanted"]"#) }
          #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
          there.expectNoComplaints()
        }
      }
    }

    @Test func `the items of a widget that goes away while it is dragged still open a window`() async throws {
      try await alone { desktop, here in
        try await desktop.drag(from: odd, to: (900, 600), letGo: false)
        try await desktop.action("remove", of: "org.example.Here")
        try await here.line { $0 == "removed" }
        try await desktop.letGo()
        try await here.line { $0 == "shows: odd" }
      }
    }

    @Test func `Escape cancels a drag, and nothing comes of it`() async throws {
      try await alone { desktop, here in
        for place in [(900, 600), target, (900, 600)] {
          try await desktop.drag(from: odd, to: place, letGo: false)
          try await desktop.key("Escape")
          #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
          try await desktop.letGo()
          try await desktop.pause()
        }
        // The window gets Escape again.
        try await desktop.drag(from: one, to: target)
        #expect(try await here.line { !$0.isEmpty } == #"dropped: ["alone"] ["alone"]"#)
      }
    }

    @Test func `a drop that takes long shows its progress, and its user can cancel it`() async throws {
      try await beside { desktop, here, there in
        try await desktop.action("slow", of: "org.example.Here")
        for (name, left) in [("Here", 20), ("There", 620)] {
          try await desktop.place(name, at: left, 20)
          try await desktop.pause()
          let button = "60x30+\(left + 320)+80"
          let before = try await desktop.pixels(button)
          try await desktop.drag(from: one, to: (target.x + left - 20, target.y))
          try await eventually("the progress") { try await desktop.pixels(button) != before }
          try await desktop.click(left + 355, 95)
          #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
          try await eventually("the window as it was") { try await desktop.pixels(button) == before }
        }
        // Showing the progress must not have started a clock that ticks for ever.
        try await there.rests()
        try await here.rests()
      }
    }

    @Test func `a move onto a whole window goes through the service, and so does its refusal`() async throws {
      try await beside { desktop, here, there in
        try await desktop.drag(from: two, to: (rest.x + 600, rest.y))
        for text in ["one", "another"] { try await there.line { $0 == "received: \(text)" } }
        #expect(try await here.line { $0.hasPrefix("ended") } == "ended: move")
        try await desktop.drag(from: odd, to: (rest.x + 600, rest.y))
        #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
        // The target waits for the answer of the service too, and shows it.
        try await eventually("the message in the target") {
          try await desktop.action("message", of: "org.example.There")
          return try await there.line { $0.hasPrefix("message: ") } != "message: "
        }
      }
    }

    @Test func `a source that sends more than the application takes is cut off`() async throws {
      try await beside { desktop, here, there in
        try await desktop.action("large", of: "org.example.Here")
        try await desktop.action("strict", of: "org.example.There")
        try await desktop.drag(from: one, to: (target.x + 600, target.y))
        #expect(try await here.line { $0.hasPrefix("ended") } == "ended: cancel")
        try await desktop.action("message", of: "org.example.There")
        #expect(try await there.line { $0.hasPrefix("message: ") }.contains("more than 10000 bytes"))
      }
    }

    @Test func `the copies for other programs go with the window of a program without scenes`() async throws {
      try await Desktop.run { desktop in
        let folder = desktop.home.appending(path: "Inbox")
        try await desktop.showing(folder) {
          try await program("Tool", on: desktop).whileRunning { tool in
            try await desktop.place("Tool", at: 20, 40)
            try await desktop.pause()
            try await desktop.drag(from: (180, 180), to: (1050, 350), holding: 1)
            try await eventually("the file") { try desktop.names(in: folder) == ["alone.txt"] }
            // During the drag, GDK has the keyboard.
            try await tool.line { $0 == "ended: copy" }
            #expect(try desktop.names(in: desktop.temporary).count == 1)
            try await desktop.place("Tool", at: 20, 40)
            try await desktop.key("alt+F4")
            #expect(try await tool.ended().isSuccess)
          }
        }
        #expect(try desktop.names(in: desktop.temporary).isEmpty)
      }
    }

    @Test func `a receiver may redeem the ticket after the toolkit's drop is over`() async throws {
      try await beside { desktop, here, there in
        try await desktop.drag(from: one, to: (odd.x + 600, odd.y))
        try await there.line { $0 == "received: alone" }
        #expect(try await here.line { $0.hasPrefix("ended") } == "ended: copy")
      }
    }

    @Test func `a row that its own closure holds ends when its list has another row in its place`() async throws {
      try await alone { desktop, here in
        try await desktop.action("rows", of: "org.example.Here")
        #expect(try await here.line { $0.hasPrefix("rows") } == "rows: 3")
      }
    }

    @Test func `a delegate has its scene before it has content, and actions may be added before the start`()
      async throws
    {
      try await alone { desktop, here in
        #expect(try await here.line { $0.hasPrefix("scene") } == "scene: true")
        try await desktop.windows(of: "org.example.Here", "the focus") { $0.firstHasFocus }
        try await desktop.action("early", of: "org.example.Here")
        try await here.line { $0 == "early: org.example.Here" }
        let error = await #expect(throws: CallError.self) {
          try await desktop.action("early", of: "org.example.Here", .string("now"))
        }
        #expect(error?.errorReply.name == ErrorName("org.freedesktop.DBus.Error.InvalidArgs"))
      }
    }

    @Test func `a launcher opens a program that has no window, because the delivery that started it was refused`()
      async throws
    {
      try await Desktop.run { desktop in
        try await program("Back", on: desktop, "--headless").whileRunning { back in
          try await back.line { $0 == "-- Back --" }
          try await back.end(with: SIGTERM)
        }
        let delivery = try await desktop.stagedoor.deliver(UserActivity("org.example.Back.refuse"))
        try await program("Back", on: desktop, "--headless", "--gapplication-service").whileRunning { back in
          await #expect(throws: StagedoorError.self) { try await desktop.stagedoor.finished(delivery.identifier) }
          try await desktop.launch("org.example.Back")
          try await back.line { $0 == "-- Back --" }
        }
      }
    }

    @Test func `a word that is no option and no file is not opened`() async throws {
      try await Desktop.run { desktop in
        let help = try await program("Here", on: desktop, "--headless", "--help").run()
        #expect(help.status.isSuccess && help.standardOutput.hasPrefix("usage: "))
        let wrong = try await program("Here", on: desktop, "--headles").run()
        #expect(!wrong.status.isSuccess && wrong.standardError.contains("there is no option --headles"))
      }
    }

    @Test func `a second start hands its files to the first, and an error is shown in the window`() async throws {
      try await alone { desktop, here in
        let file = "\(desktop.environment["HOME"] ?? "")/letter.txt"
        try "Dear Tom".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try await program("Here", on: desktop, file).run().status.isSuccess)
        try await here.line { $0 == "received: Dear Tom in its place" }
        let before = try await desktop.pixels("400x60+20+70")
        try await desktop.key("ctrl+f")
        try await eventually("the message") { try await desktop.pixels("400x60+20+70") != before }
        // A window that refuses to close stays.
        try await desktop.key("ctrl+w")
        try await here.line { $0 == "closing" }
        _ = try await desktop.window(titled: "Here")
      }
    }
  }
}
