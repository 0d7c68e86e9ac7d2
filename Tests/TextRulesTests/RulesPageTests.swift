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

/// The rules of Plan 9's plumber, translated: its manual has them in `/sys/lib/plumb/basic`.
@Suite("The plumber's rules") struct PlumberTests {
  private static let basic = #"""
    # image files go to page
    rule image
      when text matches '[a-zA-Z0-9_\-./]+\.(jpe?g|JPE?G|gif|GIF|tiff?|TIFF?|ppm|bit|png|PNG)'
      when text matches '(?<path>.*)'
      when file '{path}' exists
      when not file '{path}' is a directory
      then file '{file}'
      then activity 'org.example.Page.show' key 'file://{file}'
    # postscript, pdf and dvi go to page too
    rule postscript
      when text matches '(?<path>[a-zA-Z0-9_\-./]+\.(ps|PS|eps|EPS|pdf|PDF|dvi|DVI))'
      when file '{path}' exists
      then activity 'org.example.Page.show' key 'file://{file}'
    # open compiler messages in the editor
    rule open-at-line
      when text matches '(?<path>[.a-zA-Z0-9_/\-]*[a-zA-Z0-9_/\-]):(?<line>[0-9]+)(:.*)?'
      when file '{path}' exists
      then activity 'org.example.Editor.open' key 'file://{file}'
      then info addr '{line}'
    # existing files
    rule open
      when text matches '(?<path>[.a-zA-Z0-9_/\-]+)'
      when file '{path}' exists
      then activity 'org.example.Editor.open' key 'file://{file}'
    # .h files are looked up in /sys/include and passed to the editor
    rule header
      when text matches '(?<name>[a-zA-Z0-9]+\.h)'
      when file '/sys/include/{name}' exists
      then activity 'org.example.Editor.open' key 'file://{file}'
    # man index entries are synthesized
    rule manual
      when text matches '(?<page>[a-zA-Z0-9_\-./]+)\((?<section>[0-9]+)\)'
      then activity 'org.example.Manual.show' key '{section}/{page}'
    # start rule for edit: mail boxes and addresses
    rule mail
      when text matches '(?<to>[a-zA-Z0-9_+.\-]+@[a-zA-Z0-9_+.\-]*)'
      then link 'mailto:{to}'
    # RFC references are synthesized
    rule rfc
      when text matches 'rfc(?<number>[0-9]+)'
      then link 'https://www.rfc-editor.org/rfc/rfc{number}'
    """#

  @Test(
    arguments: [
      ("lib/a.gif", "image", "file:///usr/glenda/lib/a.gif"), ("doc.ps", "postscript", "file:///usr/glenda/doc.ps"),
      ("main.c:12", "open-at-line", "file:///usr/glenda/main.c"),
      ("main.c:12: syntax error", "open-at-line", "file:///usr/glenda/main.c"),
      ("main.c", "open", "file:///usr/glenda/main.c"), ("u.h", "header", "file:///sys/include/u.h"),
      ("plumb(6)", "manual", "6/plumb"), ("rfc822", "rfc", "https://www.rfc-editor.org/rfc/rfc822"),
      ("glenda@example.org", "mail", "mailto:glenda%40example.org"),
    ] as [(String, Text, Text)]) func `each text goes where the plumber sent it`(
      _ text: String, _ rule: Text, _ key: Text
    ) throws
  {
    let files: [Text] = [
      "/usr/glenda/lib/a.gif", "/usr/glenda/doc.ps", "/usr/glenda/main.c", "/sys/include/u.h",
    ]
    let disk = Dictionary(uniqueKeysWithValues: files.map { ($0, plainFile) })
    let answer = try ruleSet(Self.basic).answer(text, info: ["dir": "/usr/glenda"], disk: disk)
    #expect(answer.rule == rule)
    let item = try #require(answer.payload?.items.first)
    let link: Text? = if case .text(let text)? = item.representations.first?.content { text } else { nil }
    #expect((item.activities.first?.targetContentIdentifier ?? link) == key)
  }
}
