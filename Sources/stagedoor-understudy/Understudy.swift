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

  private(set) var display: any Display
  /// Connects to the display of the environment.
  private let connect: () -> (any Display)?
  let processes: any Processes
  private(set) var installed: InstalledFollower
  let home = Bytes((getenv("HOME").map { String(cString: $0) } ?? "/").utf8)
  private let machine = Understudy.hostName()

  /// Windows, and what has been seen of each since it appeared.
  private(set) var windows: [WindowNumber: Seen] = [:]
  /// The programs that were started here and have shown no window yet.
  private(set) var starts: [Start] = []
  /// The windows that are to come to the front as soon as they show a file.
  var awaited: [Awaited] = []
  /// The applications that callers wait for, by the callers' tokens.
  var startups: [String: String] = [:]

  var hosting = Hosting()

  /// How long a window that has appeared may write other titles while its program still opens the file. No person does anything in it meanwhile.
  private let settling: Duration
  /// How long a caller waits for a window.
  let patience: Duration

  /// Tells that the windows are no longer those that were listed last; `nil` if that was told, or nobody has listed them.
  var listChanged: (() -> Void)?

  struct Seen {
    var shown: ShownWindow
    var application: String?
    /// `nil` for a window that was there before the understudy, and where the judge asks for none.
    var history: Window.History?
    let appeared = ContinuousClock.now
    /// Whether the title may be another by now.
    var isStale = false
  }

  /// A program that was started with a file. It is known by its startup identifier, and by its process.
  struct Start {
    let application: String
    let path: Bytes
    let startup: Bytes
    let process: Int32
    /// The start of the process: its number may belong to another process later.
    let started: Int64?
    let noted = ContinuousClock.now
  }

  /// - Parameter connect: Connects to the display again, after it has closed.
  init(
    _ connection: Connection, _ display: sending any Display, _ processes: sending any Processes,
    in places: InstalledPlaces = InstalledPlaces(), settling: Duration = .seconds(3),
    patience: Duration = .seconds(20), again connect: sending @escaping () -> (any Display)? = { nil }
  ) {
    (self.connection, self.display, self.connect, self.processes) = (connection, display, connect, processes)
    (self.settling, self.patience) = (settling, patience)
    installed = InstalledFollower(in: places)
  }

  private static func hostName() -> Bytes {
    var name = [CChar](repeating: 0, count: 256)
    gethostname(&name, 255)
    return Bytes(name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
  }

  // MARK: Watching

  /// Takes note of the windows that exist.
  func begin() {
    look(isFirst: true)
    take()
  }

  /// Follows the windows until the display closes, and no other opens in its place.
  func follow() async {
    repeat {
      while !display.isBroken, !Task.isCancelled {
        await connection.loop.readable(display.descriptor)
        // A window manager answers a change with changes of its own, which are taken together with the first.
        await connection.loop.sleep(for: .milliseconds(1))
        take()
      }
    } while await isConnectedAgain()
  }

  /// A display that has closed takes its windows with it. A server or compositor that crashed is back within a minute.
  private func isConnectedAgain() async -> Bool {
    (windows, starts, awaited) = ([:], [], [])
    tellOfChange()
    windowsChanged()
    for _ in 0..<60 where !Task.isCancelled {
      await connection.loop.sleep(for: .seconds(1))
      guard let display = connect() else { continue }
      self.display = display
      begin()
      tellOfChange()
      windowsChanged()
      return true
    }
    return false
  }

  /// Follows what is installed. An installer writes many files, so this waits until no notice has come for a tenth of a second.
  func followInstalled() async {
    while let notices = installed.notices, !Task.isCancelled {
      await connection.loop.readable(notices.descriptor)
      guard notices.take() else { continue }
      for _ in 0..<10 {
        await connection.loop.sleep(for: .milliseconds(100))
        if !notices.take() { break }
      }
      installed.read()
      for (number, seen) in windows { windows[number]?.application = application(of: seen.shown) }
      await updateManifests()
    }
  }

  /// Takes all events of the display. A question to the display may bring more events, and its descriptor then stays quiet.
  func take() {
    while true {
      let changes = display.changes()
      if changes.isEmpty { return }
      tellOfChange()
      recognise(changes.classes.filter { windows[$0] != nil })
      for number in changes.titles.keys {
        windows[number]?.isStale = true
        windowsChanged(of: windows[number]?.application ?? "")
      }
      // Other titles are read when somebody asks: some programs write a new one ten times a second.
      readTitles(of: changes.titles.keys.filter { !awaited.isEmpty || windows[$0]?.history != nil }, changes.titles)
      if changes.list {
        look(isFirst: false)
        // A window that has just come is one of them.
        windowsChanged()
      }
      raiseAwaited()
    }
  }

  /// Reads the titles that have changed.
  func readTitles(of numbers: [WindowNumber], _ changes: [WindowNumber: Int] = [:]) {
    let stale = numbers.filter { windows[$0]?.isStale ?? false }
    if stale.isEmpty { return }
    for (number, title) in zip(stale, display.titles(of: stale)) {
      windows[number]?.shown.title = title
      windows[number]?.isStale = false
      if let appeared = windows[number]?.appeared, .now - appeared < settling {
        windows[number]?.history?.titles = [title]
      } else {
        windows[number]?.history?.note(title, changes: changes[number] ?? 1)
      }
    }
  }

  /// Reads the windows that have come, and forgets those that have gone.
  private func look(isFirst: Bool) {
    let all = display.windows()
    let present = Set(all)
    windows = windows.filter { present.contains($0.key) }
    let new = all.filter { windows[$0] == nil }
    for (number, shown) in zip(new, display.read(new)) {
      var seen = Seen(shown: shown, application: application(of: shown))
      if !isFirst {
        for (other, neighbour) in windows where neighbour.shown.process == shown.process && shown.process != nil {
          windows[other]?.history?.isComplete = false
        }
        let start = takeStart(of: shown, seen.application)
        if let start { seen.application = start.application }
        if isRecalled(seen.application) {
          seen.history = .init(
            startedWith: start?.path, processStarted: shown.process.flatMap(processes.start), titles: [shown.title])
        }
      }
      windows[number] = seen
      if shown.isMain, !isFirst { endStartups(of: seen.application) }
    }
  }

  private func application(of shown: ShownWindow) -> String? {
    var traits = shown.traits
    if let process = shown.process, isLocal(shown) {
      if processes.variable("GIO_LAUNCHED_DESKTOP_FILE_PID", of: process) == Bytes("\(process)".utf8) {
        traits.launchedFrom = processes.variable("GIO_LAUNCHED_DESKTOP_FILE", of: process)
      }
      traits.program = processes.program(of: process)
    }
    let applications = installed.now.applications
    return WindowEvidence.application(of: traits, among: applications.entries.map(\.traits))
      .map { applications[$0]?.application ?? $0 }
  }

  /// Looks again at windows that say otherwise whose they are.
  private func recognise(_ numbers: Set<WindowNumber>) {
    let numbers = Array(numbers)
    for (number, shown) in zip(numbers, numbers.isEmpty ? [] : display.read(numbers)) {
      windows[number]?.shown.traits = shown.traits
      guard let application = application(of: shown) else { continue }
      windows[number]?.application = application
      endStartups(of: application)
      windowsChanged(of: application)
    }
  }

  /// Whether the judge asks for the former titles of an application's windows.
  private func isRecalled(_ application: String?) -> Bool {
    let entry = application.flatMap { installed.now.applications[$0] }
    return entry.map { installed.now.habits.application($0).habit == .oneProcessForEach } ?? false
  }

  private func isLocal(_ shown: ShownWindow) -> Bool { shown.machine.isEmpty || shown.machine == machine }

  // MARK: Starts

  func note(_ process: Int32, of application: String, with path: Bytes, as startup: String) {
    starts.append(
      Start(
        application: application, path: path, startup: Bytes(startup.utf8), process: process,
        started: processes.start(of: process)))
    if starts.count > 256 { starts.removeFirst() }
  }

  /// Whether the file's application was started with it a short while ago, still runs, and has shown no window yet.
  func isStarting(_ application: String, with path: Bytes) -> Bool {
    starts.contains { start in
      start.application == application && start.path == path && .now - start.noted < .seconds(10)
        && start.started != nil && processes.start(of: start.process) == start.started
    }
  }

  /// The start of ours that made a window. It made no other: what runs inside a program that was started here inherits its variables.
  private func takeStart(of shown: ShownWindow, _ application: String?) -> Start? {
    guard shown.isMain, isLocal(shown), let place = placeOfStart(shown) else { return nil }
    let start = starts.remove(at: place)
    return application == nil || application == start.application ? start : nil
  }

  private func placeOfStart(_ shown: ShownWindow) -> Int? {
    func startup(_ identifier: Bytes) -> Int? {
      identifier.isEmpty ? nil : starts.lastIndex { $0.startup == identifier }
    }
    if let place = startup(shown.startup) { return place }
    guard var process = shown.process else { return nil }
    // gvim leaves its first process, and keeps its variables.
    if let place = processes.variable("DESKTOP_STARTUP_ID", of: process).flatMap(startup) { return place }
    for _ in 0..<8 {
      let started = processes.start(of: process)
      if let place = starts.lastIndex(where: { $0.process == process && $0.started == started }) { return place }
      guard let parent = processes.parent(of: process), parent > 1 else { return nil }
      process = parent
    }
    return nil
  }

  // MARK: Judging

  /// The windows as the judge sees them, the topmost first. Processes are looked at for the chosen application's windows only.
  func evidence(for application: String) -> [Window] {
    take()
    defer { take() }
    readTitles(of: Array(windows.keys))
    return display.windows().compactMap { number in
      guard let seen = windows[number] else { return nil }
      let isWanted = seen.application == application && isLocal(seen.shown)
      return Window(
        "\(number)", application: seen.application, title: seen.shown.title,
        process: isWanted ? seen.shown.process.flatMap(processes.process) : nil, isLocal: isLocal(seen.shown),
        isMain: seen.shown.isMain, history: seen.history)
    }
  }

  /// The file, the application that shows it or is to open it, and what the windows say.
  struct Case {
    let file: File
    let url: String
    let entry: DesktopEntry
    let windows: [Window]
    var judgement: Judgement
    /// Whether a second window is wanted.
    var isNew = false
  }

  /// - Parameter isNew: Whether the application is started whatever the windows show.
  func look(for url: String, in application: String?, isNew: Bool = false) async throws -> Case {
    guard let path = FileURL.path(of: Text(url)) else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "\(url) is not the URL of a file on this machine")
    }
    guard let file = File(at: path) else {
      throw ErrorReply(
        "org.freedesktop.DBus.Error.FileNotFound",
        "\(String(decoding: path, as: UTF8.self)): \(String(cString: strerror(errno)))")
    }
    if installed.notices == nil { installed.read() }
    var chosen = await judged(file, url, try entry(for: path, application))
    if isNew { (chosen.isNew, chosen.judgement.verdict) = (true, .start) }
    if application != nil || isNew || chosen.judgement.shownIn != nil { return chosen }
    // The file may be open in another application that takes its type.
    let takers = installed.now.applications.names(ofTakersOf: installed.now.files.type(ofFile: path))
    var others = chosen.windows.compactMap(\.application).filter { takers.contains($0) }
    while let name = others.first {
      others.removeAll { $0 == name }
      guard name != chosen.entry.application, let entry = installed.now.applications[name] else { continue }
      var other = await judged(file, url, entry)
      if other.judgement.shownIn?.level == .certain {
        other.judgement.merge(chosen.judgement)
        return other
      }
      chosen.judgement.merge(other.judgement)
    }
    return chosen
  }

  private func judged(_ file: File, _ url: String, _ entry: DesktopEntry) async -> Case {
    var windows = evidence(for: entry.application)
    await ask(about: url, entry, &windows)
    let judgement = judgement(of: file, for: installed.now.habits.application(entry), among: windows)
    return Case(file: file, url: url, entry: entry, windows: windows, judgement: judgement)
  }

  func judgement(of file: File, for application: Application, among windows: [Window]) -> Judgement {
    let asked = pathsToAsk(file, for: application, among: windows, home: home)
    let existing = asked.filter { access($0.map { CChar(bitPattern: $0) } + [0], F_OK) == 0 }
    return judge(file, for: application, among: windows, home: home, existing: existing)
  }

  private func entry(for path: Bytes, _ application: String?) throws -> DesktopEntry {
    if let application {
      guard let entry = installed.now.applications[application] else {
        throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application \(application) is installed")
      }
      return entry
    }
    let type = installed.now.files.type(ofFile: path)
    guard let entry = installed.now.applications.application(for: type) else {
      throw ErrorReply("org.stagedoor.Error.NoSuchApplication", "no application opens files of the type \(type)")
    }
    return entry
  }

  /// Asks the services of some applications which process shows the file, and players what they play.
  private func ask(about url: String, _ entry: DesktopEntry, _ windows: inout [Window]) async {
    guard windows.contains(where: { $0.application == entry.application }) else { return }
    let services = Services(connection: connection)
    if let process = await services.process(showing: url, of: entry.program) {
      for place in windows.indices where windows[place].process?.number == process {
        windows[place].isNamedByService = true
      }
    }
    if entry.categories.contains("Player"), let (process, playing) = await services.track(of: entry.program) {
      for place in windows.indices where windows[place].process?.number == process { windows[place].playing = playing }
    }
  }

  // MARK: The list

  func activate(_ window: String, _ token: String?) throws {
    defer { endStartup(token) }
    try activate(window, at: time(of: token))
  }

  func activate(_ window: String, at time: UInt32) throws {
    guard let number = WindowNumber(window), windows[number] != nil else {
      throw ErrorReply("org.freedesktop.DBus.Error.InvalidArgs", "there is no window \(window)")
    }
    guard display.canRaise else {
      throw ErrorReply(
        "org.freedesktop.DBus.Error.NotSupported", "this compositor brings no window to the front for others")
    }
    display.raise(number, at: time)
    take()
  }
}
