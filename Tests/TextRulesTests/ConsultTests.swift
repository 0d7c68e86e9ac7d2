import SceneModel
import Testing
import TextRules

@Suite("Which rule takes a payload") struct ConsultTests {
  private let three = """
    # three rules
    rule a
      when text matches '(?<t>a.*)'
      then activity 'A' key '{t}'
    rule ab
      when text matches '(?<t>ab.*)'
      then activity 'AB' key '{t}'
    rule any
      when text matches '(?<t>.*)x'
      then activity 'X' key '{t}'
    """

  @Test func `the first rule whose conditions all hold is the one`() throws {
    let set = try ruleSet(three)
    #expect(set.answer("abx").activity?.activityType == "A")
    #expect(set.answer("cx").activity?.activityType == "X")
    guard case .rule(let reference, _) = set.answer("cx") else { return _ = Issue.record("no rule takes it") }
    #expect(reference == RuleReference(name: "any", file: "/rules/test.rules", line: 8))
  }

  @Test func `where none holds, each says which condition failed and on what`() throws {
    #expect(
      try ruleSet(three).answer("b \"c\"").failures == [
        #"a: line 3: when text matches '(?<t>a.*)' does not hold on "b \"c\"""#,
        #"ab: line 6: when text matches '(?<t>ab.*)' does not hold on "b \"c\"""#,
        #"any: line 9: when text matches '(?<t>.*)x' does not hold on "b \"c\"""#,
      ])
    #expect(
      try rule("when name is 'x' # why", "then title 'x'").answer("x").failures
        == ["it: line 2: when name is 'x' does not hold: there is nothing to compare"])
  }

  @Test func `at most 100 failed rules are named`() throws {
    let rules = (0..<101).map { "rule r\($0)\nwhen text is 'y'\nthen title 'x'\n" }.joined()
    #expect(try ruleSet(rules).answer("x").failures.count == 100)
  }

  @Test func `a variable of a rule that failed is not one of the next`() throws {
    let set = try ruleSet(
      "rule a\nwhen text matches '(?<t>.*)'\nwhen text is ''\nthen title 'x'\nrule b\nthen activity 'x' key '<{t}>'")
    #expect(set.answer("y").activity?.targetContentIdentifier == "<>")
  }

  @Test func `for a sandboxed sender no rule about files is tried, nor one that makes a file's URL`() throws {
    for lines in [
      ["when file '/etc/passwd' exists", "then activity 'x'"],
      ["when not file '/etc/passwd' exists", "then activity 'x'"],
      ["when path matches '.*'", "then activity 'x'"], ["when not path is ''", "then activity 'x'"],
      ["then file '/etc/passwd'"], ["then activity 'x' key 'file:///etc/passwd'"], ["then link 'FILE:///etc/passwd'"],
      ["when text matches '(?<t>.*)'", "then activity 'x' key '{t}'"],
    ] {
      let set = try ruleSet("rule it\n" + lines.joined(separator: "\n"))
      let disk: [Text: DiskAnswer] = lines[0].contains("not file") ? [:] : ["/etc/passwd": plainFile]
      var payload = dropped("file:///etc/passwd")
      if lines[0].contains("path") {
        payload.items[0].representations.append(
          Representation(type: .anyData, .file("file:///etc/passwd"), openInPlace: true))
      }
      #expect(set.answer(payload, disk: disk).payload != nil, "\(lines)")
      let answer = set.answer(payload, isSandboxed: true, disk: disk)
      #expect(answer.failures.first?.contains("sandboxed") == true, "\(lines)")
    }
  }

  @Test func `the steps that rules may take have an end`() throws {
    let set = try ruleSet(
      (0..<1_000).map { "rule r\($0)\nwhen text contains '(a|aa|aaa)*b\($0)'\nthen title 'x'\n" }.joined())
    let text = String(repeating: "a", count: 60_000)
    guard case .exhausted = set.answer(text + " b") else { return _ = Issue.record("the steps sufficed") }
    #expect(set.answer("b").failures.count == 100)
  }

  @Test func `variables take steps when they are set, and when they are put into a text`() throws {
    func steps(_ lines: String) throws -> Int {
      var steps = RuleLimits.steps
      _ = try ruleSet("rule it\n\(lines)\nthen title 'x'").consult(HandedIn(dropped("x")), TypeCatalog(), steps: &steps)
      return RuleLimits.steps - steps
    }
    func groups(_ isNamed: Bool) -> String {
      let conditions = (0..<50).map { condition in
        "when text matches '\((0..<60).map { isNamed ? "(?<g\(condition)_\($0)>)" : "()" }.joined())x'"
      }
      return conditions.joined(separator: "\n")
    }
    #expect(try steps(groups(true)) >= steps(groups(false)) + 16 * 50 * 60)
    #expect(try steps("when text is '\(String(repeating: "{v}", count: 1_000))x'") >= 8 * 1_000)
  }
}
