import DBusTestSupport
import DaemonTestSupport
import Testing

/// What a person sees on a real terminal.
@Suite(.gallery) struct TerminalTests {
  init() async throws {
    for photo in ["photo-7", "写真-8", "a very long name of a photo that nobody will ever read to its end"] {
      try await house.drop(photo: photo)
    }
  }

  @Test(arguments: ["sessions", "deliveries", "apps", "explain"])
  func `each table is as it is kept, in three widths`(name: String) async throws {
    var shown = ""
    for columns in [40, 80, 120] {
      let words =
        ["--color", "never", name] + (name == "explain" ? ["-t", House.openDetail, "--target", "photo-7"] : [])
      let table = try await house.stagedoor(columns: columns, words).output()
      shown += "== \(columns) columns ==\n\(table)\n"
    }
    #expect(!shown.contains("\u{1b}"))
    try expectSnapshot(shown.normalized, "table-\(name)")
  }

  @Test func `there is colour on a terminal, and none where it is not wanted`() async throws {
    for (words, environment, isColored) in [
      (["sessions"], [:], true), (["sessions"], ["NO_COLOR": "1"], false), (["sessions"], ["TERM": "dumb"], false),
      (["--color=never", "sessions"], [:], false), (["--color=always", "help", "drop"], ["NO_COLOR": "1"], true),
    ] {
      let shown = try await house.stagedoor(columns: 80, words, environment: environment).output()
      #expect(shown.contains("\u{1b}[") == isColored, "\(words), \(environment)")
    }
    #expect(try await !said("sessions").contains("\u{1b}["))
    #expect(try await said("--color", "always", "--help").contains("\u{1b}["))
  }

  @Test func `a document from somebody else does not steer the terminal, and says what it says`() async throws {
    let title = "\u{9b}2J\u{9d}\u{7f}\u{202e}\u{200f}\u{61c}\u{e0041} ok \u{200d}é"
    let photo = try await house.drop(photo: "steering", "--title", title)
    let escaped = #"\u009b2J\u009d\u007f\u202e\u200f\u061c\udb40\udc41 ok "# + "\u{200d}é"
    for words in [["show", photo.session], ["watch", "--past"], ["explain", "--session", photo.session]] {
      let told = try await said(words + ["--json"])
      #expect(!told.unicodeScalars.contains { title.prefix(7).unicodeScalars.contains($0) && $0 != "2" && $0 != "J" })
      #expect(words[0] != "show" || told.contains(escaped), "\(told)")
    }
    let table = try await said("sessions")
    #expect(!table.contains("\u{9b}") && table.contains(#"\u{9b}2J\u{9d}\u{7f}\u{202e}\u{200f}\u{61c}\u{e0041} ok"#))
  }

  @Test func `times in a column are as wide as each other`() async throws {
    let events = try await said("watch", "--past")
    #expect(!events.isEmpty)
    for line in events.split(separator: "\n") { #expect(line.split(separator: "\t")[1].count == 27, "\(line)") }
  }

  @Test func `a name from somebody else does not steer the terminal`() async throws {
    let photo = try await house.drop(photo: "\u{1b}[31mred\n", "--title", "\u{1b}[2J")
    for words in [["sessions"], ["show", photo.session], ["explain", "--session", photo.session]] {
      let shown = try await house.stagedoor(columns: 200, ["--color=never"] + words).output()
      #expect(!shown.contains("\u{1b}"), "\(words)")
    }
    #expect(try await said("sessions").contains("\\u{1b}[31mred\\n"))
  }
}
