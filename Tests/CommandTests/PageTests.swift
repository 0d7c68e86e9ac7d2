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
      let result = try await house.page(lines.joined()).run()
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

  private static let withoutService = "A command says that nobody serves the name"

  /// For each symptom of the page: what brings it about, and what its commands then show.
  private static let troubles: [(symptom: String, cause: String, shown: [String])] = [
    ("Trouble", "", ["good   bus", "note   activation"]),
    (
      withoutService, "stagedoor sessions 2>&1 || true",
      [
        "stagedoor sessions: nobody serves org.stagedoor.Interchange1",
        "wrong  service     nobody serves org.stagedoor.Interchange1", "note   activation  no dbus-1/services/",
      ]
    ),
    (
      "A drop is refused", "",
      ["org.example.Notes\tNotes\tno", "=> refused: no application declares \"org.example.Notes.opne\""]
    ),
    (
      "A drop goes to the wrong window", "stagedoor drop --type org.example.Notes.open",
      ["out", "it shows nothing with a key", "=> created"]
    ),
    ("A drop of a file goes to the wrong application", "", ["org.example.Notes\tNotes", "preferred\ttext/plain"]),
    (
      "A drop is accepted, and nothing appears", "stagedoor drop --type org.example.Notes.open --target held",
      ["\theld\torg.example.Notes\t", "org.example.Notes\tNotes\tno"]
    ),
    (
      "A drop failed later",
      """
      stagedoor host --app org.example.Notes --connect /no/such/program 2>/dev/null & host=$!
      stagedoor drop --type org.example.Notes.open --target failed --wait handled 2>/dev/null || true
      kill $host
      """,
      ["\tfailed\torg.example.Notes\t", "/no/such/program: No such file or directory"]
    ),
    (
      "A changed manifest has no effect",
      "cp Info.json $XDG_DATA_HOME/stagedoor/applications/org.example.Notes.plist",
      ["Info.json: good", "note   manifest"]
    ),
    (
      "A window in the list has no program", "stagedoor drop --type org.example.Notes.open --target monday",
      ["\torg.example.Notes\tNote\tunattached\tmonday\t", "closed\t"]
    ),
  ]

  @Test func `each symptom on the page of trouble is shown by its commands`() async throws {
    let sections = try Repository.text(of: "docs/trouble.md").split(separator: "\n## ")
    #expect(sections.count == Self.troubles.count)
    let manifest = try #require(
      Repository.text(of: "docs/command.md").split(separator: "```").first { $0.hasPrefix("json\n") }
    ).dropFirst(5)
    for (section, trouble) in zip(sections, Self.troubles) {
      #expect(section.hasPrefix(trouble.symptom) || section.hasPrefix("# \(trouble.symptom)"), "\(section.prefix(60))")
      let lines = section.split(separator: "```").filter { $0.hasPrefix("\nsh\n") || $0.hasPrefix("sh\n") }
        .map { $0.drop { $0 == "\n" }.dropFirst(3) }.joined()
      try #require(!lines.isEmpty)
      let isServed = trouble.symptom != Self.withoutService
      try await withHouse { house async throws in
        try house.write(String(manifest), to: "\(house.home)/Info.json")
        let shell = house.page("stagedoor install-manifest -q Info.json\n\(trouble.cause)\n\(lines)")
        let result =
          isServed
          ? try await house.serving("--durability", "memory") { _ in try await shell.run() } : try await shell.run()
        #expect(result.status == .exited(isServed ? 0 : 1), "\(trouble.symptom): \(result)")
        // The first symptom has a mistyped name.
        let note = lines.contains("opne") ? "stagedoor: did you mean org.example.Notes.open?\n" : ""
        #expect(result.standardError == note, "\(trouble.symptom): \(result)")
        for words in trouble.shown {
          #expect(result.standardOutput.contains(words), "\(trouble.symptom): \(words) in \(result)")
        }
      }
    }
  }

  @Test(.gallery) func `the page has the keys that objects have`() async throws {
    let rows = try Repository.text(of: "docs/command.md").split(separator: "\nThe keys of each object")[1]
      .split(separator: "\n\nThe command ends")[0].split(separator: "\n").filter { $0.hasPrefix("| `") }
    let photo = try await house.drop(photo: "photo-7")
    try await said("cancel", photo.delivery)
    try await house.drop(photo: "photo-8")
    try await said("prefer", House.openDetail, "Gallery")
    let asked = [["sessions"], ["apps"], ["deliveries"], ["show", photo.delivery], ["prefer"]]
    for words in asked {
      let row = try #require(rows.first { $0.hasPrefix("| `\(words[0])`") })
      let documented = row.split(separator: "|")[1].matches(of: #/`(\w+)`/#).map { String($0.output.1) }
      let json = try await said(words + ["--json"])
      let document = try JSONSerialization.jsonObject(with: Data(json.utf8))
      let object = try #require(((document as? [Any])?.first ?? document) as? [String: Any])
      #expect(object.keys.sorted() == documented.sorted(), "\(words)")
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

extension House {
  /// The lines of a page in a shell that finds the command.
  fileprivate func page(_ lines: String) -> Command {
    var shell = command("sh", "-eu", "-c", lines)
    shell.directory = home
    shell.lookFirst(in: Command.builtFolder)
    return shell
  }
}
