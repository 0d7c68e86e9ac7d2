import DBusTestSupport
import DaemonTestSupport
import Testing

/// `docs/command.md` as somebody types it: the manifest is saved, and each line runs, one after the other, in one shell.
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
