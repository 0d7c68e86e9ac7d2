import DBus
import DBusTestSupport
import Foundation
import Glibc
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// What is done for a file, and what is left to the person.
@Suite struct ActingTests {
  /// Whether a second wish for the file starts its program again.
  private nonisolated(nonsending) func startsAgain(_ desktop: PlayedDesktop) async throws -> Bool {
    let before = await desktop.understudy.starts.count
    let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: "gvim")
    #expect(try await desktop.understudy.act(on: found, nil).0 == .started)
    return await desktop.understudy.starts.count > before
  }

  /// A wrapper stays, and the program that it starts leaves it: nothing says which process made the window.
  @Test(
    arguments: [
      ("gvim", 7, true), ("gvim", nil, true), ("mousepad", nil, true), ("unknown", 7, true), ("mousepad", 7, false),
    ] as [(String, Int32?, Bool)])
  func `a window that may be the program's ends the wait`(program: String, process: Int32?, isEnd: Bool) async throws {
    try await PlayedDesktop.run(programs: ["gvim", "mousepad"], knowsStarted: true) { desktop async throws in
      #expect(try await startsAgain(desktop))
      #expect(try await !startsAgain(desktop), "no window has come")
      await desktop.tell { $0.show(1, program, "a dialog", process: process, isMain: false) }
      #expect(try await !startsAgain(desktop), "no window of its own has come")
      await desktop.tell { $0.show(2, program, "a window", process: process) }
      desktop.display.hide(2)
      #expect(try await startsAgain(desktop) == isEnd)
    }
  }

  @Test func `the window of another start of the application does not end the wait`() async throws {
    try await PlayedDesktop.run(programs: ["gvim"], files: ["a.txt", "b.txt"], knowsStarted: true) {
      desktop async throws in
      #expect(try await startsAgain(desktop))
      let other = try await desktop.understudy.look(for: desktop.url("b.txt"), in: "gvim")
      _ = try await desktop.understudy.act(on: other, "other_TIME1")
      await desktop.tell { $0.show(1, "gvim", "b.txt", process: 7, startup: "other_TIME1") }
      #expect(try await !startsAgain(desktop))
    }
  }

  /// What the bus starts has no process that is known here.
  @Test(arguments: [true, false])
  func `a file for a program that the bus starts is opened once until its window comes`(opens: Bool) async throws {
    let program = "org.example.Viewer"
    try await PlayedDesktop.run(programs: [program], knowsStarted: true, lines: [program: "DBusActivatable=true\n"]) {
      desktop async throws in
      let application = try await desktop.bus.connect()
      let opened = Lock(0)
      var interface = Interface("org.freedesktop.Application")
      interface.method("Open", in: "uris", "data") { (_: [String], _: [String: Variant]) throws in
        opened.withLock { $0 += 1 }
        if !opens { throw ErrorReply("org.freedesktop.DBus.Error.Failed", "not now") }
      }
      application.export(interface, at: "/org/example/Viewer")
      _ = try await application.requestName("org.example.Viewer")
      func open() async throws {
        let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: program)
        #expect(try await desktop.understudy.act(on: found, nil).0 == .started)
      }
      for _ in 0..<2 { try await open() }
      try await eventually("the program's own start, if the bus has none") {
        await desktop.understudy.starts.map { $0.process == nil } == [opens]
      }
      try await open()
      await desktop.tell { $0.show(1, program, "a window", process: 7) }
      for calls in 2...3 {
        try await open()
        try await eventually("another call") { opened.withLock(\.self) == (opens ? calls : 2) }
        try await eventually("its end") {
          await desktop.understudy.starts.contains { $0.process == nil && !$0.mayBeShown } == false
        }
      }
    }
  }

  @Test func `where the display raises no window, each wish starts the program that shows the file`() async throws {
    try await PlayedDesktop.run(programs: ["gvim"], knowsStarted: true) { desktop async throws in
      desktop.display.change { $0.canRaise = false }
      desktop.display.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM")
      #expect(try await startsAgain(desktop))
      #expect(try await startsAgain(desktop))
      #expect(desktop.display.raised == [])
    }
  }

  /// What the understudy answers to a caller on the bus: the deed, or the error.
  private nonisolated(nonsending) func answer(
    _ desktop: PlayedDesktop, _ options: [String: Variant] = ["application": Variant("gvim")]
  ) async -> String {
    do { return try await desktop.opened(options).deed } catch { return "\(error)" }
  }

  @Test func `a program that needs a terminal is not started, and its window is raised`() async throws {
    try await PlayedDesktop.run(programs: ["gvim"], lines: ["gvim": "Terminal=true\n"]) { desktop async throws in
      #expect(await answer(desktop).contains("needs a terminal"))
      desktop.display.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM")
      #expect(await answer(desktop) == "raised")
      #expect(desktop.display.raised == [1])
    }
  }

  // MARK: Displays

  /// The caller keeps its ticket, and opens the file itself.
  @Test(arguments: [false, true])
  func `while the display is away, and for a caller on another one, nothing is done`(isNew: Bool) async throws {
    try await PlayedDesktop.run(programs: ["gvim"]) { desktop async throws in
      let ticket = try OwnedFileDescriptor.pipe()
      #expect(ticket.writeEnd.withRawValue { write($0, "1", 1) } == 1)
      let options: [String: Variant] = ["ticket": Variant(ticket.readEnd), "new": Variant(isNew)]
      desktop.processes.change { $0.variables[getpid()] = ["DISPLAY": ":9999"] }
      #expect(await answer(desktop, options).contains("another display"))
      desktop.processes.change { $0.variables = [:] }
      desktop.display.change { $0.isBroken = true }
      #expect(await answer(desktop, options).contains("the display has gone"))
      #expect(await desktop.understudy.starts.isEmpty)
      desktop.display.change { $0.isBroken = false }
      #expect(await answer(desktop, options) == "started")
    }
  }

  @Test(
    arguments: [
      (":0", ":0.1", nil, nil, false), (":0", ":1", nil, nil, true), ("host:10.0", "host:10", nil, nil, false),
      // A caller of a session of ssh has no display, and one without X11 may have the same compositor.
      (":0", nil, "w", nil, false), (":0", nil, "w", "w", false), (":0", nil, nil, "w", true),
      (nil, ":0", "w", nil, true),
      ("", ":0", "w", "/run/w", false), (nil, nil, "w", "/tmp/w", true), (":0", ":1", "w", "w", true),
    ] as [(String?, String?, String?, String?, Bool)])
  func `two environments name the same display, or others`(
    own: String?, theirs: String?, ownWayland: String?, theirWayland: String?, areOther: Bool
  ) {
    func displays(_ x11: String?, _ wayland: String?) -> NamedDisplays {
      let variables = ["DISPLAY": x11, "WAYLAND_DISPLAY": wayland, "XDG_RUNTIME_DIR": "/run"]
      return NamedDisplays { variables[$0].flatMap { $0 }.map { Bytes($0.utf8) } }
    }
    #expect(displays(theirs, theirWayland).areOther(than: displays(own, ownWayland)) == areOther)
  }

  // MARK: A window that is awaited

  /// The window in front when the person asks for the file, that in front when the awaited window has come, and what is raised.
  typealias Fronts = (before: WindowNumber?, after: WindowNumber?, raised: [WindowNumber])

  static let fronts: [Fronts] = [
    // The file manager, and then another window that the person has chosen.
    (5, 6, []), (5, 5, [1]),
    // It has come to the front by itself; or another window of its application has.
    (5, 1, []), (5, 2, [1]),
    // A launcher that has gone leaves the front to the next window.
    (9, 6, [1]), (nil, 6, [1]),
  ]

  private nonisolated(nonsending) func play(
    _ fronts: Fronts, in desktop: PlayedDesktop, _ program: String, comes: () -> Void
  ) async throws {
    let display = desktop.display
    for number in [6, 5] as [WindowNumber] { display.show(number, "xterm", "a terminal", process: 90) }
    display.change { $0.active = fronts.before }
    let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: program)
    #expect(found.judgement.verdict == .runAgain(window: nil))
    #expect(try await desktop.understudy.act(on: found, nil).0 == .runAgain)
    display.change { $0.active = fronts.after }
    comes()
    try await desktop.becomes("the window to be dealt with") { await desktop.understudy.awaited.isEmpty }
    #expect(display.raised == fronts.raised)
  }

  @Test(arguments: fronts)
  func `a window that comes to name the file takes no focus from a chosen one`(fronts: Fronts) async throws {
    try await PlayedDesktop.run(programs: ["geany"]) { desktop async throws in
      desktop.display.show(2, "geany", "c.txt - /elsewhere - Geany")
      desktop.display.show(1, "geany", "b.txt - /elsewhere - Geany")
      try await play(fronts, in: desktop, "geany") {
        desktop.display.write("a.txt - \(desktop.place) - Geany", on: 1)
      }
    }
  }

  /// A player that loads another file of the same name changes no title.
  @Test(arguments: fronts)
  func `a window that comes to hold the file takes no focus from a chosen one`(fronts: Fronts) async throws {
    try await PlayedDesktop.run(programs: ["parole"], { _ in [.running(7, since: 5), .running(8, since: 5)] }) {
      desktop async throws in
      desktop.display.show(2, "parole", "other", process: 8)
      desktop.display.show(1, "parole", "a.txt", process: 7)
      try await play(fronts, in: desktop, "parole") {
        let path = "\(desktop.place)/a.txt"
        desktop.processes.change { $0.all[7]?.held = [.init(PlayedDesktop.node(path), path: Bytes(path.utf8))] }
      }
    }
  }
}
