import DBus
import DBusTestSupport
import DaemonTestSupport
import Foundation
import SceneModel
import Testing
import WindowEvidence

@testable import stagedoor_understudy

/// Windows in lists and found by typing, with the calls that the command and the shells make.
@Suite struct ListingTests {
  /// An editor that writes paths into its titles, a viewer that holds its file, and a terminal that imitates the editor.
  private nonisolated(nonsending) func withWindows(
    _ body: nonisolated(nonsending) (PlayedDesktop) async throws -> Void
  ) async throws {
    let processes = { (place: String) in [Process.holding("\(place)/b.txt", 7)] }
    try await PlayedDesktop.run(programs: ["mousepad", "okular"], files: ["a.txt", "b.txt"], processes) {
      desktop async throws in
      for interface in [
        SearchProviders.gnome(for: desktop.understudy), SearchProviders.krunner(for: desktop.understudy),
      ] { desktop.understudy.connection.export(interface, at: SearchProviders.path) }
      desktop.display.show(1, "mousepad", "\(desktop.place)/a.txt - Mousepad")
      desktop.display.show(2, "okular", "b.txt  — Okular", process: 7)
      desktop.display.show(3, "xterm", "\(desktop.place)/a.txt - Mousepad")
      try await body(desktop)
    }
  }

  private func command(_ desktop: PlayedDesktop, _ arguments: String...) throws -> Command {
    Command(
      Command.built("stagedoor").program, arguments: arguments, environment: try desktop.bus.environmentWithFreshHome())
  }

  @Test func `every window is listed with its application, its file, and how surely`() async throws {
    try await withWindows { desktop async throws in
      let windows = await desktop.understudy.list()
      #expect(windows.map(\.number) == [3, 2, 1])
      #expect(windows.map(\.application) == ["", "okular", "mousepad"])
      #expect(windows.map(\.document) == [nil, desktop.url("b.txt"), desktop.url("a.txt")])
      #expect(windows.map(\.level) == [.unsure, .certain, .certain])
    }
  }

  @Test func `the command lists windows, and brings one of them to the front`() async throws {
    try await withWindows { desktop async throws in
      let listed = try await command(desktop, "windows").run()
      #expect(listed.status.isSuccess, "\(listed)")
      #expect(
        listed.standardOutput.split(separator: "\n").last.map(String.init)
          == "w1\tmousepad\t\(desktop.place)/a.txt - Mousepad\t\(desktop.url("a.txt"))\tcertain")
      #expect(listed.standardError.contains("only windows that the understudy sees"), "\(listed)")
      let menu = try await command(desktop, "windows", "--menu").run()
      #expect(menu.standardOutput.contains("w2\tb.txt  — Okular\tokular\n"), "\(menu)")
      let activated = try await command(desktop, "activate", "w1").run()
      #expect(activated.status.isSuccess, "\(activated)")
      #expect(desktop.display.raised == [1])
      let missing = try await command(desktop, "activate", "w99").run()
      #expect(missing.status == .exited(4) && missing.standardError.contains("there is no window 99"), "\(missing)")
    }
  }

  @Test func `the list is printed again when a window has changed`() async throws {
    try await withWindows { desktop async throws in
      try await command(desktop, "windows", "--watch", "--json").whileRunning { running async throws in
        #expect(try await running.nextLine().contains("b.txt  — Okular"))
        await desktop.tell { $0.write("c.txt  — Okular", on: 2) }
        let line = try await running.nextLine()
        #expect(line.contains("c.txt  — Okular") && !line.contains("b.txt  — Okular"), "\(line)")
      }
    }
  }

  @Test func `a window that goes while the list is read is told of`() async throws {
    try await withWindows { desktop async throws in
      let object = try await desktop.object()
      let changes = try await object.signals()
      await desktop.understudy.takeEvents()
      desktop.display.change { $0.meanwhile = { $0.hide(3) } }
      #expect(try await object.connection.titles().count == 3)
      #expect(try await collect(1, from: changes).first?.member == "WindowsChanged")
      #expect(try await object.connection.titles().count == 2)
    }
  }

  @Test func `GNOME Shell finds windows by words, and brings the chosen one to the front`() async throws {
    try await withWindows { desktop async throws in
      let shell = try await desktop.bus.connect()
      let provider = shell.object(UnderstudyInterface.name, at: SearchProviders.path, "org.gnome.Shell.SearchProvider2")
      let first: [String] = try await provider.call("GetInitialResultSet", ["TXT"])
      #expect(first == ["3", "2", "1"])
      let next: [String] = try await provider.call("GetSubsearchResultSet", first, ["txt", "okul"])
      #expect(next == ["2"])
      #expect(try await provider.call("GetInitialResultSet", [String]()) == [String]())
      let metas: [[String: Variant]] = try await provider.call("GetResultMetas", ["2", "77"])
      #expect(metas.count == 1)
      #expect(try metas.first?["id"].map { try String($0) } == "2")
      #expect(try metas.first?["name"].map { try String($0) } == "b.txt  — Okular")
      #expect(try metas.first?["description"].map { try String($0) } == "okular — \(desktop.place)/b.txt")
      try await provider.call("ActivateResult", "2", ["okul"], UInt32(4711)) as ()
      try await provider.call("LaunchSearch", ["mousepad", "a.txt"], UInt32(4711)) as ()
      #expect(desktop.display.raised == [2, 3])
    }
  }

  @Test func `KRunner finds windows by words, and brings the chosen one to the front`() async throws {
    try await withWindows { desktop async throws in
      let shell = try await desktop.bus.connect()
      let runner = shell.object(UnderstudyInterface.name, at: SearchProviders.path, "org.kde.krunner1")
      let actions: [Structure<String, String, String>] = try await runner.call("Actions")
      #expect(actions.isEmpty)
      let matches: [SearchProviders.Match] = try await runner.call("Match", "b.txt okular")
      #expect(matches.map(\.members.0) == ["2"])
      #expect(matches.map(\.members.1) == ["b.txt  — Okular"])
      #expect(matches.allSatisfy { (0...1).contains($0.members.4) })
      try await runner.call("Run", "2", "") as ()
      try await runner.call("Teardown") as ()
      #expect(desktop.display.raised == [2])
    }
  }
}
