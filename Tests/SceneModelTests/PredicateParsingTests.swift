import SceneModel
import Testing

@Suite struct PredicateParsingTests {
  @Test(arguments: [
    ("", 1, "expected a condition"), ("   ", 4, "got the end"),
    ("SELF", 5, "expected an operator after SELF, got the end"),
    ("SELF ==", 8, "expected a text in quotes, got the end"), ("SELF == cat1", 9, "got \"cat1\"; put quotes around it"),
    ("title == 'x'", 1, "SELF, which is the key"), ("SELF.title == 'x'", 5, "nothing inside"),
    ("SELF == 12", 9, "got \"12\""), ("SELF == -1.5", 9, "a number"), ("SELF == .5", 9, "a number"),
    ("SELF MATCHES a", 14, "got \"a\""), ("SELF MATCHES 'a('", 16, "not closed"),
    ("SELF MATCHES 'é\\'('", 18, "not closed"), ("SELF MATCHES '(a)\\1'", 18, "back-reference"),
    ("SELF MATCHES[d] 'a'", 14, "no option d"), ("SELF MATCHES[cd] 'a'", 14, "no option d"),
    ("'a' MATCHES SELF", 5, "SELF on its left"), ("SELF MATCHES 'a{1001}'", 17, "1000"),
    ("SELF MATCHES '(a{900}){90}'", 23, "10000"), ("SELF BETWEEN {'a', 'b'}", 6, "SELF >= \"…\" AND SELF <= \"…\""),
    ("ANY SELF == 'a'", 1, "SELF is one text"), ("all SELF == 'a'", 1, "no ALL"), ("NONE SELF == 'a'", 1, "no NONE"),
    ("SOME SELF == 'a'", 1, "no SOME"), ("BLOCKPREDICATE(0x12)", 1, "a block"),
    ("FUNCTION(SELF, 'length') == 3", 1, "no functions"), ("lowercase(SELF) == 'a'", 1, "no functions"),
    ("SELF == uppercase ('a')", 9, "no functions"), ("SELF.@count == 3", 5, "nothing inside"),
    ("@max == 'x'", 1, "no functions"), ("SELF == nil", 9, "always a text"), ("SELF == NULL", 9, "always a text"),
    ("SELF == TRUE", 9, "TRUEPREDICATE"), ("YES", 1, "TRUEPREDICATE"), ("NO", 1, "FALSEPREDICATE"),
    ("SELF == %@", 9, "placeholder"), ("%K == 'a'", 1, "placeholder"), ("SELF == $NAME", 9, "\"$NAME\", a placeholder"),
    ("SELF ==[n] 'a'", 9, "no option n"), ("SELF ==[l] 'a'", 9, "no option l"), ("SELF ==[w] 'a'", 9, "no option w"),
    ("SELF ==[dc] 'a'", 9, "got \"dc\""), ("SELF ==[] 'a'", 9, "got \"]\""), ("SELF ==[cd 'a'", 12, "expected \"]\""),
    ("SELF[c] == 'a'", 5, "behind the operator"), ("SELF == 'a' 'b'", 13, "AND, OR or the end"),
    ("SELF == 'a' x", 13, "AND, OR or the end"), ("SELF == 'a')", 12, "AND, OR or the end"),
    ("(SELF == 'a'", 13, "\")\""), ("()", 2, "expected a condition"), ("SELF == 'a' AND", 16, "expected a condition"),
    ("AND", 1, "expected a condition"), ("SELF == 'a", 9, "no end"), ("SELF == \"a'", 9, "no end"),
    ("SELF == 'a\\", 11, "after the backslash"), ("SELF == 'a\\q'", 11, "no escape"),
    ("SELF == 'é\\x41'", 11, "no escape"), ("SELF == '\\u12'", 10, "four hexadecimal"),
    ("SELF == '\\u12", 10, "four hexadecimal"), ("SELF == '\\u'", 10, "four hexadecimal"), ("SELF == '\\0'", 10, "NUL"),
    ("SELF == '\\u0000'", 10, "NUL"), ("SELF == '\u{0}'", 10, "NUL"), ("SELF == '\\ud83d'", 10, "surrogate"),
    ("SELF == '\\ude00'", 10, "surrogate"), ("SELF == '\\ude00\\ude00'", 10, "surrogate"),
    ("SELF == '\\ud83d\\u0041'", 10, "surrogate"), ("SELF == '\\ud83d\\ud83d'", 10, "surrogate"),
    ("SELF LIKE '\\*'", 12, "cannot look for *"), ("SELF == SELF", 9, "one side"),
    ("'a' == 'b'", 8, "one side of a comparison is SELF"), ("'a'", 4, "after the text"),
    ("'a' IN SELF", 5, "SELF CONTAINS"), ("'a' BEGINSWITH SELF", 5, "SELF on its left"),
    ("'a' LIKE SELF", 5, "SELF on its left"), ("'a' == x", 8, "expected SELF"), ("SELF IN 'a'", 9, "{\"a\", \"b\"}"),
    ("SELF IN ['a']", 10, "in braces"), ("SELF IN ('a')", 9, "expected a list"),
    ("SELF IN {'a',}", 14, "a text in quotes"), ("SELF IN {'a' 'b'}", 14, "\",\""), ("SELF IN {'a'", 13, "\",\""),
    ("SELF IN {SELF}", 10, "a text in quotes"), ("SELF == {'a'}", 9, "only IN takes a list"),
    ("SELF NOT IN {'a'}", 6, "NOT stands before"), ("SELF === 'a'", 8, "a text in quotes"), ("SELF & 'a'", 6, "&&"),
    ("SELF == “a”", 9, "plain quotes"), ("SELF\u{A0}== 'a'", 5, "U+A0; put a plain space"),
    ("SELF == 'a' | SELF == 'b'", 13, "||"), ("'a' < SELF < 'b'", 12, "join comparisons with AND"),
    ("SELF ~ 'a'", 6, "LIKE"), ("#SELF == 'a'", 1, "quote a name"), ("SELF + 'a' == 'b'", 6, "arithmetic"),
    ("SELF == 'é' é", 13, "got \"é\""), ("ŚELF == 'a'", 1, "got \"ŚELF\""),
    ("TRUEPREDICATE FALSEPREDICATE", 15, "AND, OR or the end"), ("SELFISH == 'a'", 1, "got \"SELFISH\""),
    ("\u{0}", 1, "got"), ("SELF UTI-CONFORMS-TO 'public.text'", 6, "expected an operator"),
    ("SELF == 2026-05-01", 9, "a number"), (#"SELF MATCHES[c] 'é(a'"#, 19, "not closed"),
    (#"SELF MATCHES '\u00e9\d\\d\ud83d\ude00)'"#, 38, "closes nothing"), (#"SELF MATCHES 'a{2'"#, 16, "{m,n}"),
    (#"SELF MATCHES 'a\\'"#, 16, "after the backslash"), (#"SELF MATCHES {'a'}"#, 14, "only IN takes a list"),
    (#"SELF MATCHES '\0'"#, 15, "NUL"), (#"SELF MATCHES 'a\"#, 16, "after the backslash"),
    (#"SELF MATCHES 'a"#, 14, "no end"),
    // Other texts have no more escapes than before.
    (#"SELF MATCHES '\d' AND SELF == '\d'"#, 32, "no escape"),
    (#"SELF MATCHES '(a{1000}){9}' OR SELF MATCHES 'a{1000}'"#, 45, "10000 steps in all"),

  ])
  func `what is no predicate is refused with its column`(source: String, column: Int, reason: String) {
    do {
      let parsed = try Predicate(Text(source))
      Issue.record("parsed to \(parsed.condition)")
    } catch {
      #expect(error.column == column)
      #expect(error.reason.contains(reason), "\(error)")
    }
  }

  @Test func `the error is one line that names its column`() {
    #expect(
      throws: PredicateError(column: 9, reason: "expected a text in quotes, got \"cat1\"; put quotes around it")
    ) {
      try Predicate("SELF == cat1")
    }
    let error = PredicateError(column: 6, reason: "expected something else")
    #expect(error.description == "column 6: expected something else")
  }

  @Test func `what binds more tightly comes first`() throws {
    let (a, b, c) = (Condition.comparison(.equal, "a"), Condition.comparison(.equal, "b"), Condition.never)
    let written: [(Text, Condition)] = [
      ("SELF='a' OR SELF='b' AND FALSEPREDICATE", .or([a, .and([b, c])])),
      ("(SELF='a' OR SELF='b') AND FALSEPREDICATE", .and([.or([a, b]), c])),
      ("NOT SELF='a' AND SELF='b'", .and([.not(a), b])), ("!(SELF='a' AND SELF='b')", .not(.and([a, b]))),
      ("SELF='a' or SELF='b' || falsepredicate", .or([a, b, c])), ("NOT NOT SELF='a'", .not(.not(a))),
      ("((SELF='a'))", a), ("(SELF='a' AND SELF='b') AND FALSEPREDICATE", .and([.and([a, b]), c])),
    ]
    for (source, condition) in written { #expect(try Predicate(source).condition == condition) }
  }

  @Test func `a predicate has 4,096 bytes and not one more`() throws {
    let start = "SELF == '"
    let longest = start + String(repeating: "é", count: (Limits.predicate - start.utf8.count - 2) / 2) + "a'"
    let padded = longest + String(repeating: " ", count: Limits.predicate - longest.utf8.count)
    #expect(padded.utf8.count == Limits.predicate)
    _ = try Predicate(Text(padded))
    let error = #expect(throws: PredicateError.self) { try Predicate(Text(padded + " ")) }
    #expect(error?.column == padded.unicodeScalars.count + 1)
    #expect(error?.reason == "a predicate has at most 4096 bytes, this one 4097")
  }

  @Test(arguments: [("(", ")"), ("NOT ", ""), ("!", ""), ("!(NOT(", "))")])
  func `a predicate nests 64 deep and not once more`(open: String, close: String) throws {
    func nested(_ levels: Int) -> Text {
      let times = levels / (open.count { $0 == "(" } + open.count { $0 == "!" || $0 == "N" })
      return Text(String(repeating: open, count: times) + "SELF=='a'" + String(repeating: close, count: times))
    }
    let deepest = try Predicate(nested(64))
    #expect(deepest.evaluate("a"))
    #expect(try Predicate(Text(deepest.condition.description)).condition == deepest.condition)
    let error = #expect(throws: PredicateError.self) { try Predicate(Text("(" + nested(64).string + ")")) }
    #expect(error?.reason == "parentheses and NOT nest at most 64 deep")
  }

  @Test func `a chain does not nest, however long it is`() throws {
    let chain = Text(Array(repeating: "SELF='a'", count: 400).joined(separator: "||"))
    guard case .or(let parts) = try Predicate(chain).condition else {
      Issue.record("no chain")
      return
    }
    #expect(parts.count == 400)
    let closed = Text(Array(repeating: "(!SELF='a')", count: 300).joined(separator: "&&"))
    #expect(try !Predicate(closed).evaluate("a"))
  }

  @Test func `deep and wide ones are evaluated and judged at once`() throws {
    var source = "SELF='z'"
    for level in 0..<64 {
      source = level % 2 == 0 ? "(\(source) OR SELF='\(level)')" : "(\(source) AND SELF!='\(level)')"
    }
    let predicate = try Predicate(Text(source))
    #expect(predicate.evaluate("62"))
    #expect(predicate.evaluate("z"))
    #expect(!predicate.evaluate("63"))
    #expect(!predicate.condition.isNeverTrue)
  }
}
