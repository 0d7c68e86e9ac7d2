import SceneModel
import Testing
import TextRules

@Suite("What a rule makes") struct RuleActionTests {
  @Test func `an activity comes before the items that were there, with the options of the payload`() throws {
    var payload = dropped("main.c:42", info: ["dir": "/src", "line": "1"])
    payload.options.token = "t"
    let made = try rule(
      "when text matches '(?<path>.*):(?<line>\\d+)(:(?<column>\\d+))?'",
      "then activity 'org.stagedoor.openFile' key '{path}'",
      "then title 'Line {line}'", "then info line '{line}'", "then info column '{column}'"
    ).answer(payload).payload
    #expect(made?.items.count == 2)
    #expect(made?.items.last == payload.items[0])
    let activity = made?.items.first?.activities.first
    #expect(activity?.activityType == "org.stagedoor.openFile")
    #expect(activity?.targetContentIdentifier == "main.c")
    #expect(activity?.title == "Line 42")
    // The rule's own strings win over those of `info`, and an unset string is left out.
    #expect(activity?.userInfo == ["dir": "/src", "line": "42"])
    #expect(made?.options.token == "t")
    #expect(made?.options.asksRules == false)
  }

  @Test func `an application, a configuration and a disposition become options`() throws {
    let payload = dropped("x")
    let made = try rule(
      "then application 'org.example.Reader'", "then configuration 'Page'", "then disposition 'existingOnly'"
    ).answer(payload).payload
    #expect(made?.items == payload.items)
    #expect(made?.options.application == "org.example.Reader")
    #expect(made?.options.configuration == "Page")
    #expect(made?.options.disposition == .existingOnly)
  }

  @Test func `a file is opened in its place, as what the disk says it is`() throws {
    let png = try #require(ContentType("image/png"))
    let made = try rule("when text matches '(?<p>.*)'", "then file '~/{p}'").answer(
      "a b%.png", disk: ["/home/user/a b%.png": .file(png)]
    ).payload
    #expect(
      made?.items.first
        == Item(
          suggestedName: "a b%.png",
          representations: [Representation(type: png, .file("file:///home/user/a%20b%25.png"), openInPlace: true)]))
    // The service refuses both when it looks at the file.
    #expect(
      try rule("then file '/nowhere'").answer("x").failures
        == ["it: it would hand in a file that does not exist: \"/nowhere\""])
    #expect(
      try rule("then file '/tmp'").answer("x", disk: ["/tmp": .directory]).failures
        == ["it: it would hand in a directory as a file: \"/tmp\""])
  }

  @Test func `a link and a text become representations`() throws {
    let made = try rule("when text matches '(?<q>.*)'", "then link 'https://example.org/?q={q}'", "then text '<{q}>'")
      .answer("a b&c=d/é").payload
    let item = try #require(made?.items.first)
    #expect(
      item.representations.map(\.type.text) == ["x-scheme-handler/https", "text/uri-list", "text/plain;charset=utf-8"])
    #expect(item.representations[0].content == .text("https://example.org/?q=a%20b%26c%3Dd%2F%C3%A9"))
    #expect(item.representations[2].content == .text("<a b&c=d/é>"))
  }

  @Test func `in a key that begins with a scheme a variable is percent-encoded, and the file keeps its slashes`() throws
  {
    func key(_ template: String, _ text: String) throws -> Text? {
      try rule("when text matches '(?<t>.*)'", "when file '{t}' exists", "then activity 'x' key '\(template)'")
        .answer(text, disk: [Text(text): plainFile]).activity?.targetContentIdentifier
    }
    #expect(try key("file://{file}", "/a b/c:d?") == FileURL.text(ofPath: "/a b/c:d?".utf8))
    #expect(try key("man:{t}", "/a b") == "man:%2Fa%20b")
    #expect(try key("{t}: {t}", "/a b") == "/a b: /a b")
    #expect(try key("9p:{t}", "/a b") == "9p:/a b")
    #expect(try key("{{x}:{t}", "/a") == "{x}:/a")
  }

  @Test func `a rule that is not about anything only adds to what was there`() throws {
    let activity = UserActivity(activityType: "org.example.old", userInfo: ["a": "old"])
    var payload = dropped("x", info: ["dir": "/src"])
    payload.items[0].activities = [activity]
    let made = try rule(
      "then title 'T'", "then info a 'new'", "then info b 'new'", "then text 'other'", "then disposition 'new'"
    ).answer(payload).payload
    var expected = payload.items[0]
    expected.activities[0].title = "T"
    expected.activities[0].userInfo = ["a": "old", "b": "new"]
    #expect(made?.items == [expected])
    #expect(made?.options.disposition == .new)
    // A text comes to an item that has none.
    let added = try rule("then text 'a picture'").answer(dropped(("image/png", .data([1])))).payload
    #expect(added?.items.first?.representations.map(\.type.text) == ["image/png", "text/plain;charset=utf-8"])
  }

  @Test func `a rule that is about nothing keeps the disposition and the configuration that the sender named`() throws {
    var payload = dropped("x")
    let adds = try rule("then disposition 'new'", "then configuration 'Mine'")
    #expect(adds.answer(payload).payload?.options.disposition == .new)
    payload.options.disposition = .existing
    payload.options.configuration = "Theirs"
    #expect(adds.answer(payload).payload?.options.disposition == .existing)
    #expect(adds.answer(payload).payload?.options.configuration == "Theirs")
    let about = try rule("then activity 'x'", "then disposition 'new'")
    #expect(about.answer(payload).payload?.options.disposition == .new)
  }

  @Test func `paths have one spelling`() throws {
    let set = try rule("when text matches '(?<p>.*)'", "when file '{p}' exists", "then title 'x'")
    for (path, normal) in [
      ("/a/./b//c/", "/a/b/c"), ("/a/../../b", "/b"), ("/", "/"), ("/..", "/"), ("/a/...", "/a/..."),
      ("/.a/..b", "/.a/..b"),
    ] as [(String, Text)] {
      #expect(set.askedPaths(path) == [normal])
    }
  }

  @Test func `a rule that cannot make what it says fails, and has changed nothing`() throws {
    let set = try ruleSet(
      """
      rule long
        when text matches '(?<t>.*)'
        then activity 'x' key '{t}{t}'
      rule relative
        then file 'nowhere'
      rule last
        then activity 'y'
      """)
    let payload = dropped(String(repeating: "k", count: Limits.text / 2 + 1))
    let answer = set.answer(payload)
    #expect(answer.rule == "last")
    #expect(answer.payload?.items.last == payload.items[0])
    #expect(
      try rule("when text matches '(?<t>.*)'", "then link 'a:<{t}'").answer("x").failures
        == ["it: it would make a link that is no URL: \"a:<x\""])
    // The address is one variable, and would become the name of a host.
    let address = try rule("when text matches 'https://(?<rest>.*)'", "then link 'https://{rest}'")
    #expect(address.answer("https://example.org").rule == "it")
    #expect(
      address.answer("https://example.org/a").failures
        == ["it: it would make a link whose host is none: \"https://example.org%2Fa\""])
  }

  @Test func `a large text in many places is no bomb`() throws {
    let many = String(repeating: "{t}", count: 2_000)
    let bomb = try rule("when text matches '(?<t>[^!]*)'", "then text '\(many)'", "then info a '\(many)'")
    #expect(bomb.answer(String(repeating: "x", count: 64 << 10)).failures.first?.contains("would make a") == true)
  }
}
