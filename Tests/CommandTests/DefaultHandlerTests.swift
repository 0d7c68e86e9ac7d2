import DBusTestSupport
import DaemonTestSupport
import Foundation
import Testing

/// `stagedoor open --make-default`, with the desktop files of a home of its own.
@Suite(.house) struct DefaultHandlerTests {
  /// Our handler, an editor for text, and a terminal program for style sheets.
  init() throws {
    let template = try Repository.text(of: "desktop/stagedoor-open.desktop.in")
    let places = "\(house.home)/data/applications"
    try house.write(template.replacing("@bindir@", with: Command.builtFolder), to: "\(places)/stagedoor-open.desktop")
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
  }

  private func open(_ arguments: String..., more: [String: String] = [:]) -> Command {
    var command = house.stagedoor(["open"] + arguments)
    command.lookFirst(in: "\(house.home)/bin")
    command.environment["XDG_DATA_DIRS"] = "\(house.home)/none"
    command.environment["XDG_CURRENT_DESKTOP"] = nil
    command.environment.merge(more) { $1 }
    return command
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func `the handler comes before the person's choices, through a link, and goes without a trace`() async throws {
    let (list, real) = ("\(house.home)/config/mimeapps.list", "\(house.home)/dotfiles/list")
    let before = "# mine\r\n[Default Applications]\r\ntext/plain=editor.desktop\r\nimage/png=other.desktop\r\n"
    try house.write(before, to: real)
    _ = try await house.shell("ln -s ../dotfiles/list '\(list)' && chmod 600 '\(real)'").output()
    try await open("--make-default").expect(ends: 0)
    let after = try text(list)
    #expect(after.contains("\r\ntext/plain=stagedoor-open.desktop;editor.desktop\r\n"))
    #expect(after.contains("\r\ntext/x-python=stagedoor-open.desktop;\r\n"))
    for type in ["text/css=", "x-scheme-handler/mailto=", "inode/directory=", "application/zip="] {
      #expect(!after.contains(type), "\(after)")
    }
    try await open("--make-default").expect(ends: 0, with: "stays as it is")
    #expect(try text(list) == after)
    try await open("--undo-default").expect(ends: 0)
    #expect(try text(real) == before)
    #expect(try await house.command("stat", "-c", "%F %a", list).output().hasPrefix("symbolic link"))
    #expect(try await house.command("stat", "-c", "%a", real).output() == "600")
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(house.home)/dotfiles") == ["list"])
  }

  @Test func `a list that was not there is not there afterwards`() async throws {
    let list = "\(house.home)/config/mimeapps.list"
    try await open("--make-default", "--json").expect(ends: 0, output: "text/x-python")
    #expect(try text(list).contains("text/plain=stagedoor-open.desktop;"))
    try await open("--undo-default").expect(ends: 0)
    #expect(!FileManager.default.fileExists(atPath: list))
    try await open("--undo-default").expect(ends: 0, with: "no default")
  }

  /// xdg-open would start this command again, for ever.
  @Test func `without an understudy the second choice opens the file, and xdg-open is not asked`() async throws {
    try await open("--make-default").expect(ends: 0)
    try house.write("one", to: "\(house.home)/a b.txt")
    let opened = "\(house.home)/opened"
    _ = try await house.command("mkfifo", opened).output()
    try await open("\(house.home)/a b.txt").expect(ends: 0, with: "Editor opens the file")
    // A pipe has a reader and a writer, so nobody waits in vain.
    let words = try await house.command("timeout", "60", "cat", opened).output()
    #expect(words == "editor\n--new\n\(house.home)/a b.txt")
  }

  @Test func `where nothing opens the type of a name, the desktop is asked for that of the content`() async throws {
    try await open("--make-default").expect(ends: 0)
    try house.write("\0film", to: "\(house.home)/film")
    try await open("film").expect(ends: 6, with: "no other application opens application/octet-stream")
    try house.writeProgram(
      "\(house.home)/bin/xdg-mime", "[ \"$*\" = 'query filetype \(house.home)/film' ] && echo text/plain")
    try await open("film").expect(ends: 0, with: "Editor opens the file")
  }

  @Test func `a choice that needs a terminal stays the first, and is not started without one`() async throws {
    let list = "\(house.home)/config/mimeapps.list"
    try house.write("[Default Applications]\ntext/plain=lines.desktop\n", to: list)
    try await open("--make-default").expect(ends: 0)
    #expect(try text(list).contains("\ntext/plain=lines.desktop\n"))
    try house.write("one", to: "\(house.home)/a.txt")
    try await open("a.txt").expect(ends: 6, "Lines needs a terminal, which nothing here opens")
  }

  @Test func `a choice that has no effect is said`() async throws {
    try house.write("[Default Applications]\ntext/plain=x.desktop\n", to: "\(house.home)/config/gnome-mimeapps.list")
    let desktop = ["XDG_CURRENT_DESKTOP": "GNOME", "XDG_SESSION_TYPE": "wayland"]
    let powerless = "in GNOME on Wayland no program may list or raise windows"
    let made = try await open("--make-default", more: desktop).expect(ends: 0, with: powerless)
    #expect(made.standardError.contains("gnome-mimeapps.list comes first, and names other applications for 1 of"))
    var doctor = house.stagedoor("doctor")
    doctor.environment.merge(desktop) { $1 }
    #expect(try await doctor.run().standardOutput.contains(powerless))
    try FileManager.default.removeItem(atPath: "\(house.home)/data/applications/stagedoor-open.desktop")
    try await open("--make-default").expect(ends: 1, with: "stagedoor-open.desktop")
  }
}
