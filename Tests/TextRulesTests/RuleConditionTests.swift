import SceneModel
import Testing
import TextRules

@Suite("The conditions of a rule") struct RuleConditionTests {
  private func holds(
    _ condition: String, _ payload: Payload, from source: Text = .empty, disk: [Text: DiskAnswer] = [:]
  ) throws -> Bool {
    try rule(condition, "then title 'x'").answer(payload, from: source, disk: disk).payload != nil
  }

  private func holds(_ condition: String, _ text: String) throws -> Bool { try holds(condition, dropped(text)) }

  @Test func `matches compares the whole, contains a part, and is every byte`() throws {
    #expect(try holds("when text matches 'a+'", "aaa"))
    #expect(try !holds("when text matches 'a+'", "aab"))
    #expect(try holds("when text contains 'a+'", "xaab"))
    #expect(try holds("when text is 'a+'", "a+"))
    #expect(try !holds("when text is 'a'", "A"))
    #expect(try holds("when text is '{{a}'", "{a}"))
  }

  @Test func `not turns each of them around`() throws {
    #expect(try !holds("when not text matches 'a+'", "aaa"))
    #expect(try holds("when not text contains 'b'", "aaa"))
    #expect(try holds("when not text is 'b'", "aaa"))
    #expect(try holds("when not name is 'b'", dropped("no name")))
  }

  @Test func `the text is without white space at its ends`() throws {
    #expect(try holds("when text is 'a b'", " \t\na b\r\n "))
    #expect(try holds("when text is ''", "  "))
  }

  @Test func `a text of more than 64 KiB, or that is no UTF-8, fulfils no condition, not or no`() throws {
    let long = String(repeating: "a", count: 64 << 10)
    #expect(try holds("when text contains 'a'", long))
    #expect(try holds("when text contains 'a'", "  \(long)  "))
    for condition in ["when text contains 'a'", "when not text contains 'b'"] {
      #expect(try !holds(condition, long + "a"))
      #expect(try !holds(condition, dropped(("text/plain", .data([0x61, 0xE9])))))
      #expect(try !holds(condition, "a\u{0}"))
    }
  }

  @Test func `an info with NUL fulfils no condition either, and so comes into no key and no title`() throws {
    let activity = UserActivity(activityType: "org.example.show", userInfo: ["path": "a\u{0}b", "dir": "/a\u{0}b"])
    let payload = Payload(items: [Item(activities: [activity])])
    for condition in ["when info path matches '(?<p>.*)'", "when not info path is 'x'", "when file 'x' exists"] {
      #expect(try !holds(condition, payload, disk: ["/a\u{0}b/x": plainFile]), "\(condition)")
    }
    let set = try rule("when info path matches '(?<p>.*)'", "then activity 'org.example.open' key '{p}'")
    #expect(set.answer(payload).failures.map { $0.hasSuffix("does not hold on a text that has NUL") } == [true])
  }

  @Test func `a longer list of links, type, key, info or directory fulfils none either, and takes few steps`() throws {
    let long = Text(String(repeating: "#\n", count: 1 << 20) + "https://example.org")
    let list = try dropped(("text/uri-list", .text(long)))
    var named = dropped("a", info: ["long": .string(long)])
    named.items[0].activities = [try UserActivity(type: "x", key: .empty, userInfo: UserInfo())]
    named.items[0].activities[0].targetContentIdentifier = Text(String(repeating: "k", count: 70_000))
    for (condition, payload) in [
      ("link contains 'e'", list), ("info long contains 'e'", named), ("key contains 'k'", named),
    ] {
      for condition in ["when \(condition)", "when not \(condition)"] {
        let set = try ruleSet((0..<100).map { "rule r\($0)\n\(condition)\nthen title 'x'\n" }.joined())
        #expect(set.answer(payload).failures.allSatisfy { $0.contains("does not hold on more than 65536 bytes") })
        #expect(try holds(condition, payload) == false)
        var steps = 100_000
        _ = set.consult(HandedIn(payload), TypeCatalog(), steps: &steps)
        #expect(steps > 0, "\(condition)")
      }
    }
    let deep = dropped("a", info: ["dir": .string(Text(String(repeating: "/a", count: 1 << 20)))])
    let set = try ruleSet((0..<100).map { "rule r\($0)\nwhen file 'x' exists\nthen title 'x'\n" }.joined())
    var steps = 100_000
    guard case .none = set.consult(HandedIn(deep), TypeCatalog(), steps: &steps) else {
      return _ = Issue.record("it has a path")
    }
    #expect(steps > 0)
  }

  @Test func `the text is the first text slash plain of the call, else the first that conforms to it`() throws {
    let both = try dropped(("text/html", .text("<b>")), ("text/plain", .data(Array("b".utf8))))
    #expect(try holds("when text is 'b'", both))
    #expect(try holds("when text is '<b>'", dropped(("text/html", .text("<b>")))))
    #expect(try !holds("when text contains 'b'", dropped(("image/png", .text("b")))))
    #expect(try !holds("when text contains 'b'", dropped(("text/plain", .descriptor(0)))))
    #expect(try !holds("when text contains 'b'", dropped(("text/uri-list", .text("b:b")))))
  }

  @Test func `each subject is a part of the first item`() throws {
    var item = Item(
      suggestedName: "Beach.png",
      activities: [
        UserActivity(
          activityType: "org.example.show", targetContentIdentifier: "photo-7",
          userInfo: ["dir": "/there", "page": 3, "scale": 1.5, "on": true], webpageURL: "https://example.org/7")
      ],
      representations: [
        Representation(type: try #require(ContentType("image/png")), .file("file:///home/user/a%20b.png"))
      ])
    var payload = Payload(items: [item, Item(suggestedName: "Other.png")])
    for condition in [
      "name is 'Beach.png'", "type is 'image/png'", "path is '/home/user/a b.png'", "activity is 'org.example.show'",
      "key is 'photo-7'", "link is 'https://example.org/7'", "info dir is '/there'", "info page is '3'",
      "info scale is '1.5'", "source is ''",
    ] {
      #expect(try holds("when \(condition)", payload), "\(condition)")
    }
    #expect(try !holds("when info on matches '.*'", payload))
    #expect(try holds("when source is 'org.example.Mail'", payload, from: "org.example.Mail"))
    payload.options.info = ["dir": "/here"]
    #expect(try holds("when info dir is '/here'", payload))
    item.representations = Representation.link(to: "HTTPS://Example.org/a")
    #expect(try holds("when link is 'https://example.org/a'", Payload(items: [item])))
    #expect(try holds("when type is 'x-scheme-handler/https'", Payload(items: [item])))
    #expect(try holds("when type is 'text/plain'", dropped("x")))
    #expect(try holds("when type is 'text/plain;charset=utf-8'", dropped("x")))
    #expect(try !holds("when not type is 'text/plain'", dropped("x")))
  }

  @Test func `only what everyone may see is looked at`() throws {
    let hidden = Payload(items: [
      Item(
        activities: [
          UserActivity(activityType: "org.example.show", targetContentIdentifier: "k", visibility: .application)
        ],
        representations: [Representation(type: .plainText, .text("secret"), visibility: .ownProcess)])
    ])
    for condition in [
      "when text contains 's'", "when activity contains 'o'", "when key is 'k'", "when type contains 't'",
    ] {
      #expect(try !holds(condition, hidden), "\(condition)")
    }
  }

  @Test func `named groups of what matched are variables from then on`() throws {
    let set = try rule(
      "when text matches '(?<a>\\w+)-(?<b>\\w+)(?<c>!)?'", "when {a} is '{b}'", "when {b} matches '(?<b>.).*'",
      "when {c} is ''", "then title '{a}{b}{c}'", "then activity 'x'")
    #expect(set.answer("ab-ab").activity?.title == "aba")
    #expect(set.answer("ab-ac").payload == nil)
    // An expression that must not match sets nothing.
    let not = try rule("when not text matches '(?<a>x)'", "then activity 'x' key '{a}y'")
    #expect(not.answer("z").activity?.targetContentIdentifier == "y")
  }

  @Test func `a path is absolute, begins at home, or is relative to info dir`() throws {
    let set = try rule("when text matches '(?<p>.*)'", "when file '{p}' exists", "then activity 'x' key '{file}'")
    func file(_ text: String, _ path: Text, _ info: UserInfo = ["dir": "/src"]) -> Text? {
      set.answer(text, info: info, disk: [path: plainFile]).activity?.targetContentIdentifier
    }
    #expect(file("/a/main.c", "/a/main.c") == "/a/main.c")
    #expect(file("/a/./b/../main.c", "/a/main.c") == "/a/main.c")
    #expect(file("~/main.c", "/home/user/main.c") == "/home/user/main.c")
    #expect(file("main.c", "/src/main.c") == "/src/main.c")
    #expect(file("main.c", "/src/main.c", UserInfo()) == nil)
    #expect(file("main.c", "/src/main.c", ["dir": "src"]) == nil)
    #expect(file("other.c", "/src/main.c") == nil)
  }

  @Test func `a path that is none says why`() throws {
    let set = try rule("when text matches '(?<path>.*)'", "when file '{path}' exists", "then title 'x'")
    #expect(set.answer("").failures == ["it: line 3: when file '{path}' exists does not hold: it is an empty path"])
    let relative = set.answer("a").failures
    #expect(
      relative.count == 1 && relative[0].hasSuffix("it is no absolute path, and info dir does not say where it begins"))
    let long = set.answer("/" + String(repeating: "a", count: RuleLimits.path)).failures
    #expect(long.count == 1 && long[0].hasSuffix("it has more than 4096 bytes"), "\(long)")
  }

  @Test func `exists and is a directory ask the disk, and not turns them around`() throws {
    let disk: [Text: DiskAnswer] = ["/f": plainFile, "/d": .directory]
    func holds(_ condition: String) throws -> Bool { try self.holds(condition, dropped("x"), disk: disk) }
    #expect(try holds("when file '/f' exists") && holds("when file '/d' exists") && !holds("when file '/n' exists"))
    #expect(try holds("when file '/d' is a directory") && !holds("when file '/f' is a directory"))
    #expect(try !holds("when not file '/f' exists") && holds("when not file '/n' exists"))
    #expect(try holds("when not file '/f' is a directory") && holds("when not file '/n' is a directory"))
    #expect(try !holds("when not file '/d' is a directory"))
  }

  @Test func `an unanswered path fulfils no condition, not or no, and is not handed in`() throws {
    for condition in ["when file '/f' exists", "when not file '/f' exists", "when not file '/f' is a directory"] {
      var steps = RuleLimits.steps
      let answer = try rule(condition, "then title 'x'").consult(
        HandedIn(dropped("x")), TypeCatalog(), disk: [:], explains: true, steps: &steps)
      #expect(answer.failures == ["it: line 2: \(condition) does not hold: \"/f\" was not answered in time"])
    }
    var steps = RuleLimits.steps
    #expect(
      try rule("then file '/f'").consult(
        HandedIn(dropped("x")), TypeCatalog(), disk: [:], explains: true, steps: &steps
      )
      .failures == ["it: it would hand in a file about which the disk did not answer in time: \"/f\""])
  }

  @Test func `the file is that of the last condition about one`() throws {
    let set = try rule("when file '/a' exists", "when not file '/b' exists", "then title '{file}'", "then activity 'x'")
    #expect(set.answer("x", disk: ["/a": plainFile]).activity?.title == "/b")
  }

  @Test func `at most 100 paths are asked for, each once, and the 101st is unanswered`() throws {
    let rules = (0..<120).map {
      "rule r\($0)\nwhen file '/\($0 / 2 * 2)' exists\nwhen file '/b\($0)' exists\nthen title 'x'\n"
    }
    let paths = try #require(try ruleSet(rules.joined()).askedPaths("x"))
    #expect(paths.count == 100)
    #expect(Set(paths).count == 100)
    #expect(paths.prefix(3) == ["/0", "/b0", "/b1"])
  }

  @Test func `only paths that matter are asked for`() throws {
    let set = try ruleSet(
      """
      rule a
        when text is 'never'
        when file '/a' exists
        then title 'x'
      rule b
        when file '/b' exists
        when file '{file}/c' exists
        then title 'x'
      rule c
        when text is 'x'
        then title 'x'
      rule d
        when file '/d' exists
        then title 'x'
      """)
    #expect(set.askedPaths("x") == ["/b", "/b/c"])
  }
}
