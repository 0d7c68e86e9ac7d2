import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// The scripts of `examples`, unchanged, with the command on the `PATH`.
@Suite struct ExampleScriptTests {
  @Test(.gallery) func `a file is opened in its window, or in a new one`() async throws {
    try house.write("sea", to: "\(house.home)/a.txt")
    try house.write("sand", to: "\(house.home)/b.txt")
    let open = house.script("shell/open-in-window", "\(house.home)/a.txt", "\(house.home)/b.txt")
    #expect(try await open.output().split(separator: "\n").map { $0.prefix(7) } == ["created", "created"])
    #expect(try await open.output().split(separator: "\n").map { $0.prefix(9) } == ["activated", "activated"])
    let new = house.script("shell/open-in-window", "--new", "\(house.home)/a.txt")
    #expect(try await new.output().hasPrefix("created"))
    try await house.script("shell/open-in-window").expect(ends: 2)
    try await house.script("shell/open-in-window", "/no/such").expect(ends: 1)
  }

  @Test(.gallery) func `a selection becomes a note`() async throws {
    var command = house.script("shell/note-selection", "Sunday")
    command.input = "a beach"
    command.environment["NOTES_TYPE"] = House.openDetail
    #expect(try await command.output().hasPrefix("created"))
    #expect(try await command.output().hasPrefix("activated"))
  }

  @Test(.gallery, arguments: [("WAYLAND_DISPLAY", "wl-paste", "wl-clipboard"), ("DISPLAY", "xclip", "it")])
  func `the selection is read with the program of the display, and its absence is told of`(
    variable: String, program: String, package: String
  ) async throws {
    var command = house.script("shell/note-selection", "Sunday")
    try house.leave("cat", "date", for: &command)
    command.environment["NOTES_TYPE"] = House.openDetail
    command.environment[variable] = "display-1"
    let without = try await command.expect(ends: 1)
    let sentences = [
      "the selection needs \(program): install \(package)", "nothing is selected, and standard input is empty",
    ]
    #expect(without.standardError == sentences.map { "note-selection: \($0)\n" }.joined(), "\(without)")
    try house.standIn(program, "printf 'a beach'", for: &command)
    #expect(try await command.output().hasPrefix("created"))
  }

  private static let rules = """
    rule at-line
      when text matches '(?<path>[^:]+):(?<line>.+)'
      when file '{path}' exists
      then activity 'org.stagedoor.openFile' key 'file://{file}'
      then file '{file}'
      then info line '{line}'
    rule manual-page
      when text matches '(?<name>[\\w.+-]+)\\((?<section>[0-9][a-z]*)\\)'
      then activity 'org.example.Manual.show' key '{name}({section})'

    """

  private func withRules(_ body: () async throws -> Void) async throws {
    try house.write(Self.rules, to: "\(house.rules)/mine.rules")
    try house.write("int main;", to: "\(house.home)/src/main.c")
    try await house.serving { _ in try await body() }
  }

  @Test(.house, arguments: ["gvim", "emacs", "vim"])
  func `a text lands on its line in an editor, and runs nothing there`(editor: String) async throws {
    try await withRules {
      var host = house.script("shell/editor-host", editor)
      host.environment["DISPLAY"] = ":1"
      let log = "\(house.home)/log"
      for program in ["gvim", "emacsclient", "xterm", "vim"] {
        try house.standIn(program, "echo \(program) \"$@\" >>'\(log)'", for: &host)
      }
      try await host.whileRunning { _ in
        try await house.hosts("Editor")
        for text in ["main.c:42", "main.c:!touch pwned"] {
          let drop = house.stagedoor("drop", "--wait", "handled", "--dir", "\(house.home)/src", "--text", text)
          // A disk that is busy for 50 ms has no such file.
          try await eventually("the drop") { try await drop.run().status.isSuccess }
        }
        @Sendable func lines() -> [Substring] {
          ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n")
        }
        try await eventually("the editors") { lines().count >= 2 }
        // The second may be quicker.
        let lines = lines()
        #expect(lines.contains { $0.hasSuffix("+42 \(house.home)/src/main.c") }, "\(lines)")
        #expect(lines.contains { $0.contains("+1 \(house.home)/src/main.c") }, "\(lines)")
      }
    }
  }

  @Test(.house) func `an editor that is missing is named`() async throws {
    var host = house.script("shell/editor-host", "gvim")
    try house.leave("sh", for: &host)
    try await host.expect(ends: 1, with: "editor-host: gvim is not installed\n")
  }

  @Test(.house) func `a page of the manual has one window`() async throws {
    try await withRules {
      var host = house.script("shell/manual-host")
      let log = "\(house.home)/log"
      host.environment["XDG_RUNTIME_DIR"] = house.home
      host.environment["WINDOWID"] = "4711"
      // The terminal runs its command, and the page is read until the host ends.
      try house.standIn("xterm", "shift 3; exec \"$@\"", for: &host)
      try house.standIn("man", "echo man \"$@\" >>'\(log)'; exec sleep 20", for: &host)
      try house.standIn("xdotool", "echo xdotool \"$@\" >>'\(log)'", for: &host)
      try await host.whileRunning { _ in
        try await house.hosts("Manual")
        for outcome in ["created", "activated"] {
          let drop = house.stagedoor("drop", "--wait", "handled", "--text", "ls(1)", "--print", "outcome")
          #expect(try await drop.output() == outcome)
          try await eventually("the page") { FileManager.default.fileExists(atPath: log) }
        }
        try await eventually("both") {
          try String(contentsOfFile: log, encoding: .utf8) == "man -- ls(1)\nxdotool windowactivate 4711\n"
        }
      }
    }
  }

  @Test(.house) func `a selection is dropped by the rules, with the directory of the focused terminal`() async throws {
    try await withRules {
      var command = house.script("shell/drop-selection")
      try house.leave("cat", "readlink", for: &command)
      #expect(try await command.run().standardError == "drop-selection: there is no display, and so no selection\n")
      command.environment["DISPLAY"] = ":1"
      #expect(try await command.run().standardError == "drop-selection: the selection needs xclip: install it\n")
      try house.standIn("xclip", "exit 1", for: &command)
      #expect(try await command.run().standardError == "drop-selection: nothing is selected\n")
      try house.standIn("xclip", "printf main.c:42", for: &command)
      let manifest = Manifests.application(
        "org.example.Editor", types: "org.stagedoor.openFile", configurations: Manifests.configuration("File"))
      try await said("install-manifest", "-", input: manifest)
      var terminal = house.command("sleep", "60")
      terminal.directory = "\(house.home)/src"
      try await terminal.whileRunning { terminal in
        try house.standIn("xdotool", "echo \(terminal.processIdentifier)", for: &command)
        let result = try await command.run()
        #expect(result.status.isSuccess && result.standardError == "", "\(result)")
      }
      #expect(try await said("sessions").contains("file://\(house.home)/src/main.c"))
      try house.standIn("xdotool", "exit 1", for: &command)
      try await command.expect(ends: 1, with: "drop-selection: ")
    }
  }

  @Test(.gallery) func `where nothing can show a menu, picking says what to install`() async throws {
    try await house.drop(photo: "photo-7")
    var command = house.script("shell/pick-window")
    try await command.expect(
      ends: 1, with: "pick-window: install fuzzel, rofi, fzf or zenity, or name a command in PICKER\n")
    for (variable, program) in [("WAYLAND_DISPLAY", "fuzzel"), ("DISPLAY", "rofi"), ("DISPLAY", "zenity")] {
      command = house.script("shell/pick-window")
      command.environment[variable] = "display-1"
      try house.standIn(program, "head -n 1", for: &command)
      #expect(try await command.output().hasPrefix("activated\t"), "\(program)")
      try FileManager.default.removeItem(atPath: "\(house.home)/bin/\(program)")
    }
  }

  @Test(.gallery) func `without a service for notifications each new window is a line`() async throws {
    var script = house.script("shell/notify-windows", "0")
    try house.standIn("notify-send", "echo no service >&2; exit 1", for: &script)
    try await script.whileRunning { watching async throws in
      for photo in ["photo-7", "photo-8"] {
        // The second drop comes to the same window.
        for _ in 0..<2 { try await house.drop(photo: photo) }
        #expect(try await watching.nextLine() == "\(House.gallery): a new window: \(House.openDetail) \(photo)")
      }
    }
  }

  @Test(.house) func `the watcher in Python goes on where events are gone`() async throws {
    let watch = house.script("python/watch")
    try await watch.whileRunning { watching async throws in
      for photo in ["photo-7", "photo-8"] {
        // Each service begins with event 1, and the watcher knows a later one.
        try await house.serving("--durability", "memory") { _ async throws in
          try await house.registerGallery()
          for _ in 0..<(photo == "photo-7" ? 3 : 1) { try await house.drop(photo: photo) }
          try await watching.line { $0.contains(" Routed ") && $0.contains(photo) }
        }
        try await house.gone()
      }
      #expect(watching.standardError.contains("watch: some events are gone\n"), "\(watching.standardError)")
    }
  }

  @Test(.gallery) func `a window that is picked comes to the front`() async throws {
    let photo = try await house.drop(photo: "photo-7")
    try await house.drop(photo: "photo-8")
    var command = house.script("shell/pick-window", "Gallery")
    command.environment["PICKER"] = "grep photo-7"
    #expect(try await command.output().contains(photo.session))
    command.environment["PICKER"] = "false"
    #expect(try await command.run().status == .exited(0))
    // The user picks nothing, so nothing comes to the front.
    command.environment["PICKER"] = "true"
    #expect(try await command.output() == "")
    var nobody = house.script("shell/pick-window", "org.nobody.App")
    nobody.environment["PICKER"] = "head -n 1"
    let result = try await nobody.expect(ends: 4, with: "stagedoor sessions: ")
    #expect(result.standardOutput == "", "\(result)")
  }

  @Test(.gallery) func `where watching fails, so does the script that tells of windows`() async throws {
    try await house.script("shell/notify-windows", "99").expect(ends: 4)
  }

  @Test(.gallery) func `what a notification shows is no markup`() async throws {
    var script = house.script("shell/notify-windows", "0")
    try house.standIn("notify-send", "printf '%s|' \"$@\"; echo", for: &script)
    try await script.whileRunning { watching async throws in
      try await house.drop(photo: "<b>&")
      #expect(
        try await watching.nextLine()
          == "--app-name|stagedoor|--|\(House.gallery)|a new window: \(House.openDetail) &lt;b&gt;&amp;|")
    }
  }

  @Test(.gallery) func `windows are listed with busctl and jq, and a title makes no rows`() async throws {
    let photo = try await house.drop(
      photo: "photo-7", "--title", "a\"\n   object path \"/x\"\n   uint64 1\n\tb\u{1b}[2J")
    let lines = try await house.script("shell/windows", House.gallery).output().split(separator: "\n")
    #expect(lines.count == 1)
    let fields = lines[0].split(separator: "\t", omittingEmptySubsequences: false)
    #expect(fields.count == 7)
    #expect(fields[0].hasSuffix(photo.session.replacing("-", with: "_")))
    #expect(fields[5].hasSuffix("b [2J"))
    #expect(fields[1...4].map(String.init) == [House.gallery, "Detail", "unattached", "photo-7"])
  }

  @Test(.service) func `the lines that an application with windows prints run as they stand`() async throws {
    let place = "\(Repository.path)/examples/gtk"
    try house.writeProgram("\(house.home)/bin/gallery", "exit")
    let printed = try await house.command("\(place)/run", "\(house.home)/bin", "gallery", "--headless").output()
    var lines = printed.split(separator: "\n").filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }
    #expect(lines.first?.hasPrefix("export DBUS_SESSION_BUS_ADDRESS='unix:") == true, "\(printed)")
    lines.removeFirst()
    #expect(lines.first == "export PATH='\(house.home)/bin':\"$PATH\"", "\(printed)")
    // The bus of the lines has gone.
    let program = Command.built("stagedoor").program
    try FileManager.default.createSymbolicLink(atPath: "\(house.home)/bin/stagedoor", withDestinationPath: program)
    try await said("register", "\(place)/Gallery/Info.plist")
    let output = try await house.command("sh", "-eu", "-c", lines.joined(separator: "\n")).output()
    #expect(output.hasPrefix("created\t") && output.contains("\torg.stagedoor.examples.Gallery\t"), "\(output)")
  }

  @Test(.gallery) func `what file managers run drops files where they belong`() async throws {
    try house.write("sea", to: "\(house.home)/a b.txt")
    #expect(try await house.script("shell/send-to-scene", "\(house.home)/a b.txt").output() == "")
    #expect(try await said("sessions").contains("a%20b.txt"))
    try await house.script("shell/send-to-scene", "/no/such").expect(
      ends: 1, with: "/no/such: No such file or directory\n")
  }

  @Test(.gallery) func `the watcher and the host in Python work as they stand`() async throws {
    try await house.script("python/host", House.gallery).whileRunning { host async throws in
      #expect(try await host.nextLine() == "attached")
      try await house.script("python/watch", House.gallery).whileRunning { watching async throws in
        let photo = try await house.drop(photo: "photo-7", "--wait", "handled")
        try await host.line { $0.hasPrefix("ConnectScene") && $0.hasSuffix("photo-7") }
        try await watching.line { $0.contains("Handled") && $0.contains(photo.session.replacing("-", with: "_")) }
        // The watcher listens now. A key must not control the terminal.
        try await house.drop(photo: "\u{1b}[2J", "--wait", "handled")
        try await host.line { $0.hasPrefix("ConnectScene") && $0.hasSuffix("\\x1b[2J") }
        try await watching.line { $0.contains("Routed") && $0.contains(" \\x1b[2J") }
        // Stored events look the same.
        _ = try await house.script("python/watch", House.gallery).whileRunning { late async throws in
          try await late.line { $0.contains("Routed") && $0.contains(" \\x1b[2J") }
        }
        try await said("close", photo.session)
        try await host.line { $0.hasPrefix("DestroyScene") }
      }
    }
  }
}

extension House {
  /// Puts a program that this machine may not have in front on the command's `PATH`.
  fileprivate func standIn(_ program: String, _ script: String, for command: inout Command) throws {
    try writeProgram("\(home)/bin/\(program)", script)
    command.lookFirst(in: "\(home)/bin")
  }

  fileprivate func hosts(_ name: String) async throws {
    try await eventually("the host") {
      try await stagedoor("apps").output().contains("org.example.\(name)\t\(name)\tyes")
    }
  }

  /// Leaves only these programs of the system on the `PATH`: another one may be installed on one machine, and not on the next.
  fileprivate func leave(_ programs: String..., for command: inout Command) throws {
    for program in programs {
      let place = "\(home)/tools/\(program)"
      if FileManager.default.fileExists(atPath: place) { continue }
      try FileManager.default.createDirectory(atPath: "\(home)/tools", withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "/usr/bin/\(program)")
    }
    let path = command.environment["PATH"] ?? ""
    command.environment["PATH"] =
      path.split(separator: ":").filter { !$0.hasSuffix("/bin") }.joined(separator: ":") + ":\(home)/tools"
  }

  /// One of `examples`, which finds the command on its `PATH`. It has no display and no notifications.
  fileprivate func script(_ name: String, _ arguments: String...) -> Command {
    let path = "\(Repository.path)/examples/\(name)"
    // Debian's Python has the binding; another one that comes first on the PATH may lack it.
    var command =
      name.hasPrefix("python/")
      ? command("/usr/bin/python3", arguments: [path] + arguments) : command(path, arguments: arguments)
    command.lookFirst(in: Command.builtFolder)
    for name in ["DISPLAY", "WAYLAND_DISPLAY"] { command.environment[name] = nil }
    return command
  }
}
