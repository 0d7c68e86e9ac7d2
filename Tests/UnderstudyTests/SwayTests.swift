import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import Glibc
import Testing

/// The programs as they are built, under sway without a screen: `make test-understudy`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STAGEDOOR_UNDERSTUDY"] != nil)) struct SwayTests {
  /// How an application speaks to the compositor: itself, or through XWayland.
  enum Backend: String, CaseIterable {
    case wayland, x11

    /// sway's word for windows of that kind.
    var shell: String { self == .wayland ? "xdg_shell" : "xwayland" }
  }

  private struct Desktop {
    let house: House
    let environment: [String: String]
    let sway: String

    func open(_ arguments: String...) async throws -> Command.Result {
      var command = Command(
        Command.built("stagedoor").program, arguments: ["open", "--json"] + arguments, environment: environment)
      command.directory = house.environment["HOME"]
      return try await command.run()
    }

    func explain(_ arguments: String...) async throws -> String {
      let words = ["open", "--explain"] + arguments
      var command = Command(Command.built("stagedoor").program, arguments: words, environment: environment)
      command.directory = house.environment["HOME"]
      return try await command.output()
    }

    /// Waits for titles in this order, the last active first.
    func shows(_ what: String, _ wanted: [String]) async throws {
      let object = house.watcher.object(
        "org.stagedoor.Understudy1", at: "/org/stagedoor/Understudy1", "org.stagedoor.Understudy1")
      try await eventually(what) {
        let rows: [Structure<String, String, String, String, String, String, String, Bool>] = try await object.call(
          "ListWindows")
        let titles = rows.map { $0.members.1 }
        return titles.count == wanted.count && zip(titles, wanted).allSatisfy { $0.contains($1) }
      }
    }

    /// sway's own word for the window that has the keyboard: its title, and how its program speaks to sway.
    func focused() async throws -> (title: String, shell: String) {
      let tree = try await Command("swaymsg", "-s", sway, "-t", "get_tree", "-r", environment: environment).output()
      let root = try JSONSerialization.jsonObject(with: Data(tree.utf8))
      var nodes = [root as? [String: Any] ?? [:]]
      while let node = nodes.popLast() {
        if node["focused"] as? Bool == true {
          return (node["name"] as? String ?? "", node["shell"] as? String ?? "")
        }
        for key in ["nodes", "floating_nodes"] { nodes += node[key] as? [[String: Any]] ?? [] }
      }
      return ("", "")
    }
  }

  private nonisolated(nonsending) func withSway(
    _ backend: Backend, _ body: nonisolated(nonsending) (Desktop) async throws -> Void
  ) async throws {
    try await withHouse { house async throws in
      // sway needs a short path for its sockets.
      let runtime = "/tmp/stage-\(UUID().uuidString.prefix(8))"
      defer { try? FileManager.default.removeItem(atPath: runtime) }
      try FileManager.default.createDirectory(
        atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let configuration = """
        output HEADLESS-1 mode 1024x768 position 0 0
        focus_on_window_activation none
        xwayland enable
        exec echo "$DISPLAY" >\(runtime)/display
        """
      try configuration.write(toFile: "\(runtime)/config", atomically: true, encoding: .utf8)
      var environment = house.environment
      (environment["DISPLAY"], environment["WAYLAND_DISPLAY"]) = (nil, nil)
      var compositor = environment
      compositor.merge([
        "HOME": runtime, "XDG_RUNTIME_DIR": runtime, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
        "WLR_LIBINPUT_NO_DEVICES": "1",
      ]) { $1 }
      // sway does not run as root. Another number in a namespace of its own leaves root's programs the right to its displays.
      let words =
        (getuid() == 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : [])
        + ["sway", "-c", "\(runtime)/config"]
      let sway = Command(words[0], arguments: Array(words.dropFirst()), environment: compositor)
      try await sway.whileRunning { _ async throws in
        func socket(_ prefix: String) async throws -> String {
          @Sendable func find() throws -> String? {
            let names = try FileManager.default.contentsOfDirectory(atPath: runtime)
            return names.first { $0.hasPrefix(prefix) && !$0.hasSuffix(".lock") }
          }
          try await eventually("sway's socket \(prefix)") { try find() != nil }
          return "\(runtime)/\(try find() ?? "")"
        }
        @Sendable func display() throws -> Substring {
          try String(contentsOfFile: "\(runtime)/display", encoding: .utf8).dropLast()
        }
        try await eventually("sway's X display") { (try? display().isEmpty) == false }
        environment.merge([
          "DISPLAY": String(try display()), "WAYLAND_DISPLAY": try await socket("wayland-"),
          "SWAYSOCK": try await socket("sway-ipc"),
          "GDK_BACKEND": backend.rawValue, "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
          "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
        ]) { $1 }
        let understudy = Command.built("stagedoor-understudy").program
        try await Command(understudy, environment: environment).whileRunning { _ async throws in
          _ = try await withLimit(usualLimit, "the understudy") {
            try await house.watcher.owners(of: "org.stagedoor.Understudy1").first { $0 != nil }
          }
          try await body(Desktop(house: house, environment: environment, sway: environment["SWAYSOCK"] ?? ""))
        }
      }
    }
  }

  @Test(arguments: Backend.allCases)
  func `under sway an editor's window comes to the front, and nothing is opened twice`(backend: Backend) async throws {
    try await withSway(backend) { desktop async throws in
      let home = desktop.house.environment["HOME"] ?? ""
      for name in ["a b.txt", "b.txt", "deep/a b.txt"] { try desktop.house.write("text", to: "\(home)/\(name)") }
      let zathura = ["--app", "org.pwmt.zathura"], mousepad = ["--app", "org.xfce.mousepad"]
      for name in ["one.pdf", "two.pdf"] {
        try desktop.house.write(
          """
          %PDF-1.1
          1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
          2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
          3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>> endobj
          trailer <</Root 1 0 R>>
          """, to: "\(home)/\(name)")
      }
      #expect(try await desktop.open(zathura[0], zathura[1], "one.pdf").standardOutput.contains("started"))
      try await desktop.shows("the viewer", ["one.pdf"])
      #expect(try await desktop.open(mousepad[0], mousepad[1], "a b.txt").standardOutput.contains("started"))
      try await desktop.shows("the editor", ["a b.txt", "one.pdf"])

      let raised = try await desktop.open(zathura[0], zathura[1], "one.pdf")
      let why = try await desktop.explain(zathura[0], zathura[1], "one.pdf")
      #expect(raised.standardOutput.contains("raised"), "\(raised) \(why)")
      try await desktop.shows("the viewer in front", ["one.pdf", "a b.txt"])
      let viewer = try await desktop.focused()
      #expect(viewer.title.contains("one.pdf") && viewer.shell == backend.shell, "\(viewer)")

      #expect(try await desktop.open(mousepad[0], mousepad[1], "a b.txt").standardOutput.contains("run again"))
      try await desktop.shows("the editor in front", ["a b.txt", "one.pdf"])
      let editor = try await desktop.focused()
      #expect(editor.title.contains("\(home)/a b.txt") && editor.shell == backend.shell, "\(editor)")
      #expect(try await desktop.open(mousepad[0], mousepad[1], "b.txt").standardOutput.contains("run again"))
      try await desktop.shows("another tab", ["\(home)/b.txt", "one.pdf"])
      #expect(try await desktop.explain("--app", mousepad[1], "deep/a b.txt").contains("run again"))
      let other = try await desktop.explain(zathura[0], zathura[1], "two.pdf")
      #expect(other.contains(#""verdict":"start""#), "\(other)")
    }
  }
}
