import SceneModel
import Testing

/// The corners of RFC 8259: texts that every reader of JSON must accept, and texts that none may.
@Suite struct JSONCornerTests {
  @Test(arguments: [
    // Arrays
    "[[]   ]", "[]", "[\"\"]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]", " [1]", "[1,null,null,null,2]",
    "[2] ",
    // Numbers
    "[123e65]", "[0e+1]", "[0e1]", "[ 4]", "[-0.000000000000000000000000000000000000000000000000000000000000000001]",
    "[20e1]", "[-0]", "[-123]", "[-1]", "[-0.0]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]",
    "[1e+2]", "[123.456789]",
    // Objects
    "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"asd\":\"sdf\"}", "{}", "{\"\":0}", "{\"foo\\u0000bar\": 42}",
    "{ \"min\": -1.0e+28 }", "{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], \"id\": \"x\"}",
    "{\"a\":[]}", "{\"title\":\"\\u041f\\u043e\\u043b\" }", "{\n\"a\": \"b\"\n}",
    // Texts
    "[\"\\u0060\\u012a\\u12AB\"]", "[\"\\uD801\\udc37\"]", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]",
    "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[\"\\\\u0000\"]", "[\"\\\"\"]", "[\"a/*b*/c/*d//e\"]", "[\"\\\\a\"]",
    "[\"\\\\n\"]", "[\"\\u0012\"]", "[\"\\uFFFF\"]", "[\"asd\"]", "[ \"asd\"]", "[\"\\uDBFF\\uDFFF\"]",
    "[\"new\\u00A0line\"]", "[\"\u{10FFFF}\"]", "[\"\u{FFFF}\"]", "[\"\\u0000\"]", "[\"\\u002c\"]", "[\"π\"]",
    "[\"\u{1BFFF}\"]", "[\"asd \"]", "\" \"", "[\"\\uD834\\uDd1e\"]", "[\"\\u0821\"]", "[\"\\u0123\"]",
    "[\"\u{2028}\"]", "[\"\u{2029}\"]", "[\"\\u0061\\u30af\\u30EA\\u30b9\"]", "[\"new\\u000Aline\"]", "[\"\u{7f}\"]",
    "[\"\\uA66D\"]", "[\"\\u005C\"]", "[\"⍂㈴⍂\"]", "[\"\\u200B\"]", "[\"\\u2064\"]", "[\"\\uFDD0\"]", "[\"\\uFFFE\"]",
    "[\"\\u0022\"]", "[\"a\u{7f}a\"]",
    // A document may be a value of any kind.
    "false", "42", "-0.1", "null", "\"asd\"", "true", "\"\"", "[\"a\"]\n", "[true]", " [] ", "\t[\r\n]\t",

  ])
  func `what is JSON is read`(json: String) throws {
    _ = try JSON.value(Text(json))
  }

  @Test(arguments: [
    // Arrays
    "[1 true]", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]", "[\"x\",,]", "[\"x\"]]", "[\"\",]", "[\"x\"", "[x", "[3[4]]",
    "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,,]", "[\"\u{b}a\"\\f]", "[*]", "[\"\"", "[1,",
    "[1,\n1\n,1", "[{}",
    // Words
    "[fals]", "[nul]", "[tru]", "[True]", "[NULL]", "truefalse", "[true false]",
    // Numbers
    "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]", "[0.3e+]",
    "[0.3e]", "[0.e1]", "[0E+]", "[0E]", "[0e+]", "[0e]", "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]",
    "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]", "[NaN]", "[\u{ff11}]", "[1+2]", "[0x1]", "[0x42]", "[Infinity]",
    "[0e+-1]", "[-123.123foo]", "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1.]",
    "[.123]", "[1.2a-3]", "[1.8011670033376514H-308]", "[012]", "0_", "1,2",
    // Objects
    "[\"x\", truth]", "{[: \"x\"}\n", "{\"x\", null}", "{\"x\"::\"b\"}", "{🇨🇭}", "{\"a\":\"a\" 123}", "{key: 'value'}",
    "{\"a\" b}", "{:\"b\"}", "{\"a\" \"b\"}", "{\"a\":", "{\"a\"", "{1:1}", "{9999E9999:1}", "{null:null,null:null}",
    "{\"id\":0,,,,,}", "{'a':0}", "{\"id\":0,}", "{\"a\":\"b\"}/**/", "{\"a\":\"b\"}/**//", "{\"a\":\"b\"}//",
    "{\"a\":\"b\"}/", "{\"a\":\"b\",,\"c\":\"d\"}", "{a: \"b\"}", "{\"a\":\"a", "{ \"foo\" : \"bar\", \"a\" }",
    "{\"a\":\"b\"}#", "{\"a\":1,\"a\":1}",
    // Texts
    " ", "[\"\\uD800\\\"]", "[\"\\uD800\\u\"]", "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[é]", "[\"\\x00\"]",
    "[\"\\\\\\\"]", "[\"\\\t\"]", "[\"\\🌀\"]", "[\"\\\"]", "[\"\\u00A\"]", "[\"\\uD834\\uDd\"]",
    "[\"\\uD800\\uD800\\x\"]", "[\"\\a\"]", "[\"\\uqqqq\"]", "[\\u0020\"asd\"]", "[\\n]", "\"", "['single quote']",
    "abc", "[\"\\", "[\"a\u{0}a\"]", "[\"new\nline\"]", "[\"\t\"]", "\"\\UA66D\"", "\"\"x",
    // Structure
    "<.>", "[<null>]", "[1]x", "[1]]", "[\"asd]", "aå", "[True]", "1]", "{\"x\": true,", "[][]", "]", "\u{FEFF}",
    "\u{FEFF}\u{FEFF}1", "å", "[", "", "[\u{0}\n]", "2@", "{}}", "{\"\":", "{\"a\":/*comment*/\"b\"}",
    "{\"a\": true} \"x\"", "['", "[,", "[{", "[\"a", "[\"a\"", "{", "{]", "{,", "{[", "{\"a", "{'a'",
    "[\"\\{[\"\\{[\"\\{[\"\\{", "*", "{\"a\":\"b\"}#{}", "[\\u000A\"\"]", "[1", "[ false, nul", "[ true, fals",
    "[ false, tru", "{\"asd\":\"asd\"", "\u{2060}[]", "[\u{c}]", "[\u{a0}]", "\u{b}1",

  ])
  func `what is no JSON is not`(json: String) {
    #expect(throws: Fault.self) { try JSON.value(Text(json)) }
  }

  @Test func `one byte order mark may stand first`() throws {
    #expect(try JSON.value("\u{FEFF}{\"a\":1}") == ["a": 1])
    #expect(try JSON.value("\u{FEFF} 1") == 1)
    #expect(try JSON.value("\"\u{FEFF}\"") == "\u{FEFF}")
  }
}

/// The message to a script's author about a text that is not JSON.
@Suite struct JSONFaultTests {
  @Test(arguments: [
    ("", "line 1, column 1: expected a value, got the end of the document"),
    (" \n\t\r\n ", "line 3, column 2: expected a value, got the end of the document"),
    ("{", "line 1, column 2: expected a key in double quotes or \"}\", got the end of the document"),
    ("[", "line 1, column 2: expected a value, got the end of the document"),
    ("[1", "line 1, column 3: expected \",\" or \"]\", got the end of the document"),
    ("[1,]", "line 1, column 4: expected a value, got \"]\""),
    ("[,1]", "line 1, column 2: expected a value, got \",\""),
    ("[1 2]", "line 1, column 4: expected \",\" or \"]\", got \"2\""),
    ("[1}", "line 1, column 3: expected \",\" or \"]\", got \"}\""),
    ("{\"a\":1]", "line 1, column 7: expected \",\" or \"}\", got \"]\""),
    ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes, got \"}\""),
    ("{,}", "line 1, column 2: expected a key in double quotes or \"}\", got \",\""),
    ("{\"a\"}", "line 1, column 5: expected \":\" after the key, got \"}\""),
    ("{\"a\" 1}", "line 1, column 6: expected \":\" after the key, got \"1\""),
    ("{\"a\":}", "line 1, column 6: expected a value, got \"}\""),
    ("{\"a\"::1}", "line 1, column 6: expected a value, got \":\""),
    ("{a: 1}", "line 1, column 2: expected a key in double quotes or \"}\", got \"a\""),
    ("{'a': 1}", "line 1, column 2: expected a key in double quotes or \"}\", got \"'\""),
    ("{title: 1}", "line 1, column 2: expected a key in double quotes or \"}\", got \"title\""),
    ("{1: 1}", "line 1, column 2: expected a key in double quotes or \"}\", got \"1\""),
    ("{\"a\": 'b'}", "line 1, column 7: expected a value, got \"'\""),
    ("{\"a\": None}", "line 1, column 7: expected a value, got \"None\""),
    ("[True]", "line 1, column 2: expected a value, got \"True\""),
    ("[nul]", "line 1, column 2: expected null, got \"nul\""),
    ("[nulls]", "line 1, column 6: expected \",\" or \"]\", got \"s\""),
    ("fals", "line 1, column 1: expected false, got \"fals\""),
    ("nope", "line 1, column 1: expected a value, got \"nope\""),
    ("[nulL]", "line 1, column 2: expected a value, got \"nulL\""),
    ("[NaN]", "line 1, column 2: expected a value, got \"NaN\""),
    ("[Infinity]", "line 1, column 2: expected a value, got \"Infinity\""),
    ("[-Infinity]", "line 1, column 3: expected a digit, got \"Infinity\""),
    ("[+1]", "line 1, column 2: expected a value, got \"+\""),
    ("[.5]", "line 1, column 2: expected a value, got \".\""),
    ("[-]", "line 1, column 3: expected a digit, got \"]\""),
    ("-", "line 1, column 2: expected a digit, got the end of the document"),
    ("[01]", "line 1, column 3: expected no digit after a leading 0"),
    ("[-00]", "line 1, column 4: expected no digit after a leading 0"),
    ("[1.]", "line 1, column 4: expected a digit after the point, got \"]\""),
    ("[1.e5]", "line 1, column 4: expected a digit after the point, got \"e\""),
    ("[1e]", "line 1, column 4: expected a digit of the exponent, got \"]\""),
    ("[1e+]", "line 1, column 5: expected a digit of the exponent, got \"]\""),
    ("[0x10]", "line 1, column 3: expected \",\" or \"]\", got \"x\""),
    ("[1_000]", "line 1, column 3: expected \",\" or \"]\", got \"_\""),
    ("\"abc", "line 1, column 1: expected text to end with a double quote"),
    ("[\"abc\n\"]", "line 1, column 6: expected no control characters in text: write \\n, \\t or \\u000a"),
    ("[\"\u{0}\"]", "line 1, column 3: expected no control characters in text: write \\n, \\t or \\u0000"),
    ("[\"\u{1f}\"]", "line 1, column 3: expected no control characters in text: write \\n, \\t or \\u001f"),
    ("1 2", "line 1, column 3: expected the end of the document, got \"2\""),
    ("{}{}", "line 1, column 3: expected the end of the document, got \"{\""),
    ("[]]", "line 1, column 3: expected the end of the document, got \"]\""),
    ("{} // done", "line 1, column 4: expected the end of the document, got \"/\""),
    ("[/* one */ 1]", "line 1, column 2: expected a value, got \"/\""),
    ("[\u{a0}1]", "line 1, column 2: expected a value, got \"\u{a0}\""),
    ("[\u{c}1]", "line 1, column 2: expected a value, got \"\\u{c}\""),
    ("\u{0}", "line 1, column 1: expected a value, got \"\\u{0}\""),
    ("[1]\u{0}", "line 1, column 4: expected the end of the document, got \"\\u{0}\""),
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
