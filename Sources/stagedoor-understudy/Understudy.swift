import CXCB
import DBus
import DesktopFiles
import Glibc
import SceneModel
import ServiceSupport
import WindowEvidence

/// Finds the window that shows a file, brings it to the front, or starts the file's application.
///
/// It watches windows from its start on, so that it knows every title that a window has had. It keeps nothing on disk.
actor Understudy {
  nonisolated let connection: Connection
  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

  private let display: X11
  private let files = InstalledFileTypes(in: Directories.data())
  private var installed = Applications()
  private let habits = Habits()
  private let home = Bytes((getenv("HOME").map { String(cString: $0) } ?? "/").utf8)
  private let machine = Understudy.hostName()

  /// Windows, and what has been seen of each since it appeared.
  private var windows: [xcb_window_t: Seen] = [:]
  /// The programs that were started here, by their process and by the startup identifier that they got.
  private var starts: [Start] = []
  private var startCount = 0

  private struct Seen {
    var shown: X11.Shown
    var application: String?
    /// `nil` for a window that was there before the understudy.
    var history: Window.History?
  }

  private struct Start {
    let process: Int32
    let startup: Bytes
    let path: Bytes
  }

  init(_ connection: Connection, _ display: X11) {
    (self.connection, self.display) = (connection, display)
  }

  private static func hostName() -> Bytes {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, 255)
    return Bytes(name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
  }

  // MARK: Watching

  /// Follows the windows until the display goes.
  func follow() async {
    look(isFirst: true)
    while !display.isBroken {
      await connection.loop.readable(display.descriptor)
      take(display.changes())
    }
  }

  private func take(_ changes: Set<X11.Change>) {
    let missed = display.takeMissed().filter { windows[$0] != nil }.map(X11.Change.title)
    for case .title(let window) in changes.union(missed) {
      guard var seen = windows[window] else { continue }
      seen.shown.title = display.title(of: window)
      // More titles than this are as good as another document.
      if let history = seen.history, history.titles.last != seen.shown.title, history.titles.count < 64 {
        seen.history?.titles.append(seen.shown.title)
      }
      windows[window] = seen
    }
    if changes.contains(.list) { look(isFirst: false) }
  }

  /// Reads the windows that have come, and forgets those that have gone.
  private func look(isFirst: Bool) {
    let all = display.windows()
    let present = Set(all)
    windows = windows.filter { present.contains($0.key) }
    let new = all.filter { windows[$0] == nil }
    for (window, shown) in zip(new, display.read(new)) {
      var seen = Seen(shown: shown, application: application(of: shown))
      if !isFirst {
        let process = shown.process.flatMap(Kernel.process)
        seen.history = .init(
          startedWith: start(of: shown)?.path, processStarted: process?.started, titles: [shown.title])
      }
      windows[window] = seen
    }
  }

  private func application(of shown: X11.Shown) -> String? {
    var traits = shown.traits
    if let process = shown.process, isLocal(shown) {
      if Kernel.variable("GIO_LAUNCHED_DESKTOP_FILE_PID", of: process) == Bytes("\(process)".utf8) {
        traits.launchedFrom = Kernel.variable("GIO_LAUNCHED_DESKTOP_FILE", of: process)
      }
      traits.program = Kernel.program(of: process)
    }
    return WindowEvidence.application(of: traits, among: installed.entries.map(\.traits))
  }

  private func isLocal(_ shown: X11.Shown) -> Bool { shown.machine.isEmpty || shown.machine == machine }

  /// The start of ours that made a window: by the startup identifier, by the process, or by one of its parents.
  private func start(of shown: X11.Shown) -> Start? {
    if let start = starts.last(where: { !shown.startup.isEmpty && $0.startup == shown.startup }) { return start }
    guard var process = shown.process else { return nil }
    // gvim leaves its first process, and keeps its variables.
    if let startup = Kernel.variable("DESKTOP_STARTUP_ID", of: process),
      let start = starts.last(where: { $0.startup == startup })
    {
      return start
    }
    for _ in 0..<8 {
      if let start = starts.last(where: { $0.process == process }) { return start }
      guard let parent = Kernel.parent(of: process), parent > 1 else { return nil }
      process = parent
    }
    return nil
  }

  // MARK: Judging

  /// The windows as the judge sees them, the topmost first. Processes are looked at for the chosen application's windows only.
  private func evidence(for application: String) -> [Window] {
    take(display.changes())
    return display.windows().compactMap { identifier in
      guard let seen = windows[identifier] else { return nil }
      let isWanted = seen.application == application && isLocal(seen.shown)
      return Window(
        "\(identifier)", application: seen.application, title: seen.shown.title,
        process: isWanted ? seen.shown.process.flatMap(Kernel.process) : nil, isLocal: isLocal(seen.shown),
        isMain: seen.shown.isMain, history: seen.history)
    }
  }

  /// The file, its application, and what the windows say.
  struct Case {
    let file: File
    let url: String
    let entry: DesktopEntry
    let windows: [Window]
    let judgement: Judgement
  }

  func look(for url: String, in application: String?) async throws -> Case {
    guard let path = FileURL.path(of: Text(url)) else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "\(url) is not the URL of a file on this machine")
    }
    guard var file = File(at: path) else {
      throw ErrorReply(
        "org.freedesktop.DBus.Error.FileNotFound",
        "\(String(decoding: path, as: UTF8.self)): \(String(cString: strerror(errno)))")
    }
    let entry = try entry(for: path, application)
    let known = habits.application(entry)
    var windows = evidence(for: entry.identifier)
    await ask(about: url, file, entry, &windows)
    file.path = path
    let asked = pathsToAsk(file, for: known, among: windows, home: home)
    let existing = asked.filter { access($0.map { CChar(bitPattern: $0) } + [0], F_OK) == 0 }
    return Case(
      file: file, url: url, entry: entry, windows: windows,
      judgement: judge(file, for: known, among: windows, home: home, existing: existing))
  }

  private func entry(for path: [UInt8], _ application: String?) throws -> DesktopEntry {
    if let application {
      guard let entry = installed[application] else {
        throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application \(application) is installed")
      }
      return entry
    }
    let type = files.type(ofFile: path)
    guard let entry = installed.application(for: type) else {
      throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application opens \(type)")
    }
    return entry
  }

  /// Asks the services of some applications which process shows the file, and players what they play.
  private func ask(about url: String, _ file: File, _ entry: DesktopEntry, _ windows: inout [Window]) async {
    let daemons: [String: BusName] = ["evince": "org.gnome.evince.Daemon", "atril": "org.mate.atril.Daemon"]
    let paths: [String: ObjectPath] = ["evince": "/org/gnome/evince/Daemon", "atril": "/org/mate/atril/Daemon"]
    guard windows.contains(where: { $0.application == entry.identifier }) else { return }
    if let daemon = daemons[entry.program], let path = paths[entry.program],
      let owner: String = try? await connection.call(
        to: daemon, at: path, InterfaceName("\(daemon)"), "FindDocument", url, false, timeout: .milliseconds(100)),
      !owner.isEmpty, let name = try? BusName(owner), let process = await process(of: name)
    {
      for place in windows.indices where windows[place].process?.number == process {
        windows[place].isNamedByService = true
      }
    }
    if entry.categories.contains("Player"),
      let player = try? BusName("org.mpris.MediaPlayer2.\(entry.program)"),
      let playing = await track(of: player), let path = FileURL.path(of: Text(playing)),
      let process = await process(of: player)
    {
      for place in windows.indices where windows[place].process?.number == process { windows[place].playing = path }
    }
  }

  private func process(of name: BusName) async -> Int32? {
    let number: UInt32? = try? await connection.call(
      to: "org.freedesktop.DBus", at: "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
      "\(name)", timeout: .milliseconds(100))
    return number.map { Int32(bitPattern: $0) }
  }

  private func track(of player: BusName) async -> String? {
    let value: Variant? = try? await connection.call(
      to: player, at: "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", "Get",
      "org.mpris.MediaPlayer2.Player", "Metadata", timeout: .milliseconds(100))
    guard let value, let fields = try? [String: Variant](value), let url = fields["xesam:url"] else { return nil }
    return try? String(url)
  }

  // MARK: Acting

  enum Deed: String {
    case raised, runAgain = "run again", started
  }

  /// Does what the judgement says.
  func act(on found: Case, isNew: Bool, _ token: String?) async throws -> (Deed, window: String?) {
    let time = startupTime(token) ?? display.now()
    switch isNew ? .start : found.judgement.verdict {
    case .raise(let window, _):
      raise(window, at: time)
      return (.raised, window)
    case .runAgain(let window):
      try await start(found, token, at: time)
      if let window {
        raise(window, at: time)
      } else {
        connection.loop.task { await self.raiseNext(for: found, at: time) }
      }
      return (.runAgain, window)
    case .start:
      try await start(found, token, at: time)
      return (.started, nil)
    }
  }

  private func raise(_ window: String, at time: UInt32) {
    if let number = xcb_window_t(window) { display.raise(number, at: time) }
  }

  /// A startup identifier ends with the time of the person's act.
  private func startupTime(_ token: String?) -> UInt32? {
    token.flatMap { $0.range(ofLast: "_TIME") }.flatMap { UInt32($0) }
  }

  /// Raises the window of the application that appears now, or whose title now names the file.
  private func raiseNext(for found: Case, at time: UInt32) async {
    let before = Dictionary(uniqueKeysWithValues: found.windows.map { ($0.identifier, $0.title) })
    for _ in 0..<50 {
      await connection.loop.sleep(for: .milliseconds(100))
      take(display.changes())
      let next = windows.first { number, seen in
        seen.application == found.entry.identifier && before["\(number)"] != seen.shown.title
          && Title.hasWord(found.file.name, in: seen.shown.title)
      }
      if let next {
        if display.active != next.key { display.raise(next.key, at: time) }
        return
      }
    }
  }

  private func start(_ found: Case, _ token: String?, at time: UInt32) async throws {
    let entry = found.entry
    startCount += 1
    let startup = token ?? "stagedoor-\(getpid())-\(startCount)_TIME\(time)"
    if entry.isActivatable, let name = try? BusName(entry.identifier),
      let path = try? ObjectPath("/" + entry.identifier.map { $0 == "." ? "/" : $0 == "-" ? "_" : "\($0)" }.joined())
    {
      let data: [String: Variant] = ["desktop-startup-id": Variant(startup), "activation-token": Variant(startup)]
      _ = try await connection.call(to: name, at: path, "org.freedesktop.Application", "Open", [found.url], data) as ()
      return
    }
    let path = String(decoding: found.file.path, as: UTF8.self)
    let words = entry.command(opening: path, url: found.url)
    let (process, error) = Spawn.start(words, environment: environment(startup, entry), in: .session) { actions in
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    guard error == 0 else {
      throw ErrorReply("org.stagedoor.Error.LaunchFailed", "\(words[0]): \(String(cString: strerror(error)))")
    }
    starts.append(Start(process: process, startup: Bytes(startup.utf8), path: found.file.path))
    if starts.count > 256 { starts.removeFirst() }
  }

  private func environment(_ startup: String, _ entry: DesktopEntry) -> [String] {
    let replaced = [
      "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN", "GIO_LAUNCHED_DESKTOP_FILE", "GIO_LAUNCHED_DESKTOP_FILE_PID",
    ]
    var variables: [String] = []
    var next = environ
    while let variable = next.pointee.map({ String(cString: $0) }) {
      if !replaced.contains(where: { variable.hasPrefix("\($0)=") }), !variable.hasPrefix("DBUS_STARTER_") {
        variables.append(variable)
      }
      next += 1
    }
    return variables + [
      "DESKTOP_STARTUP_ID=\(startup)", "XDG_ACTIVATION_TOKEN=\(startup)", "GIO_LAUNCHED_DESKTOP_FILE=\(entry.path)",
    ]
  }

  // MARK: The list

  /// Every window, the topmost first.
  func list() -> [(window: String, application: String, title: String, isActive: Bool)] {
    take(display.changes())
    let active = display.active
    return display.windows().compactMap { number in
      guard let seen = windows[number], seen.shown.isMain else { return nil }
      return (
        "\(number)", seen.application ?? "", String(decoding: seen.shown.title, as: UTF8.self), number == active
      )
    }
  }

  func activate(_ window: String, _ token: String?) throws {
    guard let number = xcb_window_t(window), windows[number] != nil else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "there is no window \(window)")
    }
    display.raise(number, at: startupTime(token) ?? display.now())
  }

  /// Programs that ended leave no zombies.
  func reap() {
    var status: Int32 = 0
    while waitpid(-1, &status, WNOHANG) > 0 {}
  }
}

extension String {
  /// What stands behind the last occurrence of a text; `nil` if the text does not occur.
  fileprivate func range(ofLast text: String) -> Substring? {
    var place = endIndex
    while true {
      if self[place...].hasPrefix(text) { return self[place...].dropFirst(text.count) }
      if place == startIndex { return nil }
      place = index(before: place)
    }
  }
}
