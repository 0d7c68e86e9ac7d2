import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import Glibc
import Testing

/// The programs as they are built, under compositors without a screen: `make test-understudy`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["STAGEDOOR_UNDERSTUDY"] != nil)) struct CompositorTests {
  /// The compositor, and whether applications speak to it themselves or through XWayland.
  enum Setting: CaseIterable {
    case sway, xwayland, plasma
  }

  /// The title of the window that has the keyboard: sway's own word, if the window speaks to sway as it should.
  private func focused(_ stage: Stage, _ setting: Setting) async throws -> String {
    if setting == .plasma { return try await stage.house.watcher.titles().first ?? "" }
    let tree = try await stage.command("swaymsg", "-t", "get_tree", "-r").output()
    let root = try JSONSerialization.jsonObject(with: Data(tree.utf8))
    var nodes = [root as? [String: Any] ?? [:]]
    while let node = nodes.popLast() {
      if node["focused"] as? Bool == true {
        #expect(node["shell"] as? String == (setting == .sway ? "xdg_shell" : "xwayland"))
        return node["name"] as? String ?? ""
      }
      for key in ["nodes", "floating_nodes"] { nodes += node[key] as? [[String: Any]] ?? [] }
    }
    return ""
  }

  /// The program of the compositor, and its variables. Its sockets need a short path.
  private func compositor(_ setting: Setting, in runtime: String) async throws -> ([String], [String: String]) {
    if setting == .plasma {
      // Here it may not have the capability that its file has.
      let program = "\(runtime)/kwin_wayland"
      _ = try await Command("cp", "/usr/bin/kwin_wayland", program).output()
      // KWin shows windows only to programs whose desktop file asks for that.
      let folder = "\(runtime)/data/applications"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let path = Command.built("stagedoor-understudy").program
      let key = try String(contentsOfFile: "\(Repository.path)/desktop/understudy.desktop.in", encoding: .utf8)
        .replacing("@bindir@/stagedoor-understudy", with: path)
      try key.write(toFile: "\(folder)/stagedoor-understudy.desktop", atomically: true, encoding: .utf8)
      return (
        [program, "--virtual", "--no-lockscreen", "--no-global-shortcuts"],
        [
          "XDG_DATA_HOME": "\(runtime)/data", "XDG_DATA_DIRS": "/usr/share", "XDG_CONFIG_DIRS": "/etc/xdg",
          "KWIN_COMPOSE": "Q",
        ]
      )
    }
    let configuration = """
      output HEADLESS-1 mode 1024x768 position 0 0
      focus_on_window_activation none
      xwayland enable
      exec echo "$DISPLAY" >\(runtime)/display
      """
    try configuration.write(toFile: "\(runtime)/config", atomically: true, encoding: .utf8)
    // sway does not run as root. Another number in a namespace of its own leaves root's programs the right to its displays.
    let user = getuid() == 0 ? ["unshare", "--user", "--map-user=65534", "--map-group=65534"] : []
    return (
      user + ["sway", "-c", "\(runtime)/config"],
      ["WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"]
    )
  }

  private nonisolated(nonsending) func withCompositor(
    _ setting: Setting, _ body: nonisolated(nonsending) (Stage) async throws -> Void
  ) async throws {
    try await withHouse { house async throws in
      let runtime = "/tmp/stage-\(UUID().uuidString.prefix(8))"
      defer { try? FileManager.default.removeItem(atPath: runtime) }
      try FileManager.default.createDirectory(
        atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      var environment = house.environment
      (environment["DISPLAY"], environment["WAYLAND_DISPLAY"]) = (nil, nil)
      let (words, more) = try await compositor(setting, in: runtime)
      var command = Command(words[0], arguments: Array(words.dropFirst()), environment: environment)
      command.environment.merge(more.merging(["HOME": runtime, "XDG_RUNTIME_DIR": runtime]) { $1 }) { $1 }
      try await command.whileRunning { _ async throws in
        func socket(_ prefix: String) async throws -> String {
          @Sendable func find() throws -> String? {
            let names = try FileManager.default.contentsOfDirectory(atPath: runtime)
            return names.first { $0.hasPrefix(prefix) && !$0.hasSuffix(".lock") }
          }
          try await eventually("the compositor's socket \(prefix)") { try find() != nil }
          return "\(runtime)/\(try find() ?? "")"
        }
        @Sendable func display() throws -> Substring {
          try String(contentsOfFile: "\(runtime)/display", encoding: .utf8).dropLast()
        }
        environment.merge([
          "WAYLAND_DISPLAY": try await socket("wayland-"),
          "GDK_BACKEND": setting == .xwayland ? "x11" : "wayland", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
          "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
        ]) { $1 }
        if setting != .plasma {
          try await eventually("sway's X display") { (try? display().isEmpty) == false }
          (environment["DISPLAY"], environment["SWAYSOCK"]) = (String(try display()), try await socket("sway-ipc"))
        }
        let understudy = Command.built("stagedoor-understudy").program
        try await Command(understudy, environment: environment).whileRunning { _ async throws in
          try await house.watcher.understudyComes()
          try await body(Stage(house: house, environment: environment))
        }
      }
    }
  }

  @Test(arguments: Setting.allCases)
  func `an editor's window comes to the front, and nothing is opened twice`(setting: Setting) async throws {
    try await withCompositor(setting) { stage async throws in
      try await stage.findsEachFileAgain { try await focused(stage, setting) }
    }
  }
}
