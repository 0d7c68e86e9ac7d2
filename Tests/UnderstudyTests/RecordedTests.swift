import DBus
import DBusTestSupport
import DaemonTestSupport
import DesktopFiles
import Foundation
import Glibc
import ServiceSupport
import Synchronization
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// What applications of Debian 12 told an X server and `/proc`, replayed.
@Suite struct RecordedTests {
  /// viewnior's title is the same before and after, but was written twice in between.
  @Test(arguments: [(1, true), (2, false)])
  func `a title that was written unseen is no evidence`(times: Int, isKnown: Bool) async throws {
    try await PlayedDesktop.run(programs: ["viewnior"], { [.opened(7, with: "\($0)/a.txt")] }) { desktop async throws in
      desktop.display.show(1, "viewnior", "viewnior", process: 7)
      desktop.display.show(2, "viewnior", "a.txt - 1/2 - 100%", process: 7)
      desktop.display.change { $0.windows.removeLast() }
      #expect(try await desktop.verdict("a.txt", "viewnior") == .raise(window: 2, .likely))
      desktop.display.write("a.txt - 1/2 - 99%", on: 2, times: times)
      #expect(try await desktop.verdict("a.txt", "viewnior") == (isKnown ? .raise(window: 2, .likely) : .start))
    }
  }

  /// What a process holds may be shown in any of its windows.
  @Test func `a window of an unknown class is one of its process`() async throws {
    try await PlayedDesktop.run(programs: ["okular"], { [.holding("\($0)/a.txt", 7)] }) { desktop async throws in
      desktop.display.show(1, "okular", "a.txt  — Okular", process: 7)
      #expect(try await desktop.verdict("a.txt", "okular") == .raise(window: 1, .certain))
      desktop.display.show(2, "unknown", "another", process: 7)
      #expect(try await desktop.verdict("a.txt", "okular") == .start)
    }
  }

  /// Only X11 tells the machine, and not every compositor the process.
  @Test(
    arguments: [(7, "gvim", true), (7, "ssh", false), (7, "waypipe", false), (8, nil, false), (nil, nil, true)]
      as [(Int32?, String?, Bool)])
  func `a window that does not say its machine is where its process is`(
    process: Int32?, program: String?, isLocal: Bool
  ) async throws {
    try await PlayedDesktop.run(programs: ["gvim"], { _ in [.running(7)] }) { desktop async throws in
      desktop.processes.change { $0.programs[7] = program }
      desktop.display.show(1, "gvim", "a.txt (\(desktop.place)) - GVIM", process: process)
      #expect(try await desktop.verdict("a.txt", "gvim") == (isLocal ? .raise(window: 1, .certain) : .start))
    }
  }

  @Test func `after the clock was set back, a process has begun earlier, and is the same`() throws {
    let booted = Mutex<Int64>(1_000_000)
    let kernel = Kernel { booted.withLock(\.self) }
    let before = try #require(kernel.process(getpid()))
    booted.withLock { $0 -= 400 }
    let after = try #require(kernel.process(getpid()))
    #expect(after.started == before.started - 400)
    #expect(after.ticks == before.ticks && kernel.start(of: getpid()) == before.ticks)
  }

  /// emacs and viewnior show their own names first.
  @Test(arguments: [Duration.zero, .seconds(60)])
  func `a window that has just appeared may write other titles first`(settling: Duration) async throws {
    let processes = { (place: String) in [Process.opened(7, with: "\(place)/a.txt")] }
    try await PlayedDesktop.run(programs: ["viewnior"], settling: settling, processes) { desktop async throws in
      desktop.display.show(1, "xterm", "aside")
      await desktop.tell { $0.show(2, "viewnior", "Viewnior", process: 7) }
      desktop.display.write("a.txt - 1/2 - 100%", on: 2, times: 2)
      let verdict = try await desktop.verdict("a.txt", "viewnior")
      #expect(verdict == (settling == .zero ? .start : .raise(window: 2, .likely)))
    }
  }

  /// emacs' menu saves under another path by a dialog, and a file of the same name leaves the title as it is.
  @Test func `a dialog of the process ends what was known from its titles`() async throws {
    let processes = { (place: String) in [Process.opened(7, with: "\(place)/a.txt", started: 5)] }
    try await PlayedDesktop.run(programs: ["emacs"], settling: .seconds(60), processes) { desktop async throws in
      desktop.display.show(1, "xterm", "aside")
      await desktop.tell { $0.show(2, "emacs", "GNU Emacs at vm", process: 7) }
      desktop.display.write("a.txt - GNU Emacs at vm", on: 2)
      #expect(try await desktop.verdict("a.txt", "emacs") == .raise(window: 2, .likely))
      await desktop.tell { $0.show(3, "emacs", "Write File", process: 7, isMain: false) }
      desktop.display.hide(3)
      #expect(try await desktop.verdict("a.txt", "emacs") == .start)
    }
  }

  /// Its title may be that of another file of this name.
  @Test(arguments: [true, false])
  func `a window of a process that had one before is not known from its titles`(isAtOnce: Bool) async throws {
    try await PlayedDesktop.run(programs: ["viewnior"], { [.opened(7, with: "\($0)/a.txt")] }) { desktop async throws in
      await desktop.tell { $0.show(1, "viewnior", "a.txt", process: 7) }
      #expect(try await desktop.verdict("a.txt", "viewnior") == .raise(window: 1, .likely))
      if isAtOnce { desktop.display.hide(1) }
      await desktop.tell { $0.show(2, "viewnior", "a.txt", process: 7) }
      if !isAtOnce { desktop.display.hide(1) }
      #expect(try await desktop.verdict("a.txt", "viewnior") == .start)
    }
  }

  @Test(arguments: [true, false])
  func `a file that is opened twice while its program starts is opened once`(runs: Bool) async throws {
    try await PlayedDesktop.run(programs: ["gvim"], knowsStarted: runs) { desktop async throws in
      for isNew in [false, false, true] {
        let found =
          try isNew
          ? await desktop.understudy.another(for: desktop.url("a.txt"), in: "gvim")
          : await desktop.understudy.look(for: desktop.url("a.txt"), in: "gvim")
        #expect(try await desktop.understudy.act(on: found, nil).0 == .started)
      }
      #expect(await desktop.understudy.starts.count == (runs ? 2 : 3))
    }
  }

  /// A file manager gives one token with all files of a selection, and a program may write the token on its window in place of its identifier.
  @Test(arguments: [false, true])
  func `two files of one name that come with one token are told apart`(isKnown: Bool) async throws {
    try await PlayedDesktop.run(programs: ["viewnior"], files: ["x/a.txt", "y/a.txt"], knowsStarted: true) {
      desktop async throws in
      for name in ["x/a.txt", "y/a.txt"] {
        let found = try await desktop.understudy.look(for: desktop.url(name), in: "viewnior")
        _ = try await desktop.understudy.act(on: found, "one_TIME1")
      }
      for (window, start) in zip([1, 2] as [WindowNumber], await desktop.understudy.starts) {
        let process = isKnown ? start.process ?? 0 : Int32(6 + window)
        desktop.processes.change { $0.all[process] = Process(number: process, started: 1 << 60, ticks: 1) }
        let startup = isKnown ? "one_TIME1" : String(decoding: start.startup, as: UTF8.self)
        await desktop.tell { $0.show(window, "viewnior", "a.txt", process: process, startup: startup) }
      }
      #expect(try await desktop.verdict("x/a.txt", "viewnior") == .raise(window: 1, .likely))
      #expect(try await desktop.verdict("y/a.txt", "viewnior") == .raise(window: 2, .likely))
    }
  }

  @Test func `without a chosen application, a window of any that certainly shows the file is found`() async throws {
    let processes = { (place: String) in [Process.opened(7, with: "\(place)/a.txt"), .running(8)] }
    try await PlayedDesktop.run(programs: ["mousepad", "viewnior", "zathura"], processes) { desktop async throws in
      let own = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(own.entry.application == "mousepad" && own.judgement.verdict == .start)
      // Likely is not enough.
      desktop.display.show(1, "viewnior", "a.txt - 1/2 - 100%", process: 7)
      let likely = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(likely.entry.application == "mousepad" && likely.judgement.verdict == .start)
      #expect(likely.judgement.findings.map(\.level) == [.likely])
      desktop.display.show(2, "zathura", "\(desktop.place)/a.txt", process: 8)
      let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(found.entry.application == "zathura" && found.judgement.verdict == .raise(window: 2, .certain))
      // The person's word counts, and so does a window of their own application.
      #expect(try await desktop.verdict("a.txt", "mousepad") == .start)
      desktop.display.show(3, "mousepad", "\(desktop.place)/a.txt - Mousepad")
      let back = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(back.entry.application == "mousepad" && back.judgement.verdict == .runAgain(window: 3))
    }
  }

  @Test func `a name that is not UTF-8 reaches the program as it is`() async throws {
    try await PlayedDesktop.run(programs: ["geany"], files: []) { desktop async throws in
      let path = Bytes("\(desktop.place)/a".utf8) + [0xFF]
      let file = open(path.map { CChar(bitPattern: $0) } + [0], O_CREAT | O_WRONLY, 0o600)
      #expect(file >= 0)
      close(file)
      let found = try await desktop.understudy.look(for: desktop.url("a") + "%FF", in: nil)
      _ = try await desktop.understudy.act(on: found, nil)
      try await eventually("the program") {
        (try? Data(contentsOf: URL(filePath: "\(desktop.place)/started"))).map(Bytes.init) == path
      }
    }
  }

  @Test func `an application that is installed later is known, and one that is removed is not`() async throws {
    try await PlayedDesktop.run(programs: ["mousepad"]) { desktop async throws in
      let following = desktop.understudy.connection.loop.task { await desktop.understudy.followInstalled() }
      defer { following.cancel() }
      let folder = "\(desktop.place)/data/applications"
      let entry = try String(contentsOfFile: "\(folder)/mousepad.desktop", encoding: .utf8)
      try FileManager.default.createDirectory(atPath: "\(folder)/deep", withIntermediateDirectories: true)
      try entry.write(toFile: "\(folder)/deep/two.desktop", atomically: true, encoding: .utf8)
      try await eventually("the new application") {
        (try? await desktop.understudy.look(for: desktop.url("a.txt"), in: "deep-two")) != nil
      }
      try FileManager.default.removeItem(atPath: "\(folder)/mousepad.desktop")
      try await eventually("the old one to be gone") {
        (try? await desktop.understudy.look(for: desktop.url("a.txt"), in: "mousepad")) == nil
      }
      let chosen = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(chosen.entry.identifier == "deep-two")
    }
  }

  @Test func `a new folder is followed, and so is the file behind a link`() async throws {
    try await PlayedDesktop.run(programs: ["mousepad"], files: ["a.txt", "dotfiles/mimeapps.list"]) {
      desktop async throws in
      let (place, files) = (desktop.place, FileManager.default)
      try files.createDirectory(atPath: "\(place)/config", withIntermediateDirectories: true)
      try files.createSymbolicLink(
        atPath: "\(place)/config/mimeapps.list", withDestinationPath: "../dotfiles/mimeapps.list")
      let places = InstalledPlaces(data: ["\(place)/data"], configuration: ["\(place)/config"])
      let follower = Mutex(InstalledFollower(in: places))
      try await eventually("room for notices beside those of other tests") {
        follower.withLock {
          if $0.notices == nil { $0 = InstalledFollower(in: places) }
          return $0.notices != nil
        }
      }
      func isTold() -> Bool { follower.withLock { $0.notices?.take() ?? false } }
      let folder = "\(place)/data/applications"
      try files.createDirectory(atPath: "\(folder)/deep", withIntermediateDirectories: true)
      #expect(isTold())
      follower.withLock { $0.read() }
      try files.copyItem(atPath: "\(folder)/mousepad.desktop", toPath: "\(folder)/deep/two.desktop")
      #expect(isTold())
      try "".write(toFile: "\(place)/dotfiles/mimeapps.list", atomically: false, encoding: .utf8)
      #expect(isTold())
    }
  }

  @Test func `where the kernel tells no changes, what is installed is read at each question`() async throws {
    try await PlayedDesktop.run(programs: ["mousepad"]) { desktop async throws in
      if let notices = await desktop.understudy.installed.notices {
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(dup2(nothing, notices.descriptor) == notices.descriptor)
        close(nothing)
      }
      await desktop.understudy.readInstalled()
      #expect(await desktop.understudy.installed.complaints.count == 1)
      let folder = "\(desktop.place)/data/applications"
      try FileManager.default.copyItem(atPath: "\(folder)/mousepad.desktop", toPath: "\(folder)/two.desktop")
      #expect(try await desktop.understudy.look(for: desktop.url("a.txt"), in: "two").entry.identifier == "two")
    }
  }

  /// Only the start tells which application a window of a script is: its process runs the interpreter.
  @Test func `the window of a script that was started here stays its window, whatever is installed`() async throws {
    try await PlayedDesktop.run(programs: ["xpdf"], { [.opened(7, with: "\($0)/a.txt")] }) { desktop async throws in
      let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: "xpdf")
      _ = try await desktop.understudy.act(on: found, "one_TIME1")
      await desktop.tell { $0.show(1, "", "a.txt", process: 7, startup: "one_TIME1") }
      #expect(try await desktop.verdict("a.txt", "xpdf") == .raise(window: 1, .likely))
      let folder = "\(desktop.place)/data/applications"
      let entry = try String(contentsOfFile: "\(folder)/xpdf.desktop", encoding: .utf8)
      func sees(_ applications: Int) async throws {
        await desktop.understudy.readInstalled()
        #expect(await desktop.understudy.installed.now.applications.entries.count == applications)
        let isKnown = applications > 0
        #expect(await desktop.understudy.windows[1]?.application == (isKnown ? "xpdf" : nil))
        if isKnown { #expect(try await desktop.verdict("a.txt", "xpdf") == .raise(window: 1, .likely)) }
      }
      let other = "\(desktop.place)/bin/other"
      try "#!/bin/sh\n".write(toFile: other, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: other)
      try entry.replacingOccurrences(of: "bin/xpdf", with: "bin/other").write(
        toFile: "\(folder)/other.desktop", atomically: true, encoding: .utf8)
      try await sees(2)
      // An update takes the desktop file away for a moment.
      for name in ["other", "xpdf"] { try FileManager.default.removeItem(atPath: "\(folder)/\(name).desktop") }
      try await sees(0)
      try entry.write(toFile: "\(folder)/xpdf.desktop", atomically: true, encoding: .utf8)
      try await sees(1)
    }
  }

  @Test func `of a program that nobody has listed, the explanation says where to list it`() async throws {
    try await PlayedDesktop.run(programs: ["toyview", "gvim"]) { desktop async throws in
      desktop.display.show(1, "toyview", "a.txt - Toyview")
      func report(_ program: String) async throws -> String {
        try await desktop.opened(["application": Variant(program), "explain": true]).report
      }
      let explained = try await report("toyview")
      #expect(explained.contains(#""against":["nothing says that it shows the file"]"#), "\(explained)")
      #expect(explained.contains(#""notes":["nobody has listed toyview, "#), "\(explained)")
      #expect(try await !report("gvim").contains("notes"))
    }
  }

  @Test func `the interface is that of its document`() async throws {
    try await PlayedDesktop.run(programs: []) { desktop async throws in
      let served = InterfaceLines(try await desktop.object().introspect().interfaces.filter(\.isStagedoors))
      let written = try Introspection.Node(xml: Repository.text(of: "dbus/org.stagedoor.Understudy1.xml"))
      #expect(served.lines == InterfaceLines(written.interfaces).lines)
    }
  }
}
