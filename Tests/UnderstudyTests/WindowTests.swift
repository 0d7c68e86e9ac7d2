import CXCB
import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import Glibc
import Testing

@testable import stagedoor_understudy

extension Connection {
  nonisolated func understudyComes() async throws {
    _ = try await withLimit(usualLimit, "the understudy") {
      try await self.owners(of: "org.stagedoor.Understudy1").first { $0 != nil }
    }
  }

  /// All windows of the understudy: their titles, the topmost or last active first.
  nonisolated func titles() async throws -> [String] {
    let understudy = object(
      "org.stagedoor.Understudy1", at: "/org/stagedoor/Understudy1", "org.stagedoor.Understudy1")
    let rows: [Structure<String, String, String, String, String, String, String, Bool>] = try await understudy.call(
      "ListWindows")
    return rows.map { $0.members.1 }
  }
}

/// A house with a display and the understudy.
struct Stage {
  let house: House
  let environment: [String: String]

  var home: String { house.home }
  var display: String { environment["DISPLAY"] ?? "" }

  func command(_ program: String, _ arguments: String...) -> Command {
    var command = Command(program, arguments: arguments, environment: environment)
    command.directory = home
    return command
  }

  /// Opens a file on the house's display, or on another.
  func open(_ arguments: [String], on display: String? = nil) async throws -> Command.Result {
    var command = command(Command.built("stagedoor").program)
    command.arguments = ["open"] + arguments
    if let display { command.environment["DISPLAY"] = display }
    return try await command.run()
  }

  /// Opens a file until the understudy answers in time. The command soon gives up on an understudy that has not begun, because a person waits.
  func answered(_ arguments: String..., on display: String? = nil) async throws -> Command.Result {
    try await withLimit(usualLimit, "an understudy that answers in time") {
      while true {
        let result = try await open(arguments, on: display)
        if !result.standardError.contains("the understudy does not answer") { return result }
      }
    }
  }

  /// Expects that the understudy opens a file in this way, with an application or the person's own. Of an understudy that has begun and is late nobody
  /// learns how.
  func opens(_ file: String, with application: String? = nil, on display: String? = nil, _ deed: String) async throws {
    let result = try await answered("--json", "--app", application ?? Stage.editor, file, on: display)
    #expect(result.standardOutput.contains(deed) || result.standardError.contains("began to open"), "\(result)")
  }

  /// What the understudy would do.
  func verdict(_ file: String, with application: String) async throws -> String {
    try await open(["--explain", "--app", application, file]).standardOutput
  }

  /// Waits for titles that have these parts, in this order: the topmost or last active first.
  func shows(_ what: String, _ wanted: [String]) async throws {
    try await eventually(what) {
      let titles = try await house.watcher.titles()
      return titles.count == wanted.count && zip(titles, wanted).allSatisfy { $0.contains($1) }
    }
  }

  static let editor = "org.xfce.mousepad", viewer = "org.pwmt.zathura"

  private static let pdf = """
    %PDF-1.1
    1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
    2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
    3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>> endobj
    trailer <</Root 1 0 R>>
    """

  /// Opens an editor with a file.
  func openEditor() async throws {
    try house.write("text", to: "\(home)/a.txt")
    try await opens("a.txt", "started")
    try await shows("the editor", ["\(home)/a.txt"])
  }

  /// An editor's tab and a viewer's window come to the front, and nothing is opened twice. `front` is the title of the window that has the keyboard.
  func findsEachFileAgain(front: () async throws -> String) async throws {
    for name in ["a b.txt", "b.txt", "deep/a b.txt"] { try house.write("text", to: "\(home)/\(name)") }
    for name in ["one.pdf", "two.pdf"] { try house.write(Stage.pdf, to: "\(home)/\(name)") }
    try await opens("a b.txt", "started")
    try await shows("the editor", ["\(home)/a b.txt"])
    try await opens("b.txt", "run again")
    try await shows("the second file", ["\(home)/b.txt"])

    try await opens("one.pdf", with: Stage.viewer, "started")
    try await shows("the viewer", ["one.pdf", "b.txt"])
    try await opens("two.pdf", with: Stage.viewer, "started")
    try await shows("another window", ["two.pdf", "one.pdf", "b.txt"])

    try await opens("one.pdf", with: Stage.viewer, "raised")
    try await shows("the first window", ["one.pdf", "two.pdf", "b.txt"])
    #expect(try await front().contains("one.pdf"))
    try await opens("a b.txt", "run again")
    try await shows("the editor's first tab", ["\(home)/a b.txt", "one.pdf", "two.pdf"])
    #expect(try await front().contains("\(home)/a b.txt"))
    // Another file of that name is not shown by anyone.
    #expect(try await verdict("deep/a b.txt", with: Stage.viewer).contains(#""verdict":"start""#))
    #expect(try await verdict("deep/a b.txt", with: Stage.editor).contains("run again"))
    #expect(try await house.watcher.titles().count == 3)
  }
}

/// The programs as they are built, with two applications of Debian that know nothing of Stagedoor, on a virtual display.
@Suite struct WindowTests {
  private nonisolated(nonsending) func withStage(
    _ body: nonisolated(nonsending) (Stage, _ server: RunningCommand) async throws -> Void
  ) async throws {
    try await withHouse { house async throws in
      var environment = house.environment
      environment["XDG_DATA_DIRS"] = "/usr/local/share:/usr/share"
      environment["GSETTINGS_BACKEND"] = "memory"
      environment["NO_AT_BRIDGE"] = "1"
      environment["WAYLAND_DISPLAY"] = nil
      try house.writeProgram("\(house.home)/bin/xdg-open", "echo \"$1\" >>'\(house.home)/opened'")
      environment["PATH"] = "\(house.home)/bin:\(environment["PATH"] ?? "/usr/bin:/bin")"
      // A server that looks for a number begins with 0. It would take the number of a server that a test has killed.
      let display = Int.random(in: 10_000..<60_000)
      defer { for file in ["/tmp/.X\(display)-lock", "/tmp/.X11-unix/X\(display)"] { unlink(file) } }
      environment["DISPLAY"] = ":\(display)"
      try await server(of: environment).whileRunning { server async throws in
        try await server.nextLine()
        try await windowManager(of: environment).whileRunning { manager async throws in
          try await manager.nextLine()
          let understudy = Command.built("stagedoor-understudy").program
          try await Command(understudy, environment: environment).whileRunning { running async throws in
            try await house.watcher.understudyComes()
            try await body(Stage(house: house, environment: environment), server)
            // Swift's own threads would wake once a second from then on.
            let threads = "/proc/\(running.processIdentifier)/task"
            try await eventually("only the thread of the loop, after one that looks for a display") {
              try FileManager.default.contentsOfDirectory(atPath: threads).count == 1
            }
          }
        }
      }
    }
  }

  /// The server of an environment's display. It prints a line when it is ready.
  private func server(of environment: [String: String]) -> Command {
    let options = "-displayfd 1 -noreset -screen 0 1024x768x24 -nolisten tcp"
    return Command("sh", "-c", "exec Xvfb \"$DISPLAY\" \(options) 2>/dev/null", environment: environment)
  }

  /// It prints a line when it is ready: it never lists a window that is mapped while it starts.
  private func windowManager(of environment: [String: String]) -> Command {
    Command("openbox", arguments: ["--startup", "echo ready"], environment: environment)
  }

  @Test func `an editor's tab and a viewer's window come to the front, and nothing is opened twice`() async throws {
    try await withStage { stage, _ async throws in
      try await stage.findsEachFileAgain { try await stage.house.watcher.titles()[0] }
    }
  }

  /// The command opens `a.txt` by itself. On a slow machine the understudy may say too late why.
  private func expectHandover(_ reason: String, by stage: Stage, on display: String? = nil) async throws {
    @Sendable func opened() -> Int {
      ((try? String(contentsOfFile: "\(stage.home)/opened", encoding: .utf8)) ?? "").split(separator: "\n").count
    }
    try await eventually(reason) {
      let count = opened()
      let result = try await stage.open(["--json", "a.txt"], on: display)
      #expect(result.standardOutput == "{\"deed\":\"handed over\"}\n", "\(result)")
      #expect(opened() == count + 1)
      return result.standardError.contains(reason)
    }
  }

  @Test func `a display that crashes and comes back is followed again`() async throws {
    try await withStage { stage, running async throws in
      try await stage.openEditor()
      running.signal(SIGKILL)
      // A new server refuses the display as long as the process of the old one is there.
      _ = try await running.ended()
      try await stage.shows("no window", [])
      try await server(of: stage.environment).whileRunning { server async throws in
        try await server.nextLine()
        try await windowManager(of: stage.environment).whileRunning { manager async throws in
          try await manager.nextLine()
          try await stage.command("mousepad", "a.txt").whileRunning { _ async throws in
            try await stage.shows("the editor again", ["\(stage.home)/a.txt"])
            try await stage.opens("a.txt", "run again")
          }
        }
      }
    }
  }

  @Test func `after a crash, a server that takes the connection and says nothing keeps nobody waiting`() async throws {
    try await withStage { stage, running async throws in
      try await stage.openEditor()
      running.signal(SIGKILL)
      _ = try await running.ended()
      let silent = try PlayedSocket(at: "/tmp/.X11-unix/X\(stage.display.dropFirst())", .silent)
      defer { silent.end() }
      try await eventually("a connection") { silent.count > 0 }
      #expect(try await withLimit(.seconds(20), "an answer") { try await stage.house.watcher.titles() } == [])
      try await expectHandover("the display has gone", by: stage)
    }
  }

  @Test func `a file for another display or for no application that is installed is not opened here`() async throws {
    try await withStage { stage, _ async throws in
      try await stage.openEditor()
      let result = try await stage.answered("--app", "nothing", "a.txt")
      #expect(result.status == .exited(4), "\(result)")
      #expect(result.standardError == "stagedoor open: no application nothing is installed\n")
      try await expectHandover("another display", by: stage, on: ":9999")
      try await stage.opens("a.txt", on: "\(stage.display).0", "run again")
    }
  }

  /// XWayland's socket is often there before the compositor tells of windows.
  @Test func `after the crash of a compositor no X server takes its place`() async throws {
    try await withStage { stage, _ async throws in
      let path = "\(stage.home)/w"
      let compositor = try PlayedSocket(at: path, .saying(Recorded.beginning))
      defer { compositor.end() }
      var environment = stage.environment
      environment["WAYLAND_DISPLAY"] = path
      try await withPrivateBus { bus async throws in
        environment["DBUS_SESSION_BUS_ADDRESS"] = "\(bus.address)"
        let client = try await bus.connect()
        let understudy = Command(Command.built("stagedoor-understudy").program, environment: environment)
        try await understudy.whileRunning { _ async throws in
          try await client.understudyComes()
          try await eventually("its window") { try await client.titles().count == 1 }
          compositor.become(.broken)
          try await eventually("two vain attempts") { compositor.count >= 2 }
          #expect(try await client.titles() == [])
          compositor.become(.saying(Recorded.beginning))
          try await eventually("its window again") { try await client.titles() == ["/tmp/notes/a.txt - Mousepad"] }
        }
      }
    }
  }

  /// The bus carries no NUL.
  @Test func `a title ends where its program wrote a NUL, and the windows are listed`() async throws {
    try await withStage { stage, _ async throws in
      // The X server begins anew when its last client leaves: this one stays.
      let client = try #require(xcb_connect(stage.display, nil))
      defer { xcb_disconnect(client) }
      #expect(try #require(X11(display: stage.display)).active == nil)
      let screen = xcb_setup_roots_iterator(xcb_get_setup(client)).data.pointee
      func show(_ titles: [xcb_atom_t: String]) {
        let window = xcb_generate_id(client)
        let kind = UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue)
        xcb_create_window(client, 0, window, screen.root, 0, 0, 200, 100, 0, kind, screen.root_visual, 0, nil)
        for (name, title) in titles {
          let bytes = Array(title.utf8)
          xcb_change_property(
            client, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, name, XCB_ATOM_STRING.rawValue, 8,
            UInt32(bytes.count), bytes)
        }
        xcb_map_window(client, window)
        xcb_flush(client)
      }
      let reply = try #require(xcb_intern_atom_reply(client, xcb_intern_atom(client, 0, 12, "_NET_WM_NAME"), nil))
      let newer = reply.pointee.atom
      free(reply)
      show([newer: "one\0"])
      try await stage.shows("the first window", ["one"])
      show([newer: "\0", XCB_ATOM_WM_NAME.rawValue: "two\0and more"])
      try await eventually("both windows") { try await Set(stage.house.watcher.titles()) == ["one", "two"] }
    }
  }

  @Test(.enabled(if: House.canSandbox)) func `a sandboxed program learns of no window and no file`() async throws {
    try await withStage { stage, _ async throws in
      let command = stage.house.sandboxed(
        as: "org.example.Curious", "dbus-send",
        arguments: [
          "--session", "--print-reply", "--dest=org.stagedoor.Understudy1", "/org/stagedoor/Understudy1",
          "org.stagedoor.Understudy1.ListWindows",
        ])
      let result = try await command.run()
      #expect(result.standardError.contains("AccessDenied"), "\(result)")
    }
  }
}
