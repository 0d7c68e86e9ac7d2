import SceneModel
import SceneTestSupport
import Testing
import TextRules

/// The rules of docs/rules.md do what the page says.
@Suite("The page on rules") struct RulesPageTests {
  private let rules: RuleSet

  init() throws {
    rules = RuleSet(
      try Page("docs/rules.md").blocks("rules").map { block in
        let file = try RuleFile(Array(block.utf8))
        #expect(file.warnings.isEmpty)
        return ("/rules/page.rules", file)
      })
    try #require(rules.entries.count == 10)
  }

  @Test func `the file beside the page has the same rules`() throws {
    let blocks = try Page("docs/rules.md").blocks("rules")
    let file = try Page("docs/examples.rules").text.split(separator: "\n\n", maxSplits: 1)[1]
    #expect(file == blocks.joined(separator: "\n\n") + "\n")
  }

  private static let disk: [Text: DiskAnswer] = [
    "/src/stagedoor/main.c": plainFile, "/src/stagedoor": .directory, "/src/stagedoor/a b": plainFile,
  ]

  @Test(
    arguments: [
      ("main.c:42", "compiler-message", "file:///src/stagedoor/main.c", "42"),
      ("main.c:42:7: error: expected ;", "compiler-message", "file:///src/stagedoor/main.c", "42"),
      (" ls(1)\n", "manual-page", "ls(1)", nil),
      ("#1234", "issue-of-ours", "https://tracker.example.org/stagedoor/1234", nil),
      ("see OPS-77.", "ticket", "https://tickets.example.org/browse/OPS-77", nil),
      ("0123abc", "commit", "0123abc", nil),
      (#"File "main.c", line 3, in <module>"#, "python-traceback", "file:///src/stagedoor/main.c", "3"),
      (".", "directory", "file:///src/stagedoor", nil), ("a b", "file", "file:///src/stagedoor/a%20b", nil),
      ("ann@example.org", "mail-address", "mailto:ann@example.org", nil),
    ] as [(String, Text, Text, Text?)]) func `each rule finds what its text is about`(
      _ text: String, _ rule: Text, _ key: Text, _ line: Text?
    ) throws
  {
    let answer = rules.answer(text, info: ["dir": "/src/stagedoor"], disk: Self.disk)
    #expect(answer.rule == rule)
    let item = try #require(answer.payload?.items.first)
    #expect((item.activities.first?.targetContentIdentifier ?? item.representations.first?.url) == key)
    #expect(item.activities.first?.userInfo["line"] == line.map { .string($0) })
  }

  @Test func `a link of the site goes to its application`() {
    let link = Payload(items: [Item(representations: Representation.link(to: "https://videos.example.org/watch?v=1"))])
    #expect(rules.answer(link).payload?.options.application == "org.example.Player")
  }

  @Test func `a text that no rule takes stays as it is`() {
    #expect(rules.answer("nothing of the kind", info: ["dir": "/src"], disk: Self.disk).failures.count == 10)
  }
}
