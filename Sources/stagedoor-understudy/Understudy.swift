import DBus
import DesktopFiles
@preconcurrency import Glibc
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
  /// Connects to a display of the same kind.
  private let kind: DisplayKind
  /// The displays of the environment, which every program that is started here gets.
  private let displays: NamedDisplays
  let processes: any Processes
  private(set) var installed: InstalledFollower
  let home = Bytes((getenv("HOME").map { String(cString: $0) } ?? "/").utf8)
  private let machine = Understudy.hostName()

  /// Windows, and what has been seen of each since it appeared.
  private(set) var windows: [WindowNumber: Seen] = [:]
  /// The programs that were started here and have shown no window yet.
  private(set) var starts: [Start] = []
  /// The processes that have had a window, with the times at which they started.
  private var owners: [Int32: Int64] = [:]
  /// The windows that are to come to the front as soon as they show a file.
  var awaited: [Awaited] = []
  /// The applications that callers wait for, by the callers' tokens.
  var startups: [String: String] = [:]

  var hosting = Hosting()

  /// How long a window that has appeared may write other titles while its program still opens the file. No person does anything in it meanwhile.
  ///
  /// The first title with the file's name would not say that the program has opened the file: a viewer that cannot show a picture keeps its own name as the
  /// title until somebody drops another picture of this name on it.
  private let settling: Duration
  /// How long a service on the bus may think about a question.
  let patience: Duration
  /// How long a program that was started may take until its window appears. Until then a second wish for its file is the same wish.
  var startTime: Duration
  /// How long the pointer of a caller may be busy until a window comes.
  let busyTime: Duration

  /// Tells that the windows are no longer those that were listed last; `nil` if that was told, or nobody has listed them.
  var listChanged: (() -> Void)?

  struct Seen {
    var shown: ShownWindow
    var application: String?
    /// The application that was started here and made the window. Of a program that an interpreter runs, nothing else may tell the application.
    var startedAs: String?
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
    /// `nil` for a program that the bus starts.
    let process: Int32?
    /// The start of the process by the kernel's count: its number may belong to another process later.
    let started: Int64?
    let noted = ContinuousClock.now
    /// Whether a window has come since that may be the program's.
    var mayBeShown = false
  }

  /// - Parameter kind: Connects to the display again, after it has closed.
  init(
    _ connection: Connection, _ display: sending any Display, _ processes: sending any Processes,
    in places: InstalledPlaces = InstalledPlaces(), settling: Duration = .seconds(3),
    patience: Duration = .milliseconds(100), startTime: Duration = .seconds(10), busyTime: Duration = .seconds(20),
    again kind: @escaping DisplayKind = { nil }
  ) {
    (self.connection, self.display, self.kind, self.processes) = (connection, display, kind, processes)
    (self.settling, self.patience, self.startTime, self.busyTime) = (settling, patience, startTime, busyTime)
    displays = NamedDisplays { Environment[$0].map { Bytes($0.utf8) } }
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
    takeEvents()
  }

  /// Follows the windows until the display closes, and no other opens in its place.
  func follow() async {
    repeat {
      while !display.isBroken, !Task.isCancelled {
        await connection.loop.readable(display.descriptor)
        // A window manager answers a change with changes of its own, which are taken together with the first.
        await connection.loop.sleep(for: .milliseconds(1))
        takeEvents()
      }
    } while await isConnectedAgain()
  }

  /// A display that has closed takes its windows with it. A server or compositor that crashed is back within a minute.
  private func isConnectedAgain() async -> Bool {
    (windows, starts, awaited) = ([:], [], [])
    tellOfChange()
    windowsChanged()
    let end = ContinuousClock.now + .seconds(60)
    while .now < end, !Task.isCancelled {
      await connection.loop.sleep(for: .seconds(1))
      guard let display = await Displays.connect(kind, on: connection.loop, within: end - .now) else { continue }
      self.display = display
      begin()
      tellOfChange()
      windowsChanged()
      return true
    }
    return false
  }

  /// Refuses to open a file where nobody would see it: while the display is away, and for a calling process on another display.
  func refuseUnseen(by caller: Int32? = nil) throws {
    takeEvents()
    if display.isBroken {
      throw ErrorReply("org.freedesktop.DBus.Error.NotSupported", "the display has gone")
    }
    guard let caller else { return }
    let theirs = NamedDisplays { processes.variable($0, of: caller) }
    if theirs.areOther(than: displays) {
      throw ErrorReply("org.freedesktop.DBus.Error.NotSupported", "it serves another display than the caller's")
    }
  }

  /// Follows what is installed. An installer writes many files, so this waits until no notice has come for a tenth of a second.
  func followInstalled() async {
    sayComplaints(besides: [])
    while let notices = installed.notices, !Task.isCancelled {
      await connection.loop.readable(notices.descriptor)
      guard notices.take() else { continue }
      for _ in 0..<10 {
        await connection.loop.sleep(for: .milliseconds(100))
        if !notices.take() { break }
      }
      readInstalled()
      await updateManifests()
    }
  }

  func readInstalled() {
    let former = installed.complaints
    installed.read()
    sayComplaints(besides: former)
    for (number, seen) in windows {
      let started = seen.startedAs.flatMap { installed.now.applications[$0]?.application }
      windows[number]?.application = application(of: seen.shown) ?? started
    }
  }

  private func sayComplaints(besides former: [String]) {
    for complaint in installed.complaints where !former.contains(complaint) {
      fputs("stagedoor-understudy: \(complaint.printable)\n", stderr)
    }
  }

  /// Where the kernel has no room for notices.
  func readInstalledIfUnwatched() { if !installed.isWatched { installed.read() } }

  /// Takes all events of the display. A question to the display may bring more events, and its descriptor then stays quiet.
  func takeEvents() {
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
    // Those that have just gone are neighbours too.
    var met = windows
    windows = windows.filter { present.contains($0.key) }
    let new = all.filter { windows[$0] == nil }
    for (number, shown) in zip(new, read(new)) {
      var seen = Seen(shown: shown, application: application(of: shown))
      let hadWindow = noteOwner(of: shown)
      if !isFirst {
        let neighbours = met.filter { shown.process != nil && $0.value.shown.process == shown.process }.keys
        for other in neighbours { windows[other]?.history?.isComplete = false }
        let start = takeStart(of: shown, seen.application)
        if let start {
          (seen.application, seen.startedAs) = (start.application, start.application)
        } else {
          endStarts(by: seen)
        }
        if isRecalled(seen.application) {
          seen.history = .init(
            startedWith: start?.path, processStarted: shown.process.flatMap(processes.start), titles: [shown.title],
            isComplete: neighbours.isEmpty && !hadWindow)
        }
      }
      (windows[number], met[number]) = (seen, seen)
      if shown.isMain, !isFirst { endStartups(of: seen.application) }
    }
  }

  /// Returns whether the process of the window has had another one before: a picture that a program shows while it starts is none.
  private func noteOwner(of shown: ShownWindow) -> Bool {
    guard shown.isMain, let process = shown.process, let start = processes.start(of: process) else { return false }
    if owners.count >= 1_000 { owners = owners.filter { processes.start(of: $0.key) == $0.value } }
    return owners.updateValue(start, forKey: process) == start
  }

  private func read(_ numbers: [WindowNumber]) -> [ShownWindow] {
    display.read(numbers).map { shown in
      var shown = shown
      shown.isLocal = isLocal(shown)
      return shown
    }
  }

  /// The programs that bring windows of other machines to a display.
  private static let carriers = ["ssh", "waypipe"].map { Bytes($0.utf8) }

  /// Wayland tells no machine. A window of another has the process of the program that brings it, or a number that no process has here.
  private func isLocal(_ shown: ShownWindow) -> Bool {
    if !shown.machine.isEmpty { return shown.machine == machine }
    guard let process = shown.process else { return true }
    let program = processes.program(of: process)
    return processes.start(of: process) != nil && !Understudy.carriers.contains { $0 == program }
  }

  private func application(of shown: ShownWindow) -> String? {
    var traits = shown.traits
    if let process = shown.process, shown.isLocal {
      if processes.variable("GIO_LAUNCHED_DESKTOP_FILE_PID", of: process) == Bytes("\(process)".utf8) {
        traits.launchedFrom = processes.variable("GIO_LAUNCHED_DESKTOP_FILE", of: process)
      }
      traits.program = processes.program(of: process)
    }
    return installed.now.applications.application(of: traits)
  }

  /// Looks again at windows that say otherwise whose they are, or of what kind. Their titles are read apart, because each change counts.
  private func recognise(_ numbers: Set<WindowNumber>) {
    let numbers = Array(numbers)
    for (number, shown) in zip(numbers, numbers.isEmpty ? [] : read(numbers)) {
      let title = windows[number]?.shown.title ?? shown.title
      windows[number]?.shown = shown
      windows[number]?.shown.title = title
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

  // MARK: Starts

  func note(_ process: Int32?, of application: String, with path: Bytes, as startup: String) {
    starts.append(
      Start(
        application: application, path: path, startup: Bytes(startup.utf8), process: process,
        started: process.flatMap(processes.start)))
    if starts.count > 256 { starts.removeFirst() }
  }

  /// Whether the file's application was started with it a short while ago, still runs, and has shown no window yet.
  func isStarting(_ application: String, with path: Bytes) -> Bool {
    starts.contains { start in
      start.application == application && start.path == path && !start.mayBeShown
        && .now - start.noted < startTime && runs(start)
    }
  }

  func forgetStart(_ startup: String) { starts.removeAll { $0.startup == Bytes(startup.utf8) } }

  func runs(_ start: Start) -> Bool {
    guard let process = start.process else { return .now - start.noted < startTime }
    return start.started != nil && processes.start(of: process) == start.started
  }

  /// The start of ours that made a window. It made no other: what runs inside a program that was started here inherits its variables.
  private func takeStart(of shown: ShownWindow, _ application: String?) -> Start? {
    guard shown.isMain, shown.isLocal, let place = placeOfStart(shown) else { return nil }
    let start = starts.remove(at: place)
    return application == nil || application == start.application ? start : nil
  }

  /// A window that no start is known to have made may be that of every start of its application, and of every start at all where nobody knows its
  /// application or its process.
  private func endStarts(by seen: Seen) {
    guard seen.shown.isMain, seen.shown.isLocal else { return }
    let isKnown = seen.application != nil && seen.shown.process != nil
    for place in starts.indices where !isKnown || starts[place].application == seen.application {
      starts[place].mayBeShown = true
    }
  }

  /// The process is surer than the identifier, which the programs of a selection of files may share.
  private func placeOfStart(_ shown: ShownWindow) -> Int? {
    if let place = shown.process.flatMap(placeOfStart) { return place }
    // gvim leaves its first process, and keeps its variables.
    let inherited = shown.process.flatMap { processes.variable("DESKTOP_STARTUP_ID", of: $0) }
    let identifiers = [shown.startup, inherited ?? []].filter { !$0.isEmpty }
    return identifiers.lazy.compactMap { identifier in self.starts.lastIndex { $0.startup == identifier } }.first
  }

  private func placeOfStart(by process: Int32) -> Int? {
    var process = process
    for _ in 0..<8 {
      let started = processes.start(of: process)
      if let place = starts.lastIndex(where: { $0.process == process && $0.started == started }) { return place }
      guard let parent = processes.parent(of: process), parent > 1 else { return nil }
      process = parent
    }
    return nil
  }
}
