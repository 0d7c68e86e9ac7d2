import DBus
import DBusTestSupport
import Foundation
import SceneModel
import Synchronization
import WindowEvidence

@testable import stagedoor_understudy

/// Not Foundation's.
typealias Process = WindowEvidence.Process

/// A display that replays what an X server told of windows, and notes what it is asked to do.
final class PlayedDisplay: Display, Sendable {
  struct State {
    /// The topmost first.
    var windows: [(number: WindowNumber, shown: ShownWindow)] = []
    var changes = DisplayChanges()
    var raised: [WindowNumber] = []
    /// The startup sequences that were ended.
    var ended: [String] = []
    var active: WindowNumber?
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
  var ended: [String] { state.withLock(\.ended) }

  // MARK: Display

  var descriptor: Int32 { -1 }
  var isBroken: Bool { false }
  func changes() -> DisplayChanges {
    state.withLock { state in
      defer { state.changes = DisplayChanges() }
      return state.changes
    }
  }
  func windows() -> [WindowNumber] { state.withLock { $0.windows.map(\.number) } }
  func read(_ windows: [WindowNumber]) -> [ShownWindow] {
    state.withLock { state in
      windows.map { number in state.windows.first { $0.number == number }?.shown ?? ShownWindow() }
    }
  }
  func titles(of windows: [WindowNumber]) -> [Bytes] { read(windows).map(\.title) }
  var active: WindowNumber? { state.withLock(\.active) }
  /// Its program closes the window at once.
  func close(_ window: WindowNumber) { hide(window) }
  func hide(_ window: WindowNumber) {
    change {
      $0.windows.removeAll { $0.number == window }
      $0.changes.list = true
    }
  }
  func raise(_ window: WindowNumber, at time: UInt32) { state.withLock { $0.raised.append(window) } }
  func endStartup(_ identifier: Bytes) {
    state.withLock { $0.ended.append(String(decoding: identifier, as: UTF8.self)) }
  }
  func now() -> UInt32 { 1 }
}

/// Processes as `/proc` would show them, by their numbers.
struct PlayedProcesses: Processes {
  var all: [Int32: Process] = [:]
  /// Whether the kernel knows the processes that the understudy starts, which end at once.
  var knowsStarted = false

  func process(_ number: Int32) -> Process? { all[number] }
  func start(of number: Int32) -> Int64? { all[number]?.started ?? (knowsStarted ? 1 : nil) }
  func parent(of number: Int32) -> Int32? { nil }
  func variable(_ name: String, of number: Int32) -> Bytes? { nil }
  func program(of number: Int32) -> Bytes? { nil }
}

/// An understudy on a private bus, a played display, and a folder with desktop files and documents.
struct PlayedDesktop {
  let display = PlayedDisplay()
  let understudy: Understudy
  let bus: PrivateBus
  let place: String

  static nonisolated(nonsending) func run(
    programs: [String], files: [String] = ["a.txt"], knowsStarted: Bool = false, settling: Duration = .zero,
    patience: Duration = .seconds(20), _ processes: (String) -> [Process] = { _ in [] },
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
        "[Desktop Entry]\nType=Application\nName=\(program)\nExec=\(place)/bin/\(program) %F\nMimeType=text/plain;\n",
        "data/applications/\(program).desktop")
      try write("#!/bin/sh\nprintf '%s' \"$1\" >'\(place)/started'\n", "bin/\(program)")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(place)/bin/\(program)")
    }
    for file in files { try write("text", file) }
    defer { try? FileManager.default.removeItem(atPath: place) }
    let played = Dictionary(processes(place).map { ($0.number, $0) }) { $1 }
    try await withPrivateBus { bus async throws in
      let connection = try await bus.connect()
      connection.identifyCallers()
      let desktop = PlayedDesktop(
        on: connection, bus, place, PlayedProcesses(all: played, knowsStarted: knowsStarted), settling,
        patience)
      await desktop.understudy.begin()
      connection.export(UnderstudyInterface.made(for: desktop.understudy), at: UnderstudyInterface.path)
      _ = try await connection.requestName(UnderstudyInterface.name, .doNotQueue)
      // A process that nobody awaits would keep the tests that end a process of their own waiting.
      do {
        try await body(desktop)
      } catch {
        await desktop.awaitStarted()
        throw error
      }
      await desktop.awaitStarted()
      await connection.close()
    }
  }

  private func awaitStarted() async {
    for start in await understudy.starts { waitpid(start.process, nil, 0) }
  }

  private init(
    on connection: Connection, _ bus: PrivateBus, _ place: String, _ processes: PlayedProcesses, _ settling: Duration,
    _ patience: Duration
  ) {
    (self.bus, self.place) = (bus, place)
    understudy = Understudy(
      connection, display, processes,
      in: InstalledPlaces(data: ["\(place)/data"], configuration: ["\(place)/config"]), settling: settling,
      patience: patience)
  }

  func url(_ name: String) -> String { FileURL.text(ofPath: Array("\(place)/\(name)".utf8)).string }

  /// What the understudy would do with a file of the folder.
  func verdict(_ name: String, _ program: String) async throws -> Verdict {
    try await understudy.look(for: url(name), in: program).judgement.verdict
  }

  static func node(_ path: String) -> Node { File(at: Bytes(path.utf8))?.node ?? Node(device: 0, inode: 0) }
}
