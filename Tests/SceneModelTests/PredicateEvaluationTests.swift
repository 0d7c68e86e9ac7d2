import SceneModel
import Testing

@Suite struct PredicateEvaluationTests {
  /// `PredicateLawTests` compares with a naive reader; these are what both could read wrong in the same way.
  @Test(arguments: [
    ("SELF > 'z'", "é", true), ("SELF > '\u{FFFD}'", "😀", true), ("SELF > 'a'", "B", false), ("SELF < ''", "", false),
    ("SELF == 'é'", "e\u{301}", false), ("SELF ==[c] 'é'", "e\u{301}", false), ("SELF ==[c] 'STRASSE'", "straße", true),
    ("SELF ==[c] 'i'", "ı", false), ("SELF ==[c] 'i'", "İ", false), ("SELF CONTAINS[cd] 'RESUME'", "mon résumé", true),
    ("SELF ENDSWITH '\u{301}'", "é", false), ("SELF LIKE '?'", "😀", true), ("SELF LIKE '?'", "\r\n", false),
    ("SELF LIKE[c] '??'", "ß", true), ("SELF LIKE[d] '?'", "e\u{301}\u{301}", true),
    ("SELF LIKE 'a\\\\b'", "a\\b", true),
    ("SELF MATCHES 'cat\\d+'", "cat12", true), ("SELF MATCHES 'cat\\\\d+'", "cat12", true),
    ("SELF MATCHES '\\\\\\\\'", "\\", true), ("SELF MATCHES[c] '\\Dß'", "Àẞ", true),
    ("SELF MATCHES[c] 'ss'", "ß", false),
    ("SELF MATCHES '\\d'", "٣", false), ("SELF MATCHES '.'", "\n", false), ("self matches \"\\b\"", "\u{8}", true),
    ("NOT SELF MATCHES '(a*)*b'", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", true),
    ("SELF == '\\ud83d\\uDE00'", "😀", true), ("SELF IN[cd] {'É'}", "e", true), ("SELF IN {'É'}", "é", false),
  ])
  func `a predicate is true or false`(predicate: String, subject: String, isTrue: Bool) throws {
    #expect(try Predicate(Text(predicate)).evaluate(Text(subject)) == isTrue)
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
