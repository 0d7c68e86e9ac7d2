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
    ("SELF MATCHES '.*\\\\bcat'", "a cat"), ("NOT SELF MATCHES '(a*)*b'", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac"),
    ("SELF MATCHES 'it\\'s'", "it's"), ("SELF ==[c] 'STRASSE'", "straße"), ("SELF ==[d] 'e'", "é"),
    ("SELF == 'a' AND SELF != 'b' OR FALSEPREDICATE", "a"), ("TRUEPREDICATE OR FALSEPREDICATE AND FALSEPREDICATE", "x"),
    ("NOT FALSEPREDICATE AND TRUEPREDICATE", "x"), ("!SELF=='a'&&!(SELF=='b'||SELF=='c')", "d"),
    ("SELF == '\\ud83d\\uDE00'", "😀"), ("SELF == '\\\"\\'\\\\\\n'", "\"'\\\n"),
    (#"SELF MATCHES '\d\.(png|gif)'"#, "1.gif"), (#"SELF MATCHES[c] '\Dß'"#, "Àẞ"), (#"SELF MATCHES '\\\\'"#, "\\"),
    (#"SELF MATCHES '\\ba.*'"#, "a b"), (#"SELF MATCHES '\u00e9\n'"#, "é\n"), (#"SELF MATCHES '"\'\*\?'"#, "\"'*?"),
    (#"SELF MATCHES '..'"#, "e\u{301}"), (#"NOT SELF MATCHES 'a' AND SELF MATCHES[c] 'a'"#, "A"),
    (#"self matches "\b""#, "\u{8}"), (#"SELF MATCHES '(?i)a' AND SELF == 'A'"#, "A"),
  ])
  func `a predicate is true`(predicate: String, subject: String) throws {
    #expect(try Predicate(Text(predicate)).evaluate(Text(subject)))
  }

  @Test(arguments: [
    ("SELF == 'cat1'", "CAT1"), ("SELF == 'é'", "e\u{301}"), ("SELF ==[c] 'é'", "e\u{301}"),
    ("SELF == 'cat1'", "cat1 "), ("SELF < ''", ""), ("SELF > 'a'", "B"), ("SELF LIKE '?'", ""),
    ("SELF LIKE '?'", "e\u{301}"), ("SELF LIKE 'a?'", "a"), ("SELF MATCHES 'cat'", "cats"),
    ("SELF MATCHES 'cat'", "CAT"), ("SELF MATCHES '.'", "\n"), ("SELF MATCHES '\\d'", "٣"),
    ("SELF MATCHES[c] '\\D'", "1"), ("SELF LIKE 'a*c'", "abcb"), ("SELF LIKE ''", "a"), ("SELF IN {}", ""),
    ("SELF IN {'a', 'b'}", "c"), ("SELF ==[c] 'i'", "ı"), ("SELF ==[c] 'i'", "İ"), ("SELF ENDSWITH '\u{301}'", "é"),
    ("SELF LIKE '.'", "a"), ("NOT TRUEPREDICATE OR FALSEPREDICATE", "x"), ("NOT (SELF == 'a' OR SELF == 'b')", "b"),
    ("SELF == 'a' AND SELF == 'b' OR SELF == 'c'", "b"), ("SELF LIKE '?'", "\r\n"), ("SELF CONTAINS 'ab'", "a"),
    (#"SELF MATCHES 'at'"#, "cat"), (#"SELF MATCHES 'ca'"#, "cat"), (#"SELF MATCHES[c] 'ss'"#, "ß"),
    (#"SELF MATCHES 'a$'"#, "a\n"), (#"SELF MATCHES '\ba'"#, "a"), (#"SELF MATCHES 'é'"#, "e\u{301}"),
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

@Suite struct PredicateFoldingTests {
  private static let everyScalar = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init)

  @Test(arguments: [1, 2, 3])
  func `folding what is folded changes nothing`(rawValue: UInt8) {
    let options = Comparison.Options(rawValue: rawValue)
    // Each scalar folds by itself, so what holds for one holds for all texts; and many at once take a hundredth of the time.
    for start in stride(from: 0, to: Self.everyScalar.count, by: 1000) {
      let scalars = Self.everyScalar[start..<min(start + 1000, Self.everyScalar.count)]
      let once = Text(String(String.UnicodeScalarView(scalars))).folded(options)
      #expect(once.folded(options) == once, "in the thousand from \(start)")
    }
  }

  @Test func `each scalar of a text folds by itself`() {
    let scalars = Self.everyScalar.filter { $0.value < 0x3000 }
    for options in [Comparison.Options.ignoringCase, .ignoringMarks, [.ignoringCase, .ignoringMarks]] {
      let together = Text(String(String.UnicodeScalarView(scalars))).folded(options)
      let apart = scalars.map { Text(String($0)).folded(options).string }.joined()
      #expect(together == Text(apart))
    }
  }

  @Test(arguments: [
    ("Straße", "strasse"), ("STRASSE", "strasse"), ("ẞ", "ss"), ("ς", "σ"), ("Σ", "σ"), ("İ", "i\u{307}"), ("ı", "ı"),
    ("I", "i"),
    ("ﬁ", "fi"), ("ﬃ", "ffi"), ("K", "k"), ("Å", "å"), ("É", "é"), ("E\u{301}", "e\u{301}"), ("ꭰ", "Ꭰ"), ("Ꭰ", "Ꭰ"),
    ("ΐ", "ι\u{308}\u{301}"), ("𐐀", "𐐨"), ("\u{345}", "ι"), ("각", "각"), ("😀", "😀"), ("ŉ", "ʼn"), ("", ""),
    ("@[`{", "@[`{"),
  ])
  func `case folds fully`(text: String, folded: String) {
    #expect(Text(text).folded(.ignoringCase) == Text(folded))
  }

  @Test(arguments: [
    ("é", "e"), ("e\u{301}", "e"), ("É", "E"), ("ệ", "e"), ("Ậ", "A"), ("ươ", "uo"), ("Å", "A"), ("Å", "A"), ("ß", "ß"),
    ("İ", "I"),
    ("각", "\u{1100}\u{1161}\u{11A8}"), ("가", "\u{1100}\u{1161}"), ("힣", "\u{1112}\u{1175}\u{11C2}"), ("\u{301}", ""),
    ("ᾳ", "α"), ("ｶﾞ", "ｶﾞ"), ("が", "か"), ("שּׁ", "ש"), ("≠", "="), ("ﬁ", "ﬁ"), ("ø", "ø"), ("豈", "豈"), ("ä̈̈", "a"),
  ])
  func `marks go away`(text: String, folded: String) {
    #expect(Text(text).folded(.ignoringMarks) == Text(folded))
  }

  @Test(arguments: [
    ("É", "e"), ("İ", "i"), ("ẞ", "ss"), ("ᾼ", "α"), ("ǰ", "j"), ("Ǆ", "ǆ"), ("ΐ", "ι"), ("Ệ", "e"), ("Å", "a"),
    ("각", "각"),
  ])
  func `case and marks go together`(text: String, folded: String) {
    #expect(Text(text).folded([.ignoringCase, .ignoringMarks]) == Text(folded).folded(.ignoringMarks))
  }

  @Test func `no mark outlives folding`() {
    let marks = Self.everyScalar.filter { scalar in
      // The tables do not have the scalars of later versions of Unicode.
      guard let age = scalar.properties.age, (age.major, age.minor) <= (15, 0) else { return false }
      return switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: true
      default: false
      }
    }
    #expect(marks.count > 2_000)
    #expect(Text(String(String.UnicodeScalarView(marks))).folded(.ignoringMarks) == "")
  }

  @Test func `nothing grows to more than a few times its bytes`() {
    for scalar in Self.everyScalar.filter({ $0.value >= 0x80 && $0.value < 0x30000 }) {
      let text = Text(String(scalar))
      for options in [Comparison.Options.ignoringCase, .ignoringMarks, [.ignoringCase, .ignoringMarks]]
      where text.folded(options).count > 3 * text.count {
        Issue.record("\(scalar.value) grows to \(text.folded(options).count) bytes")
      }
    }
  }
}
