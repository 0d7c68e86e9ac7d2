import DBusTestSupport
import DaemonTestSupport
import Foundation
import Testing

/// `stagedoor open --make-default`, with the desktop files of a home of its own.
@Suite struct DefaultHandlerTests {
  /// A house with our handler, an editor for text, and a terminal program for text.
  private nonisolated(nonsending) func withApplications(
    _ body: nonisolated(nonsending) (House) async throws -> Void
  ) async throws {
    try await withHouse { house async throws in
      let template = try String(contentsOfFile: "\(Repository.path)/desktop/stagedoor-open.desktop.in", encoding: .utf8)
      let places = "\(house.home)/data/applications"
      try house.write(
        template.replacing("@bindir@", with: Command.builtFolder), to: "\(places)/stagedoor-open.desktop")
      try house.write(
        """
        [Desktop Entry]
        Type=Application
        Name=Editor
        Exec=\(house.home)/bin/editor --new %f
        MimeType=text/plain;text/x-python;x-scheme-handler/mailto;inode/directory;application/zip;
        """, to: "\(places)/editor.desktop")
      try house.write(
        "[Desktop Entry]\nType=Application\nName=Lines\nExec=sh %f\nTerminal=true\nMimeType=text/css;\n",
        to: "\(places)/lines.desktop")
      for program in ["editor", "xdg-open"] {
        try house.writeProgram(
          "\(house.home)/bin/\(program)",
          "exec >/dev/null 2>&1\nprintf '%s\\n' \"${0##*/}\" \"$@\" >'\(house.home)/opened'")
      }
      try await body(house)
    }
  }

  private func open(_ house: House, _ arguments: String..., more: [String: String] = [:]) -> Command {
    var command = house.stagedoor(["open"] + arguments)
    command.lookFirst(in: "\(house.home)/bin")
    command.environment["XDG_DATA_DIRS"] = "\(house.home)/none"
    command.environment["XDG_CURRENT_DESKTOP"] = nil
    command.environment.merge(more) { $1 }
    return command
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func `the handler comes before the person's choices, through a link, and goes without a trace`() async throws {
    try await withApplications { house async throws in
      let (list, real) = ("\(house.home)/config/mimeapps.list", "\(house.home)/dotfiles/list")
      let before = "# mine\r\n[Default Applications]\r\ntext/plain=editor.desktop\r\nimage/png=other.desktop\r\n"
      try house.write(before, to: real)
      _ = try await house.command("ln", "-s", "../dotfiles/list", list).output()
      _ = try await house.command("chmod", "600", real).output()
      let made = try await open(house, "--make-default").run()
      #expect(made.status.isSuccess, "\(made)")
      let after = try text(list)
      #expect(after.contains("\r\ntext/plain=stagedoor-open.desktop;editor.desktop\r\n"))
      #expect(after.contains("\r\ntext/x-python=stagedoor-open.desktop;\r\n"))
      for type in ["text/css=", "x-scheme-handler/mailto=", "inode/directory=", "application/zip="] {
        #expect(!after.contains(type), "\(after)")
      }
      let again = try await open(house, "--make-default").run()
      #expect(again.status.isSuccess && again.standardError.contains("stays as it is"), "\(again)")
      #expect(try text(list) == after)
      let undone = try await open(house, "--undo-default").run()
      #expect(undone.status.isSuccess, "\(undone)")
      #expect(try text(real) == before)
      #expect(try await house.command("stat", "-c", "%F %a", list, real).output().contains("symbolic link"))
      #expect(try await house.command("stat", "-c", "%a", real).output() == "600")
      #expect(try FileManager.default.contentsOfDirectory(atPath: "\(house.home)/dotfiles") == ["list"])
    }
  }

  @Test func `a list that was not there is not there afterwards`() async throws {
    try await withApplications { house async throws in
      let list = "\(house.home)/config/mimeapps.list"
      let made = try await open(house, "--make-default", "--json").run()
      #expect(made.status.isSuccess && made.standardOutput.contains("text/x-python"), "\(made)")
      #expect(try text(list).contains("text/plain=stagedoor-open.desktop;"))
      #expect(try await open(house, "--undo-default").run().status.isSuccess)
      #expect(!FileManager.default.fileExists(atPath: list))
      let again = try await open(house, "--undo-default").run()
      #expect(again.status.isSuccess && again.standardError.contains("no default"), "\(again)")
    }
  }

  /// xdg-open would start this command again, for ever.
  @Test func `without an understudy the second choice opens the file, and xdg-open is not asked`() async throws {
    try await withApplications { house async throws in
      #expect(try await open(house, "--make-default").run().status.isSuccess)
      try house.write("one", to: "\(house.home)/a b.txt")
      let opened = "\(house.home)/opened"
      _ = try await house.command("mkfifo", opened).output()
      let result = try await open(house, "\(house.home)/a b.txt").run()
      #expect(result.status.isSuccess && result.standardError.contains("Editor opens the file"), "\(result)")
      // A pipe has a reader and a writer, so nobody waits in vain.
      let words = try await house.command("timeout", "60", "cat", opened).output()
      #expect(words == "editor\n--new\n\(house.home)/a b.txt")
    }
  }

  @Test func `a choice that needs a terminal is not started without one`() async throws {
    try await withApplications { house async throws in
      try house.write(
        "[Default Applications]\ntext/plain=lines.desktop\n", to: "\(house.home)/config/mimeapps.list")
      #expect(try await open(house, "--make-default").run().status.isSuccess)
      try house.write("one", to: "\(house.home)/a.txt")
      let result = try await open(house, "\(house.home)/a.txt").run()
      #expect(result.status == .exited(6), "\(result)")
      #expect(result.standardError == "stagedoor open: Lines needs a terminal, which nothing here opens\n")
    }
  }

  @Test func `a choice that has no effect is said`() async throws {
    try await withApplications { house async throws in
      try house.write(
        "[Default Applications]\ntext/plain=x.desktop\n", to: "\(house.home)/config/gnome-mimeapps.list")
      let desktop = ["XDG_CURRENT_DESKTOP": "GNOME", "XDG_SESSION_TYPE": "wayland"]
      let made = try await open(house, "--make-default", more: desktop).run()
      #expect(made.status.isSuccess, "\(made)")
      #expect(made.standardError.contains("gnome-mimeapps.list comes first, and names other applications for 1 of"))
      #expect(made.standardError.contains("in GNOME on Wayland no program may list or raise windows"))
      var doctor = house.stagedoor("doctor")
      doctor.environment.merge(desktop) { $1 }
      #expect(
        try await doctor.run().standardOutput.contains("in GNOME on Wayland no program may list or raise windows"))
      _ = try await house.command("rm", "\(house.home)/data/applications/stagedoor-open.desktop").output()
      let missing = try await open(house, "--make-default").run()
      #expect(missing.status == .exited(1) && missing.standardError.contains("stagedoor-open.desktop"), "\(missing)")
    }
  }
}
