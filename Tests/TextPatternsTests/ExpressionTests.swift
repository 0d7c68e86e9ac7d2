import SceneTestSupport
import Testing
import TextPatterns

@Suite struct ExpressionTests {
  @Test(arguments: [
    ("a{x}", "a{x}"), ("{}]}", "{}]}"), ("a{,2}", "a{,2}"), ("[]a]+", "a]"), ("[^]a]", "b"), ("[a-]+", "a-"),
    ("\\.\\/\\_", "./_"), ("[\\]\\\\]+", "]\\"), ("\\t\\n\\v\\f\\r", "\t\n\u{B}\u{C}\r"), ("(?:)", ""), ("(|a)+", "aa"),
    (".", "\u{2028}"), ("..", "e\u{301}"), ("\\W\\D\\S", "é٣é"), ("(a(?i)b|c)d", "Cd"), ("(?i)[k-l]\\w", "\u{212A}a"),
    ("(?i)[^a]", "b"), ("((?i)a)b", "Ab"),
  ])
  func `a text is matched as a whole`(expression: String, text: String) throws {
    #expect(try RegularExpression(expression).outcome(.whole, in: text) != .no)
  }

  @Test func `an expression that is too long to be kept matches alike, and takes no memory`() throws {
    let (kept, again) = try (RegularExpression("(a{99}){9}"), RegularExpression("(a{99}){9}", keepingAtMost: 512))
    #expect(again.size == 0 && again.steps == kept.steps && kept.size == kept.steps)
    for length in [890, 891, 892] {
      let text = String(repeating: "a", count: length)
      #expect(again.outcome(.whole, in: text) == kept.outcome(.whole, in: text))
    }
    // Writing it out counts.
    var steps = 1_000
    #expect(again.match(.whole, in: String(repeating: "a", count: 891), steps: &steps) == .exhausted)
  }

  @Test(arguments: [
    ("a", "ab"), (".", "\n"), ("a$", "a\n"), ("^a", "ba"), ("\\d", "٣"), ("\\w", "é"), ("\\s", "\u{A0}"),
    ("(a(?i)b|c)d", "CD"), ("(?i)[^a]", "A"), ("((?i)a)b", "aB"), ("(?i)\\w", "\u{212A}"), ("(?i)ß", "ss"),
  ])
  func `a text is no match`(expression: String, text: String) throws {
    #expect(try RegularExpression(expression).outcome(.whole, in: text) == .no)
  }

  @Test(arguments: [
    ("k", "K\u{212A}"), ("\u{212A}", "kK"), ("ſ", "sS"), ("ß", "ẞ"), ("Σ", "σς"), ("É", "é"), ("ǅ", "Ǆǆ"), ("ᾳ", "ᾼ"),
    ("ꭰ", "Ꭰ"), ("𐐀", "𐐨"), ("i", "I"),
  ])
  func `case is ignored by simple folding`(letter: String, others: String) throws {
    for other in others.unicodeScalars {
      let other = String(other)
      for written in ["(?i)\(letter)", "(?i)[\(letter)-\(letter)]", "(?i)(?<x>[^\(letter)]|(\(letter)))"] {
        #expect(try RegularExpression(written).outcome(.whole, in: other) != .no, "\(written), \(other)")
      }
      #expect(try RegularExpression("(?i)[^\(letter)]").outcome(.whole, in: other) == .no)
      #expect(try RegularExpression(letter, ignoringCase: true).outcome(.whole, in: other) != .no)
    }
  }

  /// Each of these takes a time that is exponential, cubic or square in an engine that goes back.
  static let worst: [(expression: String, text: @Sendable (Int) -> String)] = [
    ("(a*)*b", { String(repeating: "a", count: $0) }),
    ("(a|a)*b", { String(repeating: "a", count: $0) }),
    ("(x+x+)+y", { String(repeating: "x", count: $0) }),
    ("(.*)(.*)(.*)(.*)(.*)z", { String(repeating: "y", count: $0) }),
    ("(?<one>[ab]*a)?(?<two>[ab]*)*c", { String(repeating: "ab", count: $0 / 2) }),
    ("(a?){30}a{30}", { String(repeating: "a", count: $0) }),
    ("(\\w+\\s?)+$", { String(repeating: "é ", count: $0 / 3) }),
  ]

  @Test(arguments: [
    "A-Z", "Q-\u{130}", "\u{101}-\u{16F}", "\u{3A3}-\u{3C2}", "!-\u{10FFFF}", "\u{1C85}-\u{1E9E}", "\u{212A}-\u{2C2F}",
  ])
  func `a range ignores case as its scalars do`(range: String) throws {
    let bounds = range.unicodeScalars.map(\.value)
    let expression = try RegularExpression("(?i)[\(range)]")
    let folded = Set((bounds[0]...min(bounds[2], 0x1_FFFF)).lazy.map(CaseFolding.folded))
    for value in (0..<0x1_F000 as Range<UInt32>) where CaseFolding.folded(value) != value {
      for value in [value, CaseFolding.folded(value)] {
        guard let scalar = Unicode.Scalar(value) else { continue }
        let isMatch = expression.outcome(.whole, in: String(scalar)) != .no
        #expect(isMatch == folded.contains(CaseFolding.folded(value)), "\(value)")
      }
    }
  }

  @Test(arguments: worst.indices, [RegularExpression.Extent.whole, .part])
  func `the steps are linear in the text`(index: Int, extent: RegularExpression.Extent) throws {
    let expression = try RegularExpression(ExpressionTests.worst[index].expression)
    func steps(_ count: Int) -> Int {
      var left = Int.max
      // The last character, which an expression may require, is there but too early.
      _ = expression.match(extent, in: "zbyc" + ExpressionTests.worst[index].text(count), steps: &left)
      return Int.max - left
    }
    #expect(steps(16_000) < 5 * steps(4_000))
    #expect(steps(16_000) < 16_000 * 200)
  }

  @Test func `the time is linear in the text`() throws {
    for (expression, text) in ExpressionTests.worst {
      let expression = try RegularExpression(expression)
      let growth = growth(from: text(1_000), to: text(4_000)) { _ = expression.outcome(.part, in: $0) }
      #expect(growth < 8, "\(expression.source)")
    }
  }

  @Test func `a match ends where its steps end`() throws {
    let expression = try RegularExpression("(?<all>(a|b)*)")
    let text = String(repeating: "ab", count: 1_000)
    var steps = 1_000
    #expect(expression.match(.whole, in: text, steps: &steps) == .exhausted)
    #expect(steps < 0 && steps > -100)
    steps = 100_000
    #expect(expression.match(.whole, in: text, steps: &steps) == .yes([0..<2_000]))
    #expect(steps > 0)
  }

  @Test(arguments: [
    ("#\\d{1,6}", "#1234567"), ("abc.*", "xyz"), (".*needle.*", String(repeating: "hay ", count: 100)), ("[é-ü]+", "a"),
    ("...", "ab"),
  ])
  func `most texts are passed over without a run`(expression: String, text: String) throws {
    var steps = 1_000
    #expect(try RegularExpression(expression).match(.whole, in: text, steps: &steps) == .no)
    #expect(steps >= 1_000 - 2 - text.utf8.count / 4)
  }

  @Test func `two expressions are equal if they are written alike`() throws {
    #expect(try RegularExpression("a") == RegularExpression("a"))
    #expect(try RegularExpression("a") != RegularExpression("a", ignoringCase: true))
    // One scalar and two, which Swift's strings take for equal.
    #expect(try RegularExpression("\u{E9}") != RegularExpression("e\u{301}"))
  }
}
