import DesktopFiles
import Foundation
import Testing
import WindowEvidence

/// What a person says of applications in `understudy.conf`.
@Suite struct HabitsTests {
  /// What is known with this file, whose path the complaints do not have here.
  private func habits(_ text: String?) throws -> (Habits, complaints: [String]) {
    let place = FileManager.default.temporaryDirectory.appending(path: "habits-\(UUID())")
    defer { try? FileManager.default.removeItem(at: place) }
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try text?.write(to: place.appending(path: "understudy.conf"), atomically: true, encoding: .utf8)
    let habits = Habits(in: place.path)
    return (habits, habits.complaints.map { $0.replacingOccurrences(of: "\(place.path)/understudy.conf", with: "") })
  }

  private func entry(_ program: String) throws -> DesktopEntry {
    let path = FileManager.default.temporaryDirectory.appending(path: "habits-\(UUID()).desktop")
    defer { try? FileManager.default.removeItem(at: path) }
    try "[Desktop Entry]\nType=Application\nName=One\nTryExec=true\nExec=\(program) %f\n"
      .write(to: path, atomically: true, encoding: .utf8)
    return try #require(DesktopEntry(identifier: "one", at: path.path))
  }

  @Test func `each word of a line counts, and an unlisted program is a viewer of which nothing is known`() throws {
    let (habits, complaints) = try habits("one viewer one\n\ttwo  player - own # or so\n\nthree quoting - -\n# four")
    #expect(complaints == [])
    let one = try habits.application(entry("/opt/bin/one"))
    #expect(one.kind == .viewer && one.habit == .oneProcessForEach && !one.writesOwnTitles)
    let two = try habits.application(entry("two"))
    #expect(two.kind == .player && two.habit == .unknown && two.writesOwnTitles && !two.writesDirectories)
    #expect(try habits.application(entry("three")).kind == .quoting)
    let gvim = try habits.application(entry("gvim"))
    #expect(gvim.kind == .editor && gvim.writesDirectories)
    let four = try habits.application(entry("four"))
    #expect(four.kind == .viewer && four.habit == .unknown && !four.writesOwnTitles)
    #expect(try habits.isKnown(entry("three")) && !habits.isKnown(entry("four")))
  }

  @Test(
    arguments: [
      ("toyview viewr one -", "there is no kind viewr; did you mean viewer?"),
      ("toyview viewer two -", "there is no habit two; there are -, finds, one, window"),
      ("toyview viewer one yes", "there is no word for titles yes; there are -, directory, own"),
      ("foo", "a line has a program, a kind, a habit, and perhaps a word for the titles"),
      ("a b viewer one -", "a line has a program, a kind, a habit, and perhaps a word for the titles"),
      ("/usr/bin/toyview viewer one -", "/usr/bin/toyview has a directory; write the name of the program alone"),
    ])
  func `a line that says nothing is named, and the others count`(line: String, fault: String) throws {
    for end in ["\n", "\r\n"] {
      let (habits, complaints) = try habits(["# mine", line, "two editor -", ""].joined(separator: end))
      #expect(complaints == [":2: \(fault)"])
      #expect(try habits.application(entry("two")).kind == .editor)
    }
  }

  @Test func `a file that is too long is named, and none is no fault`() throws {
    #expect(try habits(String(repeating: "# long\n", count: 10_000)).complaints == [" has more than 65536 bytes"])
    #expect(try habits(nil).complaints == [])
  }
}
