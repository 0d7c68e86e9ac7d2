import SceneModel
import Testing
import TextRules

@Suite("A file of rules") struct RuleParsingTests {
  private func faults(_ bytes: [UInt8]) -> [String] {
    do throws(RuleFaults) {
      _ = try RuleFile(bytes)
      return []
    } catch {
      return error.all.map(\.description)
    }
  }

  private func faults(_ text: String) -> [String] { faults(Array(text.utf8)) }

  private func fault(_ line: String) -> String { faults("rule it\n\(line)\nthen title 'x'").first ?? "none" }

  @Test func `the rules stand in their order, with the lines of their names`() throws {
    let file = try RuleFile(
      Array("# a comment\n\nrule a\n  when text is 'x' # why\n  then title 'x'\r\n\trule b\nthen title 'it''s'".utf8))
    #expect(file.rules.map(\.name) == ["a", "b"])
    #expect(file.rules.map(\.line) == [3, 6])
    #expect(file.warnings.map(\.line) == [6])
  }

  @Test func `an empty file has no rules`() throws {
    #expect(try RuleFile([]).rules.isEmpty)
    #expect(try RuleFile(Array("# nothing\n".utf8)).rules.isEmpty)
  }

  @Test func `a fault is named with its line and column`() {
    #expect(fault("  whan text is 'x'").hasPrefix("2:3: expected rule, when or then, got \"whan\""))
    #expect(fault("when").hasPrefix("2:5: expected a subject such as text, or not, got the end of the line"))
    #expect(fault("when mood is 'x'").hasPrefix("2:6: expected text, link, path"))
    #expect(fault("when text equals 'x'").hasPrefix("2:11: expected matches, contains or is, got \"equals\""))
    #expect(fault("when text is x").hasPrefix("2:14: expected a text in quotes, got \"x\""))
    #expect(fault("when text is 'x").hasPrefix("2:14: this text has no end"))
    #expect(fault("when text is 'x'y").hasPrefix("2:17: expected a space after the quoted text"))
    #expect(fault("when text is 'x' y").hasPrefix("2:18: expected the end of the line, got \"y\""))
    #expect(fault("when text is '{x'").hasPrefix("2:15: expected a variable such as {line}"))
    #expect(fault("when file 'x'").hasPrefix("2:14: expected exists, or is a directory, got the end"))
    #expect(fault("when file 'x' is directory").hasPrefix("2:18: expected is a directory, got \"directory\""))
    #expect(fault("when info is 'x'").hasPrefix("2:14: expected matches, contains or is"))
    #expect(fault("then disposition 'never'").hasPrefix("2:18: expected 'auto', 'new', 'existing'"))
    #expect(fault("then application 'mail'").hasPrefix("2:18: expected the identifier of an application"))
    #expect(fault("then activity ''").hasPrefix("2:15: expected the type of an activity, which has 1 to 255 bytes"))
    #expect(fault("then activity 'a' for 'b'").hasPrefix("2:19: expected key or the end of the line"))
    #expect(fault("then link '{x}'").hasPrefix("2:11: a link begins with its scheme"))
    #expect(fault("then link 'https://a b'").hasPrefix("2:11: expected a URL, got"))
    #expect(fault("then run 'rm'").hasPrefix("2:6: expected activity, title, info"))
  }

  @Test func `the fault of an expression has the column in the file, whatever was written twice before it`() {
    #expect(fault("when text matches 'a(b'").hasPrefix("2:"))
    #expect(fault("when text matches 'it''s (*)'").hasPrefix("2:27: "))
    #expect(fault("when text matches '(?=x)'").hasPrefix("2:20: "))
    #expect(fault("when text matches '''(?=x)'").hasPrefix("2:22: "))
    #expect(fault("when text matches '\\1'").hasPrefix("2:20: "))
    #expect(fault("when text matches '(?<file>.*)'").hasPrefix("2:19: no group is named file"))
  }

  @Test func `every fault of a file is named`() {
    let found = faults("then title 'x'\nrule a\nwhen mood is 'x'\nthen title 'x'\nrule a\nthen title 'x'\nrule c")
    #expect(found.map { $0.prefix(while: { $0 != " " }) } == ["1:1:", "3:6:", "5:6:", "7:1:"])
    #expect(faults("\nrule a\nthen title '\u{0}'") == ["3:13: expected text without NUL"])
  }

  @Test func `a file that is no UTF-8 is refused at the byte`() {
    #expect(faults(Array("# é".utf8) + [0xFF]) == ["1:4: expected UTF-8"])
  }

  @Test func `no variable stands in a type, an application, a configuration or a disposition`() {
    for line in [
      "then activity '{x}'", "then application 'org.{x}'", "then configuration '{x}'", "then disposition '{x}'",
    ] {
      #expect(fault(line).contains("no variable stands in"), "\(line)")
    }
  }

  @Test func `each thing is said once in a rule`() {
    for line in [
      "activity 'a'", "title 'a'", "info a 'a'", "file 'a'", "link 'a:b'", "text 'a'", "application 'a.b'",
      "configuration 'a'", "disposition 'new'",
    ] {
      let found = faults("rule it\nthen \(line)\nthen \(line)")
      #expect(found.count == 1 && found[0].hasPrefix("3:") && found[0].hasSuffix("already"), "\(line): \(found)")
    }
  }

  @Test func `a condition does not come after an action`() {
    #expect(
      faults("rule it\nthen title 'x'\nwhen text is 'x'") == ["3:1: the conditions of a rule come before its actions"])
  }

  @Test func `a rule has at most 64 conditions and actions`() {
    func lines(_ count: Int) -> String {
      "rule it\n" + String(repeating: "when text is 'x'\n", count: count - 1) + "then title 'x'"
    }
    #expect(faults(lines(64)) == [])
    #expect(faults(lines(65)) == ["66:1: a rule has at most 64 conditions and actions"])
  }

  @Test func `a file has at most 1,000 rules and 256 KiB`() {
    func rules(_ count: Int) -> String { (0..<count).map { "rule r\($0)\nthen title 'x'\n" }.joined() }
    #expect(faults(rules(1_000)) == [])
    #expect(faults(rules(1_001)) == ["2001:1: there are at most 1000 rules"])
    #expect(faults("#" + String(repeating: "x", count: 256 << 10 - 1)) == [])
    #expect(faults("#" + String(repeating: "x", count: 256 << 10)).count == 1)
  }

  @Test func `a variable that nothing sets is warned about`() throws {
    let file = try RuleFile(
      Array("rule it\nwhen text matches '(?<a>x)'\nwhen not text matches '(?<b>y)'\nthen title '{a}{b}{file}'".utf8))
    #expect(file.warnings.map { "\($0.line):\($0.column)" } == ["4:16", "4:19"])
    let subject = try RuleFile(Array("rule it\n  when {q} is 'x'\n  then title 'x'".utf8))
    #expect(subject.warnings.map { "\($0.line):\($0.column)" } == ["2:8"])
  }

  @Test func `what can only be a mistake is warned about`() throws {
    func warnings(_ lines: String) throws -> [String] {
      try RuleFile(Array("rule it\n\(lines)\nthen title 'x'".utf8)).warnings.map(\.description)
    }
    #expect(try warnings("") == ["1:1: the rule it has no condition: it takes everything, and no later rule is tried"])
    #expect(try warnings("when text is 'x'") == [])
  }

  @Test func `the expressions of a file have at most 200,000 steps`() {
    func rules(_ count: Int) -> String {
      "rule it\n" + String(repeating: "when text contains '(a{1000}){9}'\n", count: count) + "then title 'x'"
    }
    #expect(faults(rules(22)) == [])
    let faults = faults(rules(23))
    #expect(
      faults.count == 1 && faults[0].hasPrefix("24:6: written out, the expressions of a file have at most 200000"))
  }

  @Test func `a byte order mark and a faulty name are one thing each`() {
    #expect(faults([0xEF, 0xBB, 0xBF] + Array("rule a\nthen title 'x'".utf8)) == [])
    for first in ["rule 'a'", "Rule a"] {
      #expect(faults("\(first)\n  when text is 'x'\n  then title 'x'\nrule b\n  then title 'x'").count == 1)
    }
  }
}
