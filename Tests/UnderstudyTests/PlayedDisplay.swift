import DBus
import DBusTestSupport
import Foundation
import SceneModel
import Synchronization
import WindowEvidence

@testable import stagedoor_understudy

/// Not Foundation's.
typealias Process = WindowEvidence.Process

extension Process {
  static func running(_ number: Int32, since started: Int64 = 1 << 60) -> Process {
    Process(number: number, started: started, ticks: started)
  }

  /// A process with a file in its command line.
  static func opened(_ number: Int32, with path: String, started: Int64 = 1 << 60) -> Process {
    Process(number: number, started: started, ticks: started, arguments: [Bytes(path.utf8)])
  }

  /// A process that holds a file open.
  static func holding(_ path: String, _ number: Int32) -> Process {
    Process(
      number: number, started: 1 << 60, ticks: 1 << 60,
      held: [.init(PlayedDesktop.node(path), path: Bytes(path.utf8))])
  }
}

/// A display that replays what an X server told of windows, and notes what it is asked to do.
final class PlayedDisplay: Display, Sendable {
  struct State {
    /// The topmost first.
    var windows: [(number: WindowNumber, shown: ShownWindow)] = []
    var changes = DisplayChanges()
    var raised: [WindowNumber] = []
    /// The windows that were asked to close.
    var closed: [WindowNumber] = []
    /// Whether programs ask their person first: their windows stay until the test hides them.
    var asksBeforeClosing = false
    /// The startup sequences that were ended.
    var ended: [String] = []
    var active: WindowNumber?
    var canRaise = true
    var isBroken = false
    /// How often all windows were asked for.
    var listings = 0
    /// What happens once, just after all windows were asked for.
    var meanwhile: @Sendable (inout State) -> Void = { _ in }

    mutating func hide(_ window: WindowNumber) {
      windows.removeAll { $0.number == window }
      changes.list = true
    }
  }

  private let state = Mutex(State())

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  func show(
    _ number: WindowNumber, _ program: String, _ title: String, process: Int32? = nil, startup: String = "",
    isMain: Bool = true
  ) {
    change {
      var shown = ShownWindow(title: Bytes(title.utf8), process: process, startup: Bytes(startup.utf8))
      shown.traits.instance = Bytes(program.utf8)
      shown.isMain = isMain
      $0.windows.insert((number, shown), at: 0)
      $0.changes.list = true
    }
  }

  /// Says otherwise whose a window is.
  func name(_ program: String, on number: WindowNumber) {
    change {
      for place in $0.windows.indices where $0.windows[place].number == number {
        $0.windows[place].shown.traits.instance = Bytes(program.utf8)
      }
      $0.changes.classes.insert(number)
    }
  }

  /// Writes a title, and then others that nobody can see any more.
  func write(_ title: String, on number: WindowNumber, times: Int = 1) {
    change {
      for place in $0.windows.indices where $0.windows[place].number == number {
        $0.windows[place].shown.title = Bytes(title.utf8)
      }
      $0.changes.titles[number, default: 0] += times
    }
  }

  var raised: [WindowNumber] { state.withLock(\.raised) }
  var closed: [WindowNumber] { state.withLock(\.closed) }
  var listings: Int { state.withLock(\.listings) }
  var ended: [String] { state.withLock(\.ended) }

  // MARK: Display

  var descriptor: Int32 { -1 }
  var isBroken: Bool { state.withLock(\.isBroken) }
  func changes() -> DisplayChanges { state.withLock { exchange(&$0.changes, with: DisplayChanges()) } }
  func windows() -> [WindowNumber] {
    state.withLock {
      $0.listings += 1
      let all = $0.windows.map(\.number)
      let meanwhile = $0.meanwhile
      $0.meanwhile = { _ in }
      meanwhile(&$0)
      return all
    }
  }
  func read(_ windows: [WindowNumber]) -> [ShownWindow] {
    state.withLock { state in
      windows.map { number in state.windows.first { $0.number == number }?.shown ?? ShownWindow() }
    }
  }
  func titles(of windows: [WindowNumber]) -> [Bytes] { read(windows).map(\.title) }
  var active: WindowNumber? { state.withLock(\.active) }
  var canRaise: Bool { state.withLock(\.canRaise) }
  func close(_ window: WindowNumber) {
    change {
      $0.closed.append(window)
      if !$0.asksBeforeClosing { $0.hide(window) }
    }
  }
  func hide(_ window: WindowNumber) { change { $0.hide(window) } }
  func raise(_ window: WindowNumber, at time: UInt32) { state.withLock { $0.raised.append(window) } }
  func endStartup(_ identifier: Bytes) {
    state.withLock { $0.ended.append(String(decoding: identifier, as: UTF8.self)) }
  }
  func now() -> UInt32 { 1 }
}

/// Processes as `/proc` would show them, by their numbers.
final class PlayedProcesses: Processes, Sendable {
  struct State {
    var all: [Int32: Process] = [:]
    /// Whether the kernel knows the processes that the understudy starts, which end at once.
    var knowsStarted = false
    var variables: [Int32: [String: String]] = [:]
    var programs: [Int32: String] = [:]
    /// How often each was looked at.
    var looks: [Int32: Int] = [:]
    /// The processes whose start time was asked for: every process that the understudy started, and others.
    var started: Set<Int32> = []
    /// Whether the test is over.
    var isOver = false
  }

  private let state: Mutex<State>

  init(_ all: [Process], knowsStarted: Bool) {
    state = Mutex(State(all: Dictionary(all.map { ($0.number, $0) }) { $1 }, knowsStarted: knowsStarted))
  }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var looks: [Int32: Int] { state.withLock(\.looks) }
  /// Awaits the processes that were started, and from now on each that is started.
  func awaitStarted() {
    let started = state.withLock {
      $0.isOver = true
      return $0.started
    }
    for process in started where process > 1 { waitpid(process, nil, 0) }
  }

  // MARK: Processes

  func process(_ number: Int32) -> Process? {
    state.withLock {
      $0.looks[number, default: 0] += 1
      return $0.all[number]
    }
  }
  func start(of number: Int32) -> Int64? {
    let (isOver, ticks) = state.withLock {
      $0.started.insert(number)
      return ($0.isOver, $0.all[number]?.ticks ?? ($0.knowsStarted ? 1 : nil))
    }
    if isOver, number > 1 { waitpid(number, nil, 0) }
    return ticks
  }
  func parent(of number: Int32) -> Int32? { nil }
  func variable(_ name: String, of number: Int32) -> Bytes? {
    state.withLock { $0.variables[number]?[name].map { Bytes($0.utf8) } }
  }
  func program(of number: Int32) -> Bytes? { state.withLock { $0.programs[number].map { Bytes($0.utf8) } } }
}

/// An understudy on a private bus, a played display, and a folder with desktop files and documents.
struct PlayedDesktop {
  let display = PlayedDisplay()
  let processes: PlayedProcesses
  let understudy: Understudy
  let bus: PrivateBus
  let place: String

  /// - Parameters:
  ///   - lines: Further lines in the desktop files of programs.
  ///   - chosen: The program that the person has chosen for texts.
  static nonisolated(nonsending) func run(
    programs: [String], files: [String] = ["a.txt"], knowsStarted: Bool = false, settling: Duration = .zero,
    lines: [String: String] = [:], chosen: String? = nil, busyTime: Duration = usualLimit,
    _ processes: (String) -> [Process] = { _ in [] },
    _ body: nonisolated(nonsending) (PlayedDesktop) async throws -> Void
  ) async throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "desktop-\(UUID())").path
    func write(_ text: String, _ name: String) throws {
      let file = URL(filePath: "\(place)/\(name)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    for program in programs {
      try write(
        "[Desktop Entry]\nType=Application\nName=\(program)\nExec=\(place)/bin/\(program) %F\nMimeType=text/plain;\n"
          + (lines[program] ?? ""),
        "data/applications/\(program).desktop")
      try write("#!/bin/sh\nprintf '%s' \"$1\" >'\(place)/started'\n", "bin/\(program)")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(place)/bin/\(program)")
    }
    if let chosen { try write("[Default Applications]\ntext/plain=\(chosen).desktop\n", "config/mimeapps.list") }
    for file in files { try write("text", file) }
    defer { try? FileManager.default.removeItem(atPath: place) }
    let played = PlayedProcesses(processes(place), knowsStarted: knowsStarted)
    try await withPrivateBus { bus async throws in
      let connection = try await bus.connect()
      connection.identifyCallers()
      let desktop = PlayedDesktop(on: connection, bus, place, played, settling, busyTime)
      await desktop.understudy.begin()
      connection.export(UnderstudyInterface.made(for: desktop.understudy), at: UnderstudyInterface.path)
      _ = try await connection.requestName(UnderstudyInterface.name, .doNotQueue)
      // A process that nobody awaits would keep the tests that end a process of their own waiting.
      defer { desktop.processes.awaitStarted() }
      // Otherwise the understudy and its connection would hold each other, and one of the 128 inotify descriptors of the user.
      defer { connection.unexport("org.stagedoor.Understudy1", at: UnderstudyInterface.path) }
      try await body(desktop)
    }
  }

  private init(
    on connection: Connection, _ bus: PrivateBus, _ place: String, _ processes: PlayedProcesses, _ settling: Duration,
    _ busyTime: Duration
  ) {
    (self.bus, self.place, self.processes) = (bus, place, processes)
    understudy = Understudy(
      connection, display, processes, in: InstalledPlaces(data: ["\(place)/data"], configuration: ["\(place)/config"]),
      settling: settling, patience: usualLimit, startTime: usualLimit, busyTime: busyTime)
  }

  /// Something happens on the display, and the understudy takes note of it. A real display wakes it.
  nonisolated(nonsending) func tell(_ happen: (PlayedDisplay) -> Void) async {
    happen(display)
    await understudy.takeEvents()
  }

  func url(_ name: String) -> String { FileURL.text(ofPath: Array("\(place)/\(name)".utf8)).string }

  /// The understudy, as a client of its own calls it.
  func object() async throws -> RemoteObject {
    try await bus.connect().object(UnderstudyInterface.name, at: UnderstudyInterface.path, "org.stagedoor.Understudy1")
  }

  /// What the understudy answers to a client that opens a file of the folder.
  func opened(_ options: [String: Variant]) async throws -> (deed: String, window: String, report: String) {
    try await object().call("Open", url("a.txt"), options, returning: String.self, String.self, String.self)
  }

  /// What the understudy would do with a file of the folder.
  func verdict(_ name: String, _ program: String) async throws -> Verdict {
    try await understudy.look(for: url(name), in: program).judgement.verdict
  }

  static func node(_ path: String) -> Node { File(at: Bytes(path.utf8))?.node ?? Node(device: 0, inode: 0) }
}
