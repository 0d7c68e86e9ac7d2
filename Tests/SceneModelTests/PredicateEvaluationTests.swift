import SceneModel
import Testing

@Suite struct PredicateEvaluationTests {
  @Test(arguments: [
    ("SELF == 'cat1'", "cat1"), ("SELF = \"cat1\"", "cat1"), ("self != 'cat1'", "cat2"), ("SELF <> 'a'", ""),
    ("SELF < 'b'", "a"), ("SELF < 'b'", ""), ("SELF <= 'b'", "b"), ("SELF =< 'b'", "B"), ("SELF > 'a'", "a\u{1}"),
    ("SELF >= 'a'", "a"), ("SELF => 'a'", "z"), ("SELF > 'z'", "é"), ("SELF > '\u{FFFD}'", "😀"), ("'a' < SELF", "b"),
    ("'b' >= SELF", "b"), ("'cat1' ==[c] SELF", "CAT1"), ("SELF <[c] 'b'", "A"), ("SELF !=[c] 'A'", "b"),
    ("SELF BEGINSWITH 'file:'", "file:///a"), ("SELF BEGINSWITH ''", ""), ("SELF ENDSWITH ''", "a"),
    ("SELF CONTAINS ''", ""), ("SELF ENDSWITH[c] '.png'", "a.PNG"), ("SELF CONTAINS[d] 'resume'", "mon résumé"),
    ("SELF contains[cd] 'RESUME'", "mon résumé"), ("SELF IN {'a', 'b'}", "b"), ("SELF IN[cd] {'É'}", "e"),
    ("NOT SELF IN {}", "a"), ("SELF LIKE '*'", ""), ("SELF LIKE 'a*c'", "abcbc"), ("SELF LIKE '?'", "😀"),
    ("SELF LIKE 'file:*/?.txt'", "file:///home/x.txt"), ("SELF LIKE '**a**'", "a"), ("SELF LIKE ''", ""),
    ("SELF LIKE[c] '??'", "ß"), ("SELF LIKE[d] '?'", "e\u{301}\u{301}"), ("SELF LIKE 'a\\\\b'", "a\\b"),
    ("SELF MATCHES 'cat\\d+'", "cat12"), ("SELF MATCHES 'cat\\\\d+'", "cat12"), ("SELF MATCHES[c] '\\D+ß'", "CATß"),
    ("SELF MATCHES 'a|ab'", "ab"), ("SELF MATCHES ''", ""), ("SELF MATCHES '.'", "😀"),
    ("SELF MATCHES '.*\\\\bcat'", "a cat"),
    ("NOT SELF MATCHES '(a*)*b'", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"), ("SELF MATCHES 'it\\'s'", "it's"),
    ("SELF ==[c] 'STRASSE'", "straße"), ("SELF ==[d] 'e'", "é"), ("SELF == 'a' AND SELF != 'b' OR FALSEPREDICATE", "a"),
    ("TRUEPREDICATE OR FALSEPREDICATE AND FALSEPREDICATE", "x"), ("NOT FALSEPREDICATE AND TRUEPREDICATE", "x"),
    ("!SELF=='a'&&!(SELF=='b'||SELF=='c')", "d"), ("SELF == '\\ud83d\\uDE00'", "😀"),
    ("SELF == '\\\"\\'\\\\\\n'", "\"'\\\n"),
    (#"SELF MATCHES '\d\.(png|gif)'"#, "1.gif"),
    (#"SELF MATCHES[c] '\Dß'"#, "Àẞ"), (#"SELF MATCHES '\\\\'"#, "\\"), (#"SELF MATCHES '\\ba.*'"#, "a b"),
    (#"SELF MATCHES '\u00e9\n'"#, "é\n"), (#"SELF MATCHES '"\'\*\?'"#, "\"'*?"), (#"SELF MATCHES '..'"#, "e\u{301}"),
    (#"NOT SELF MATCHES 'a' AND SELF MATCHES[c] 'a'"#, "A"), (#"self matches "\b""#, "\u{8}"),
    (#"SELF MATCHES '(?i)a' AND SELF == 'A'"#, "A"),
  ])
  func `a predicate is true`(predicate: String, subject: String) throws {
    #expect(try Predicate(Text(predicate)).evaluate(Text(subject)))
  }

  @Test(arguments: [
    ("SELF == 'cat1'", "CAT1"), ("SELF == 'é'", "e\u{301}"), ("SELF ==[c] 'é'", "e\u{301}"),
    ("SELF == 'cat1'", "cat1 "),
    ("SELF < ''", ""), ("SELF > 'a'", "B"), ("SELF LIKE '?'", ""), ("SELF LIKE '?'", "e\u{301}"),
    ("SELF LIKE 'a?'", "a"), ("SELF MATCHES 'cat'", "cats"), ("SELF MATCHES 'cat'", "CAT"), ("SELF MATCHES '.'", "\n"),
    ("SELF MATCHES '\\d'", "٣"), ("SELF MATCHES[c] '\\D'", "1"),
    ("SELF LIKE 'a*c'", "abcb"), ("SELF LIKE ''", "a"), ("SELF IN {}", ""), ("SELF IN {'a', 'b'}", "c"),
    ("SELF ==[c] 'i'", "ı"), ("SELF ==[c] 'i'", "İ"), ("SELF ENDSWITH '\u{301}'", "é"), ("SELF LIKE '.'", "a"),
    ("NOT TRUEPREDICATE OR FALSEPREDICATE", "x"), ("NOT (SELF == 'a' OR SELF == 'b')", "b"),
    ("SELF == 'a' AND SELF == 'b' OR SELF == 'c'", "b"), ("SELF LIKE '?'", "\r\n"), ("SELF CONTAINS 'ab'", "a"),
    (#"SELF MATCHES 'at'"#, "cat"), (#"SELF MATCHES 'ca'"#, "cat"),
    (#"SELF MATCHES[c] 'ss'"#, "ß"), (#"SELF MATCHES 'a$'"#, "a\n"), (#"SELF MATCHES '\ba'"#, "a"),
    (#"SELF MATCHES 'é'"#, "e\u{301}"),
  ])
  func `a predicate is false`(predicate: String, subject: String) throws {
    #expect(try !Predicate(Text(predicate)).evaluate(Text(subject)))
  }

  @Test func `a constant is kept as it is compared`() throws {
    let predicate = try Predicate("\"Straße\" ==[c] self")
    #expect(predicate.condition == .comparison(.equal, "strasse", .ignoringCase))
    #expect(predicate.condition.description == "SELF ==[c] \"strasse\"")
    #expect(predicate.source == "\"Straße\" ==[c] self")
  }

  @Test func `a condition is as wide as a pointer`() {
    #expect(MemoryLayout<Condition>.size == MemoryLayout<Int>.size)
    #expect(MemoryLayout<Comparison>.size <= 24)
  }

  // A quadratic evaluation, or one that doubles with each star, takes minutes or more here; the present one takes far less than a second.
  private func isQuick(_ condition: Condition, for subject: Text, is expected: Bool) {
    let clock = ContinuousClock()
    let start = clock.now
    #expect(condition.evaluate(subject) == expected)
    #expect(clock.now - start < .seconds(10))
  }

  @Test func `many stars and a long text cost no more than their lengths`() {
    let subject = Text(String(repeating: "a", count: Limits.text))
    let stars = String(repeating: "*a", count: 2_000)
    isQuick(.comparison(.like, Text(stars)), for: subject, is: true)
    isQuick(.comparison(.like, Text(stars + "b")), for: subject, is: false)
    isQuick(.comparison(.like, Text(stars + "*?b?*"), [.ignoringCase, .ignoringMarks]), for: subject, is: false)
    let part = String(repeating: "a", count: 4_000)
    isQuick(.comparison(.contains, Text(part + "b")), for: subject, is: false)
    isQuick(.comparison(.contains, Text(part)), for: subject, is: true)
    isQuick(.comparison(.like, Text(part + "*" + part)), for: subject, is: true)
  }

  @Test func `a run of marks costs no more than its length`() {
    let marks = Text("e" + String(repeating: "\u{301}\u{323}", count: 150_000))
    isQuick(.comparison(.equal, "e", .ignoringMarks), for: marks, is: true)
    isQuick(.comparison(.equal, "e", .ignoringCase), for: marks, is: false)
    isQuick(.comparison(.like, "E*?", .ignoringCase), for: marks, is: true)
  }

  @Test func `many comparisons fold a long text once`() {
    let subject = Text(String(repeating: "É", count: Limits.text / 2))
    let parts = (0..<400).map { Condition.comparison(.equal, Text("\($0)"), [.ignoringCase, .ignoringMarks]) }
    isQuick(.or(parts), for: subject, is: false)
  }
}
