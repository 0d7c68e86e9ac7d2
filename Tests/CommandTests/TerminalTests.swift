import DBusTestSupport
import DaemonTestSupport
import FoundationEssentials
import Testing

/// What a person sees on a real terminal.
@Suite struct TerminalTests {
  private func withPhotos(_ body: (House) async throws -> Void) async throws {
    try await withGallery { house async throws in
      for photo in ["photo-7", "写真-8", "a very long name of a photo that nobody will ever read to its end"] {
        _ = try await house.drop(photo: photo)
      }
      try await body(house)
    }
  }

  @Test(arguments: ["sessions", "deliveries", "apps", "explain"])
  func `each table is as it is kept, in three widths`(name: String) async throws {
    try await withPhotos { house async throws in
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
  }

  @Test func `there is colour on a terminal, and none where it is not wanted`() async throws {
    try await withPhotos { house async throws in
      func isColored(_ command: Command) async throws -> Bool { try await command.output().contains("\u{1b}[") }
      #expect(try await isColored(house.stagedoor(columns: 80, "sessions")))
      #expect(try await isColored(house.stagedoor(columns: 80, "sessions", environment: ["NO_COLOR": "1"])) == false)
      #expect(try await isColored(house.stagedoor(columns: 80, "sessions", environment: ["TERM": "dumb"])) == false)
      #expect(try await isColored(house.stagedoor(columns: 80, "--color=never", "sessions")) == false)
      #expect(try await isColored(house.stagedoor("sessions")) == false)
      let forced = house.stagedoor(columns: 80, "--color=always", "help", "drop", environment: ["NO_COLOR": "1"])
      #expect(try await isColored(forced))
    }
  }

  @Test func `a document from somebody else does not steer the terminal, and says what it says`() async throws {
    try await withPhotos { house async throws in
      let title = "\u{9b}2J\u{9d}\u{7f}\u{202e}\u{200f}\u{61c}\u{e0041} ok \u{200d}é"
      let photo = try await house.drop(photo: "steering", "--title", title)
      let escaped = #"\u009b2J\u009d\u007f\u202e\u200f\u061c\udb40\udc41 ok "# + "\u{200d}é"
      for words in [["show", photo.session], ["watch", "--past"], ["explain", "--session", photo.session]] {
        let told = try await house.stagedoor(words + ["--json"]).output()
        #expect(!told.unicodeScalars.contains { title.prefix(7).unicodeScalars.contains($0) && $0 != "2" && $0 != "J" })
        #expect(words[0] != "show" || told.contains(escaped), "\(told)")
      }
      let table = try await house.stagedoor("sessions").output()
      #expect(!table.contains("\u{9b}") && table.contains(#"\u{9b}2J\u{9d}\u{7f}\u{202e}\u{200f}\u{61c}\u{e0041} ok"#))
    }
  }

  @Test func `a list of nothing says so on standard error`() async throws {
    try await withService { house async throws in
      for (words, sentence) in [
        (["sessions"], "no windows yet"), (["deliveries"], "no deliveries yet"),
        (["watch", "--past"], "no events yet"),
        (["apps"], "no applications yet; `stagedoor install-manifest` installs one"),
      ] {
        let shown = try await house.stagedoor(columns: 200, words).run()
        #expect((shown.standardOutput + shown.standardError).contains(sentence), "\(words): \(shown)")
        let piped = try await house.stagedoor(words).run()
        #expect(piped.status.isSuccess && piped.standardOutput == "", "\(words): \(piped)")
        #expect(piped.standardError == sentence + "\n", "\(words): \(piped)")
        let json = try await house.stagedoor(words + ["--json"]).run()
        #expect(json.status.isSuccess, "\(words): \(json)")
        if words[0] != "watch" {
          #expect(json.standardOutput == "[]\n" && json.standardError == "", "\(words): \(json)")
        }
      }
    }
  }

  @Test func `times in a column are as wide as each other`() async throws {
    try await withPhotos { house async throws in
      let events = try await house.stagedoor("watch", "--past").output()
      #expect(!events.isEmpty)
      for line in events.split(separator: "\n") { #expect(line.split(separator: "\t")[1].count == 27, "\(line)") }
    }
  }

  @Test func `a name from somebody else does not steer the terminal`() async throws {
    try await withPhotos { house async throws in
      let photo = try await house.drop(photo: "\u{1b}[31mred\n", "--title", "\u{1b}[2J")
      for words in [["sessions"], ["show", photo.session], ["explain", "--session", photo.session]] {
        let shown = try await house.stagedoor(columns: 200, ["--color=never"] + words).output()
        #expect(!shown.contains("\u{1b}"), "\(words)")
      }
      #expect(try await house.stagedoor("sessions").output().contains("\\u{1b}[31mred\\n"))
    }
  }
}
