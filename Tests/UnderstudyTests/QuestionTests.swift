import DBus
import DBusTestSupport
import DesktopFiles
import Foundation
import Glibc
import SceneModel
import ServiceSupport
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// Which windows are asked about a file, and what the question costs.
@Suite struct QuestionTests {
  @Test func `a window that certainly shows the file comes before a likely one of the own application`() async throws {
    let processes = { (place: String) in [Process.opened(7, with: "\(place)/a.txt"), .running(8)] }
    try await PlayedDesktop.run(programs: ["viewnior", "zathura"], chosen: "viewnior", processes) {
      desktop async throws in
      desktop.display.show(1, "viewnior", "a.txt - 1/2 - 100%", process: 7)
      let likely = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(likely.judgement.verdict == .raise(window: 1, .likely))
      desktop.display.show(2, "zathura", "\(desktop.place)/a.txt", process: 8)
      let certain = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(certain.entry.application == "zathura" && certain.judgement.verdict == .raise(window: 2, .certain))
      // What was found of the own application's window is reported too.
      #expect(certain.judgement.findings.map(\.level) == [.certain, .likely])
      #expect(try await desktop.verdict("a.txt", "viewnior") == .raise(window: 1, .likely))
    }
  }

  @Test func `the display and each process are asked once, and no process of a stranger's window`() async throws {
    let processes = { (_: String) in [Process.running(7, since: 5), .running(9, since: 5)] }
    try await PlayedDesktop.run(
      programs: ["gvim", "okular", "firefox", "xterm"], lines: ["firefox": "Categories=WebBrowser;\n"],
      chosen: "gvim", processes
    ) { desktop async throws in
      for number in 1...3 as ClosedRange<WindowNumber> { desktop.display.show(number, "okular", "x", process: 7) }
      for number in 4...5 as ClosedRange<WindowNumber> { desktop.display.show(number, "firefox", "a.txt", process: 9) }
      let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(found.judgement.verdict == .start)
      #expect(desktop.processes.looks == [7: 1])
      await desktop.understudy.takeEvents()
      let before = desktop.display.listings
      #expect(await desktop.understudy.list().count == 5)
      #expect(desktop.display.listings == before + 1)
      #expect(desktop.processes.looks[7] == 2)
    }
  }

  @Test func `a wish for a second window asks nothing`() async throws {
    try await PlayedDesktop.run(programs: ["okular"], { [.holding("\($0)/a.txt", 7)] }) { desktop async throws in
      await desktop.tell { $0.show(1, "okular", "a.txt", process: 7) }
      let before = desktop.display.listings
      #expect(try await desktop.opened(["new": true]).deed == "started")
      #expect(desktop.processes.looks == [:] && desktop.display.listings == before)
    }
  }

  @Test func `a link to a file whose name is no text leads to the bytes of that name`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (name, link) = (Bytes("\(folder)/b".utf8) + [0xE9], Bytes("\(folder)/link".utf8))
    let (target, place) = (name.map { CChar(bitPattern: $0) } + [0], link.map { CChar(bitPattern: $0) } + [0])
    close(open(target, O_CREAT | O_WRONLY, 0o600))
    #expect(symlink(target, place) == 0)
    #expect(File(at: name)?.otherPaths == [])
    #expect(File(at: link)?.otherPaths == [name])
  }

  @Test func `a name that is no text has the type of its ending`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder.appending(path: "mime"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try "50:video/mp4:*.mp4\n".write(to: folder.appending(path: "mime/globs2"), atomically: true, encoding: .utf8)
    let path = Bytes("\(folder.path)/f".utf8) + [0xFC] + Bytes("r.mp4".utf8)
    #expect(InstalledFileTypes(in: [folder.path]).type(ofFile: path).description == "video/mp4")
  }

  @Test func `a program is asked about the paths and the URLs that it was given`() async throws {
    let words = ["-c", "echo; sleep 3600; :", "/a b.txt", "file:///a%20%FF.txt", "c.txt", "--", "https://example.org/"]
    try await Command("sh", arguments: words).whileRunning { running async throws in
      try await running.nextLine()
      let process = try #require(Kernel().process(running.processIdentifier))
      let given = process.arguments.dropFirst()
      #expect(
        Array(given) == [
          Bytes("/a b.txt".utf8), Bytes("/a ".utf8) + [0xFF] + Bytes(".txt".utf8), Bytes("c.txt".utf8),
          Bytes("https://example.org/".utf8),
        ])
    }
  }

  @Test func `a program that was replaced while it runs keeps its name`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    let program = folder.appending(path: "editor")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.copyItem(at: URL(filePath: "/bin/sleep").resolvingSymlinksInPath(), to: program)
    try await Command(program.path, "3600").whileRunning { running async throws in
      let name = { @Sendable in Kernel().program(of: running.processIdentifier) }
      try await eventually("the program") { name() == Bytes("editor".utf8) }
      try FileManager.default.removeItem(at: program)
      #expect(name() == Bytes("editor".utf8))
    }
  }

  // MARK: Services on the bus

  /// A service as evince and atril have one, which answers when two of them have been asked.
  private nonisolated(nonsending) func serve(
    _ name: BusName, at path: ObjectPath, _ bus: PrivateBus, knows: Bool, _ questions: Lock<Int>
  ) async throws {
    let connection = try await bus.connect()
    let owner = knows ? await connection.uniqueName?.rawValue ?? "" : ""
    var interface = Interface(InterfaceName(unchecked: name.rawValue))
    interface.method("FindDocument", in: "uri", "spawn", out: "owner") { (_: String, _: Bool) async throws in
      questions.withLock { $0 += 1 }
      try await eventually("the question to the other service") { questions.withLock { $0 >= 2 } }
      return owner
    }
    connection.export(interface, at: path)
    _ = try await connection.requestName(name, .doNotQueue)
  }

  @Test func `services on the bus are asked at once, and only where nothing else is certain`() async throws {
    let processes = { (_: String) in [Process.running(getpid()), .running(7)] }
    try await PlayedDesktop.run(programs: ["mousepad", "atril", "evince"], chosen: "mousepad", processes) {
      desktop async throws in
      desktop.display.show(1, "atril", "a.txt", process: 7)
      desktop.display.show(2, "evince", "a.txt", process: getpid())
      let questions = Lock(0)
      try await serve("org.gnome.evince.Daemon", at: "/org/gnome/evince/Daemon", desktop.bus, knows: true, questions)
      try await serve("org.mate.atril.Daemon", at: "/org/mate/atril/Daemon", desktop.bus, knows: false, questions)
      let found = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(found.entry.application == "evince" && found.judgement.verdict == .runAgain(window: 2))
      #expect(questions.withLock(\.self) == 2)
      desktop.display.show(3, "mousepad", "\(desktop.place)/a.txt - Mousepad")
      let own = try await desktop.understudy.look(for: desktop.url("a.txt"), in: nil)
      #expect(own.entry.application == "mousepad" && own.judgement.verdict == .runAgain(window: 3))
      #expect(questions.withLock(\.self) == 2)
    }
  }
}
