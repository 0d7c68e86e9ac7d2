import SceneModel
import Testing

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
