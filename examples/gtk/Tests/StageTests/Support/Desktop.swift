import DBus
import DBusTestSupport
import Foundation
import Glibc
import StagedoorKit
import StagedoorTestSupport
import Testing

/// A desktop for one test: a virtual display, a window manager, a bus with the service and a fresh home. xdotool acts as
/// the user's hands.
final class Desktop: StageDesktop {
  let house: PrivateStagedoor
  let stagedoor: Stagedoor
  /// The environment of programs with windows on this desktop.
  let environment: [String: String]
  private let programs: [RunningCommand]

  init(_ house: PrivateStagedoor) async throws {
    self.house = house
    var environment = house.environment
    let settings = "\(environment["XDG_CONFIG_HOME"] ?? "")/gtk-4.0"
    try FileManager.default.createDirectory(atPath: settings, withIntermediateDirectories: true)
    try "[Settings]\ngtk-font-name=Cantarell 11\n".write(
      toFile: "\(settings)/settings.ini", atomically: true, encoding: .utf8)
    let display = try await Command(
      "sh", "-c", "exec Xvfb -displayfd 1 -noreset -screen 0 1280x800x24 -nolisten tcp 2>/dev/null",
      environment: environment
    ).start()
    environment["DISPLAY"] = ":\(try await display.nextLine())"
    environment.merge(Self.drawing(with: "x11")) { $1 }
    environment["WAYLAND_DISPLAY"] = nil
    environment["TMPDIR"] = "\(environment["HOME"] ?? "")/temporary"
    try FileManager.default.createDirectory(atPath: environment["TMPDIR"] ?? "", withIntermediateDirectories: true)
    self.environment = environment
    let manager = try await Command("openbox", environment: environment).start()
    programs = [manager, display]
    stagedoor = Stagedoor(on: try await house.connect())
    _ = try await Command("xsetroot", "-solid", "#3d5a6c", environment: environment).output()
    try await eventually("the window manager") { [environment] in
      try await Command("xprop", "-root", "_NET_SUPPORTING_WM_CHECK", environment: environment).output().contains(
        "window id")
    }
  }

  /// Runs `body` without a display: `running` has written its first window.
  nonisolated(nonsending) static func headless(
    _ play: Play, beside others: [Play] = [],
    body: nonisolated(nonsending) (Desktop, RunningCommand) async throws -> Void
  ) async throws {
    try await running(play, "--headless", beside: others) { desktop, running in
      try await running.line { $0.hasPrefix("-- ") }
      try await body(desktop, running)
    }
  }

  func stop() async {
    await stagedoor.close()
    for program in programs { await program.stop() }
  }

  /// The folder of this package.
  static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Runs `body` while a file manager shows a folder in a window at (700, 40).
  nonisolated(nonsending) func showing(
    _ folder: URL, _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await Command("pcmanfm", "--no-desktop", folder.path, environment: environment).whileRunning { _ in
      let window = try await window(titled: folder.lastPathComponent)
      try await xdotool("windowsize", "--sync", window, "540", "420")
      try await xdotool("windowmove", "--sync", window, "700", "40")
      try await pause(2)
      try await body()
    }
  }

  // MARK: Files

  /// The home of the user.
  var home: URL { URL(filePath: environment["HOME"] ?? "") }
  /// The folder for temporary files.
  var temporary: URL { home.appending(path: "temporary") }

  /// A picture that every desktop has.
  static let luna = package.appending(path: "Cats/Pictures/Luna.png")

  /// The folder of an application's own files. A missing folder is made.
  func data(of play: Play) throws -> URL {
    let folder = URL(filePath: "\(environment["XDG_DATA_HOME"] ?? "")/\(play.identifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// The names of an application's own files.
  func files(of play: Play) throws -> [String] { try names(in: data(of: play)) }

  func names(in folder: URL) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

  // MARK: Calls

  /// Calls an action of an application, as the desktop does.
  func action(_ name: String, of application: String, _ parameters: Variant...) async throws {
    _ = try await stagedoor.connection.call(
      to: try BusName(application), at: try Self.path(of: application), "org.freedesktop.Application",
      "ActivateAction", name, parameters, [String: Variant]())
  }

  /// The process of the service.
  func serviceProcess() async throws -> pid_t {
    let process = try await stagedoor.connection.credentials(of: "org.stagedoor.Interchange1").processID
    return pid_t(try #require(process))
  }

  // MARK: Hands and eyes

  /// Waits for changes that nothing reports: a menu has opened, a window has been drawn.
  func pause(_ seconds: Double = 0.5) async throws { try await xdotool("sleep", "\(seconds)") }

  /// The output of a program that works on this desktop.
  @discardableResult
  func output(_ program: String, _ arguments: String...) async throws -> String {
    try await Command(program, arguments: arguments, environment: environment).output()
  }

  /// The pixels of a part of the screen.
  func pixels(_ part: String) async throws -> String {
    try await output("sh", "-c", "import -window root -crop \(part) +repage rgb:- | md5sum")
  }

  func xdotool(_ arguments: String...) async throws {
    _ = try await Command("xdotool", arguments: arguments, environment: environment).output()
  }

  /// Waits for a window, and moves its upper left corner to a place. This takes the oldest window with the title.
  func place(_ title: String, at x: Int, _ y: Int) async throws {
    let window = try await window(titled: title)
    try await xdotool("windowmove", "--sync", window, "\(x)", "\(y)")
    try await xdotool("windowactivate", "--sync", window)
  }

  func window(titled title: String) async throws -> String {
    // xdotool takes a pattern, in which a question mark has a special meaning.
    let pattern = String(title.map { $0.isLetter || $0.isNumber || $0 == " " ? $0 : "." })
    return try await awaited("a window \(title)") { [self] in
      let result = try await Command(
        "xdotool", "search", "--onlyvisible", "--name", "^\(pattern)$", environment: environment
      ).run()
      return result.standardOutput.split(separator: "\n").first.map(String.init)
    }
  }

  func click(_ x: Int, _ y: Int, button: Int = 1) async throws {
    try await xdotool("mousemove", "\(x)", "\(y)", "sleep", "0.1", "click", "\(button)")
  }

  func type(_ text: String) async throws { try await xdotool("type", "--delay", "20", "--", text) }
  func key(_ key: String) async throws { try await xdotool("key", key) }

  /// Drags from one place to another like a hand: with many small moves, and a pause before the drop.
  func drag(
    from start: (x: Int, y: Int), to end: (x: Int, y: Int), letGo: Bool = true, holding pause: Double = 0.35
  ) async throws {
    var steps = ["mousemove", "\(start.x)", "\(start.y)", "sleep", "0.1", "mousedown", "1", "sleep", "0.1"]
    for step in 1...14 {
      let (x, y) = (start.x + (end.x - start.x) * step / 14, start.y + (end.y - start.y) * step / 14)
      steps += ["mousemove", "\(x)", "\(y)", "sleep", "0.02"]
    }
    steps += ["sleep", "\(pause)"] + (letGo ? ["mouseup", "1"] : [])
    _ = try await Command("xdotool", arguments: steps, environment: environment).output()
  }

  func letGo() async throws { try await xdotool("mouseup", "1") }

  /// Saves a picture of the screen, or of a part, beside the build; with STAGE_PICTURES at the path that the READMEs show.
  func picture(_ path: String, _ part: String = "1280x800+0+0") async throws {
    let shown = ProcessInfo.processInfo.environment["STAGE_PICTURES"] != nil
    let folder = shown ? Self.package : Self.package.appending(path: ".build/pictures/examples/gtk")
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try await output(
      "import", "-window", "root", "-crop", part, "+repage", "-strip", "-colors", "256", "PNG8:\(file.path)")
  }
}

extension RunningCommand {
  /// Ends the program, and returns when it has ended.
  func end(with signal: Int32) async throws {
    self.signal(signal)
    try await ended()
  }

  /// Waits until none of the program's threads wakes any more. Two seconds show it: a thread that polls does so at least once a second.
  func rests() async throws {
    let process = processIdentifier
    try await eventually("two seconds in which no thread wakes") {
      let before = ContextSwitches.now(ofProcess: process)
      try await ContinuousClock().sleep(for: .seconds(2))
      return ContextSwitches.since(before, ofProcess: process).isEmpty
    }
  }

  /// Expects no complaints: GTK reports a program's mistakes on standard error.
  func expectNoComplaints() {
    let lines = standardError.split(separator: "\n").filter { line in
      // GTK 4.8 sometimes miscounts the presses in its own menu while the menu closes.
      (line.contains("CRITICAL") || line.contains("WARNING")) && !line.contains("Broken accounting of active state")
    }
    #expect(lines.isEmpty)
  }
}

/// A desktop for one test, with the service and a fresh home.
protocol StageDesktop: Sendable {
  var house: PrivateStagedoor { get }
  var stagedoor: Stagedoor { get }
  var environment: [String: String] { get }
  init(_ house: PrivateStagedoor) async throws
  func stop() async
}

extension StageDesktop {
  /// The environment in which GTK draws alike on every machine.
  static func drawing(with backend: String) -> [String: String] {
    [
      "GDK_BACKEND": backend, "LIBGL_ALWAYS_SOFTWARE": "1", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
      "NO_AT_BRIDGE": "1", "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
    ]
  }

  /// Runs `body` on a desktop of its own, where these applications are installed.
  nonisolated(nonsending) static func run(
    _ plays: Play..., body: nonisolated(nonsending) (Self) async throws -> Void
  ) async throws {
    try await withPrivateStagedoor { house in
      let desktop = try await Self(house)
      do {
        for play in plays { try await desktop.install(play) }
        try await body(desktop)
      } catch {
        await desktop.stop()
        throw error
      }
      await desktop.stop()
    }
  }

  /// Runs `body` on a desktop of its own, while an application runs there, as its user starts it. Others are installed.
  nonisolated(nonsending) static func running(
    _ play: Play, _ arguments: String..., beside others: [Play] = [],
    body: nonisolated(nonsending) (Self, RunningCommand) async throws -> Void
  ) async throws {
    try await run(play) { desktop in
      for other in others { try await desktop.install(other) }
      try await desktop.running(play, arguments) { running in try await body(desktop, running) }
    }
  }

  /// Installs an application like its package: its manifest, and its activation file.
  func install(_ play: Play) async throws {
    let manifest = try String(contentsOf: Desktop.package.appending(path: "\(play.folder)/Info.plist"), encoding: .utf8)
    try await house.install(manifest: manifest, of: play.identifier)
    try await house.bus.install(
      try BusName(play.identifier), executable: play.command(environment).program,
      arguments: ["--gapplication-service"], environment: environment.filter { !$0.key.hasPrefix("DBUS_") })
  }

  /// Runs `body` while the application runs, as its user starts it.
  nonisolated(nonsending) func running<Result>(
    _ play: Play, _ arguments: String..., body: nonisolated(nonsending) (RunningCommand) async throws -> Result
  ) async throws -> Result { try await running(play, arguments, body: body) }

  nonisolated(nonsending) func running<Result>(
    _ play: Play, _ arguments: [String], body: nonisolated(nonsending) (RunningCommand) async throws -> Result
  ) async throws -> Result {
    try await play.command(environment, arguments).whileRunning { running in
      let result = try await body(running)
      running.expectNoComplaints()
      return result
    }
  }

  /// Opens an application, as a launcher does.
  func launch(_ application: String) async throws {
    try await stagedoor.connection.call(
      to: try BusName(application), at: try Self.path(of: application), "org.freedesktop.Application", "Activate",
      [String: Variant]())
  }

  static func path(of application: String) throws -> ObjectPath {
    try ObjectPath("/" + application.split(separator: ".").joined(separator: "/"))
  }

  // MARK: Sessions

  func sessions(of play: Play) async throws -> [SceneSession] { try await stagedoor.sessions(of: play.identifier) }

  func windows(of play: Play, titled titles: String...) async throws {
    let titles = titles.sorted()
    try await windows(of: play, "the windows \(titles)") { sessions in
      sessions.filter(\.isConnected).map(\.title).sorted() == titles
    }
  }

  /// Waits until the windows of an application are as `fit` wants them, the oldest first.
  @discardableResult
  func windows(
    of play: Play, _ what: String, where fit: @escaping @Sendable ([SceneSession]) -> Bool
  ) async throws -> [SceneSession] {
    try await windows(of: play.identifier, what, where: fit)
  }

  @discardableResult
  func windows(
    of application: String, _ what: String, where fit: @escaping @Sendable ([SceneSession]) -> Bool
  ) async throws -> [SceneSession] {
    let last = Last([SceneSession]())
    do {
      return try await awaited(what) { [self] in
        let sessions = try await stagedoor.sessions(of: application)
        await last.set(sessions)
        return fit(sessions) ? sessions : nil
      }
    } catch let error as LimitExceeded {
      let windows = await last.value.map {
        "\($0.title) \($0.activationState) \($0.userActivity.map { "\($0)" } ?? "")"
      }
      throw LimitExceeded(what: error.what, limit: error.limit, details: windows.joined(separator: "\n"))
    }
  }
}

extension [SceneSession] {
  var firstHasFocus: Bool { first?.activationState == .foregroundActive }
  var lastHasFocus: Bool { last?.activationState == .foregroundActive }
}

/// One of the applications.
struct Play: Sendable {
  let name: String
  let folder: String

  init(_ folder: String) { (name, self.folder) = (folder.lowercased(), folder) }

  var identifier: String { "org.stagedoor.examples.\(folder)" }
  func command(_ environment: [String: String], _ arguments: [String] = []) -> Command {
    var command = Command.built(name, environment: environment)
    command.arguments = arguments
    return command
  }
}

/// Asks again and again until there is an answer.
func awaited<Value: Sendable>(
  _ what: String, within limit: Duration = usualLimit, _ ask: @escaping @Sendable () async throws -> Value?
) async throws -> Value {
  try await withLimit(limit, what) {
    while true {
      if let value = try await ask() { return value }
      try await ContinuousClock().sleep(for: .milliseconds(30))
    }
  }
}

private actor Last<Value: Sendable> {
  private(set) var value: Value
  init(_ value: Value) { self.value = value }
  func set(_ value: Value) { self.value = value }
}
