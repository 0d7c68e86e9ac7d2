import SceneModel
import SceneTestSupport
import Testing

@Suite struct JSONLawTests {
  private static let pieces = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"a\":", "\"a\":1,", "{\"a\":1,\"b\":2,", "0", "1", "-",
    "+", ".", "e", "E", "e+", "01", "true", "false", "null", "True", "nul", "NaN", "\\u0041", "\\u12", "\\ud83d",
    "\\ude00", "\\n", "\\b", "\\/", "\\q", "'a'", "//", "/**/", " ", "\n", "\r\t", "\u{B}", "\u{A0}", "\u{FEFF}",
    "\u{0}", "\u{1F}", "\u{7F}", "é", "😀", "x", "_",
  ]

  /// `FuzzedParser.values` compares with a plain reader of RFC 8259: it says which texts are JSON, and what they mean.
  @Test func `any text is JSON as a naive reader reads it, or is not from some place on`() throws {
    var random = SeededRandom(seed: 12)
    var generator = ValueGenerator(seed: 13)
    var refused = 0
    let count = rounds(12_000)
    for _ in 0..<count {
      let text =
        random.once(in: 2)
        ? (0..<random.below(9)).map { _ in random.one(of: Self.pieces) }.joined()
        : random.damaged(JSON.text(of: generator.value(depth: 1)).string, with: Self.pieces)
      if try FuzzedParser.values.check(Array(text.utf8)) == .refused { refused += 1 }
    }
    #expect(refused > count / 2)
    #expect(refused < count * 19 / 20)
  }

  @Test func `one byte order mark may stand first`() throws {
    #expect(try JSON.value("\u{FEFF}{\"a\":1}") == ["a": 1])
    #expect(try JSON.value("\u{FEFF} 1") == 1)
    #expect(try JSON.value("\"\u{FEFF}\"") == "\u{FEFF}")
    #expect(throws: Fault.self) { try JSON.value("\u{FEFF}\u{FEFF}1") }
  }
}

/// The message to a script's author about a text that is not JSON.
@Suite struct JSONFaultTests {
  @Test(arguments: [
    ("", "line 1, column 1: expected a value, got the end of the document"),
    (" \n\t\r\n ", "line 3, column 2: expected a value, got the end of the document"),
    ("{", "line 1, column 2: expected a key in double quotes or \"}\", got the end of the document"),
    ("[1", "line 1, column 3: expected \",\" or \"]\", got the end of the document"),
    ("[1,]", "line 1, column 4: expected a value, got \"]\""),
    ("[1 2]", "line 1, column 4: expected \",\" or \"]\", got \"2\""),
    ("{\"a\":1]", "line 1, column 7: expected \",\" or \"}\", got \"]\""),
    ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes, got \"}\""),
    ("{\"a\"}", "line 1, column 5: expected \":\" after the key, got \"}\""),
    ("{\"a\",1}", "line 1, column 5: expected \":\" after the key, got \",\""),
    ("{title: 1}", "line 1, column 2: expected a key in double quotes or \"}\", got \"title\""),
    ("{\"a\": None}", "line 1, column 7: expected a value, got \"None\""),
    ("[nul]", "line 1, column 2: expected null, got \"nul\""),
    ("[nulls]", "line 1, column 6: expected \",\" or \"]\", got \"s\""),
    ("fals", "line 1, column 1: expected false, got \"fals\""),
    ("[nulL]", "line 1, column 2: expected a value, got \"nulL\""),
    ("[-]", "line 1, column 3: expected a digit, got \"]\""),
    ("-", "line 1, column 2: expected a digit, got the end of the document"),
    ("[01]", "line 1, column 3: expected no digit after a leading 0"),
    ("[1.]", "line 1, column 4: expected a digit after the point, got \"]\""),
    ("[1e]", "line 1, column 4: expected a digit of the exponent, got \"]\""),
    ("\"abc", "line 1, column 1: expected text to end with a double quote"),
    ("[\"abc\n\"]", "line 1, column 6: expected no control characters in text: write \\n, \\t or \\u000a"),
    ("[\"\u{1f}\"]", "line 1, column 3: expected no control characters in text: write \\n, \\t or \\u001f"),
    ("1 2", "line 1, column 3: expected the end of the document, got \"2\""),
    ("{} // done", "line 1, column 4: expected the end of the document, got \"/\""),
    ("[\u{c}1]", "line 1, column 2: expected a value, got \"\\u{c}\""),
    ("[“a”]", "line 1, column 2: expected a value, got \"“\""),
  ])
  func `what is no JSON is refused where it stops being it`(text: String, fault: String) {
    let error = #expect(throws: Fault.self) { try JSON.value(Text(text)) }
    #expect(error?.description == fault)
    #expect(error?.kind == .invalid)
  }

  private static let unescapable = "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX, surrogates in pairs"

  @Test(arguments: [
    (#""\a""#, 2), (#""\x41""#, 2), (#""\'""#, 2), (#""\0""#, 2), (#""\U0041""#, 2), (#""\u""#, 2), (#""\u004""#, 2),
    (#""\u00g0""#, 2), (#""\u 041""#, 2), (#""ab\u{41}""#, 4), (#""\ud83d""#, 2), (#""\ud83dx""#, 2),
    (#""\ud83d\n""#, 2), (#""\ud83d\u0041""#, 2), (#""\ud83d\ud83d""#, 2), (#""\ude00""#, 2), (#""\ude00\ud83d""#, 2),
    (#""\ud83d\ude0""#, 2), ("\"\\", 2), ("\"\\u12", 2), ("\"\\\u{e9}\"", 2),
  ])
  func `an escape that is none is refused where it stands`(text: String, column: Int) {
    let error = #expect(throws: Fault.self) { try JSON.value(Text(text)) }
    #expect(error?.description == "line 1, column \(column): \(Self.unescapable)")
  }

  @Test func `lines and columns count what people see`() {
    for (text, place) in [
      ("[1,\n 2,\n x]", "line 3, column 2"), ("[1,\r\n x]", "line 2, column 2"), ("[\"é猫🎭\", x]", "line 1, column 9"),
      ("\u{FEFF}[x]", "line 1, column 2"), ("\u{FEFF}\n[x]", "line 2, column 2"), ("[\u{FEFF}1]", "line 1, column 2"),
    ] {
      let error = #expect(throws: Fault.self) { try JSON.value(Text(text)) }
      #expect(error?.place == place)
    }
  }

  @Test func `a message shows no more than a line of what stands there`() {
    let word = #expect(throws: Fault.self) { try JSON.value(Text(String(repeating: "x", count: 100_000))) }
    #expect(word?.reason == "expected a value, got \"\(String(repeating: "x", count: 72))\"")
    let number = String(repeating: "9", count: 1000)
    let long = #expect(throws: Fault.self) { try JSON.value(Text("[\(number)]")) }
    #expect(
      long?.description == "[0]: expected an integer from -2^63 to 2^63 - 1, or a number with a point, "
        + "got \(number.prefix(72))…")
  }
}
