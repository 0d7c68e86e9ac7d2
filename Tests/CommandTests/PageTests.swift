import DBusTestSupport
import DaemonTestSupport
import Foundation
import Testing

/// `docs/command.md` as a user types it: the test saves the manifest, and runs each line, one after the other, in one shell.
@Suite struct PageTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `each line of the page runs as it stands`(kind: PrivateBus.Kind) async throws {
    let parts = try Repository.text(of: "docs/command.md").split(separator: "```", omittingEmptySubsequences: false)
    let lines = parts.filter { $0.hasPrefix("sh\n") }.map { $0.dropFirst(3) }
    try #require(lines.count >= 7)
    try await withService(kind) { house async throws in
      let manifest = try #require(parts.first { $0.hasPrefix("json\n") }).dropFirst(5)
      try house.write(String(manifest), to: "\(house.home)/Info.json")
      var shell = house.command("sh", "-eu", "-c", lines.joined())
      let folder = Command.built("stagedoor").program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      shell.directory = house.home
      shell.environment["PATH"] = "\(folder):\(shell.environment["PATH"] ?? "/usr/bin:/bin")"
      let result = try await shell.run()
      #expect(result.status.isSuccess && result.standardError == "", "\(result)")
      let output = result.standardOutput
      for words in [
        "good, it declares org.example.Notes", "created\t", "activated\t", "+- key            monday", "\nhandled\n",
        "\tdiscarded\t", "1 as recorded, 0 different",
      ] {
        #expect(output.contains(words), "\(words) in \(output)")
      }
    }
  }

  @Test func `the page has the keys that objects have`() async throws {
    let rows = try Repository.text(of: "docs/command.md").split(separator: "\nThe keys of each object")[1]
      .split(separator: "\n\nThe command ends")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
    try await withService { house async throws in
      try await house.registerGallery()
      let photo = try await house.drop(photo: "photo-7")
      _ = try await house.stagedoor("cancel", photo.delivery).output()
      _ = try await house.drop(photo: "photo-8")
      _ = try await house.stagedoor("prefer", House.openDetail, "Gallery").output()
      let asked = [["sessions"], ["apps"], ["deliveries"], ["show", photo.delivery], ["prefer"]]
      for words in asked {
        let row = try #require(rows.first { $0.hasPrefix("| `\(words[0])`") })
        let documented = row.split(separator: "|")[1].matches(of: #/`(\w+)`/#).map { String($0.output.1) }
        let command = house.command(Command.built("stagedoor").program, arguments: words + ["--json"])
        let document = try JSONSerialization.jsonObject(with: Data(try await command.output().utf8))
        let object = try #require(((document as? [Any])?.first ?? document) as? [String: Any])
        #expect(object.keys.sorted() == documented.sorted(), "\(words)")
      }
    }
  }

  @Test func `the page has the statuses that the manual has`() async throws {
    let page = try Repository.text(of: "docs/command.md")
    let manual = try Repository.text(of: "docs/stagedoor.1")
    for status in 0...7 {
      let match = try #require(
        manual.firstMatch(of: try Regex("\\.B \(status)\n(.+)\\.\n", as: (Substring, Substring).self)))
      #expect(page.contains("| \(status) | \(match.output.1.lowercased()) |"), "\(match.output.1)")
    }
  }
}
