import DBus
import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import StagedoorTestSupport

/// A desktop under Wayland for one test: sway without a screen, a bus with the service and a fresh home. A VNC server acts as the
/// user's hands.
final class WaylandDesktop: StageDesktop {
  let house: PrivateStagedoor
  let stagedoor: Stagedoor
  let environment: [String: String]
  private let runtime: String
  private let programs: [RunningCommand]

  init(_ house: PrivateStagedoor) async throws {
    self.house = house
    // sway does not run as root, and the home of the test belongs to the user who runs the test.
    runtime = "/tmp/stage-\(UUID().uuidString.prefix(8))"
    let configuration = """
      output HEADLESS-1 mode 1280x800 position 0 0
      output HEADLESS-1 bg #3d5a6c solid_color
      for_window [app_id=".*"] floating enable, border none
      focus_on_window_activation focus
      xwayland disable
      """
    try FileManager.default.createDirectory(
      atPath: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try configuration.write(toFile: "\(runtime)/config", atomically: true, encoding: .utf8)
    var compositor = house.environment
    compositor.merge([
      "HOME": runtime, "XDG_RUNTIME_DIR": runtime, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
      "WLR_LIBINPUT_NO_DEVICES": "1",
    ]) { $1 }
    (compositor["DISPLAY"], compositor["WAYLAND_DISPLAY"]) = (nil, nil)
    let isRoot = getuid() == 0
    if isRoot { _ = try await Command("chown", "-R", "65534", runtime).output() }
    let demotion = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
    let words = demotion + ["sway", "-c", "\(runtime)/config"]
    let sway = try await Command(words[0], arguments: Array(words.dropFirst()), environment: compositor).start()
    let socket = try await awaited("sway") { [runtime] in
      try FileManager.default.contentsOfDirectory(atPath: runtime).first {
        $0.hasPrefix("wayland-") && !$0.hasSuffix(".lock")
      }
    }
    compositor["WAYLAND_DISPLAY"] = "\(runtime)/\(socket)"
    let hands = try await Command("wayvnc", "-u", "\(runtime)/vnc", environment: compositor).start()
    programs = [hands, sway]
    var environment = house.environment
    environment.merge(Self.drawing(with: "wayland")) { $1 }
    (environment["DISPLAY"], environment["WAYLAND_DISPLAY"]) = (nil, "\(runtime)/\(socket)")
    environment["SWAYSOCK"] = try await awaited("sway's other socket") { [runtime] in
      try FileManager.default.contentsOfDirectory(atPath: runtime).first { $0.hasPrefix("sway-ipc") }.map {
        "\(runtime)/\($0)"
      }
    }
    self.environment = environment
    stagedoor = Stagedoor(on: try await house.connect())
  }

  func stop() async {
    await stagedoor.close()
    for program in programs { await program.stop() }
    try? FileManager.default.removeItem(atPath: runtime)
  }

  /// Waits for a window, and moves its upper left corner to a place.
  func place(_ title: String, at x: Int, _ y: Int) async throws {
    try await eventually("a window \(title)") { [environment] in
      try await Command("swaymsg", "[title=\"^\(title)$\"] move position \(x) \(y)", environment: environment).run()
        .status.isSuccess
    }
  }

  private func hands(_ steps: [String]) async throws {
    let script = Desktop.package.appending(path: "Tests/StageTests/Hands/vnc.py").path
    let input = steps.joined(separator: "\n") + "\n"
    _ = try await Command("python3", arguments: [script, "\(runtime)/vnc"], environment: environment, input: input)
      .output()
  }

  func click(_ x: Int, _ y: Int) async throws {
    try await hands(["move \(x) \(y)", "sleep 0.2", "press", "sleep 0.1", "release", "sleep 0.1"])
  }

  func drag(from start: (x: Int, y: Int), to end: (x: Int, y: Int)) async throws {
    let moves = (1...14).flatMap { step in
      ["move \(start.x + (end.x - start.x) * step / 14) \(start.y + (end.y - start.y) * step / 14)", "sleep 0.03"]
    }
    try await hands(
      ["move \(start.x) \(start.y)", "sleep 0.2", "press", "sleep 0.2"] + moves + ["sleep 0.4", "release", "sleep 0.1"])
  }
}
