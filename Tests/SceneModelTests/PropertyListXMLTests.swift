import SceneModel
import SceneTestSupport
import Testing

@Suite struct PropertyListXMLTests {
  private func read(_ xml: String) throws -> Value { try PropertyList.read(Array(xml.utf8)) }

  private static let good: [(String, Value)] = [
    ("<string/>", ""), ("<string> a\n<!-- c -->b<![CDATA[<&]]> </string>", " a\nb<& "),
    ("<integer>-5</integer>", -5), ("<integer> +5\n</integer>", 5), ("<integer>0x1F</integer>", 31),
    ("<integer>-0X80</integer>", -128), ("<integer>007</integer>", 7),
    ("<integer>0x7fffffffffffffff</integer>", .integer(.max)),
    ("<integer>-9223372036854775808</integer>", .integer(.min)),
    ("<integer>-0x8000000000000000</integer>", .integer(.min)), ("<integer>-0</integer>", 0),
    ("<real>5</real>", 5.0), ("<real>\t-.5e+1 </real>", -5.0), ("<real>5.</real>", 5.0), ("<real>+1E-2</real>", 0.01),
    ("<true/>", true), ("<false> <!-- c --> </false>", false),
    ("<date> 2026-05-01T12:00:00Z </date>", .date(Instant(microseconds: 1_777_636_800_000_000))),
    ("<data>\n\tAQ\n\tI=\n</data>", .data([1, 2])), ("<data/>", .data([])),
    ("<!-- a --> <array> <!-- b --> <true/> </array> <!-- c -->", [true]), ("<dict></dict>", [:]),
    ("<dict><key/><dict/><key> a&amp; </key><array/></dict>", ["": [:], " a& ": []]),
  ]

  @Test(arguments: good)
  func `what Apple's reader takes is taken`(xml: String, value: Value) throws {
    #expect(try read("<plist version=\"1.0\">\(xml)</plist>") == value)
    #expect(
      try read("\u{FEFF}<?xml version='1.0'?>\n<!DOCTYPE plist [<!ENTITY a 'b'>]>\n<plist>\(xml)</plist>\n") == value)
  }

  private static let bad: [(String, String)] = pairs(
    #"""
    Other documents.
    | <dict/> | line 1, column 1: expected <plist> as the root, got <dict> |
    | <plist/> | line 1, column 1: expected a value in <plist> |
    | <plist>⏎</plist> | line 1, column 1: expected a value in <plist> |
    | <plist>⏎<true/>⏎ <true/></plist> | line 3, column 2: expected one value in <plist> |
    | <plist>⏎ text</plist> | line 2, column 2: expected no text in <plist> |
    | <plist><true/></plist>x | line 1, column 23: expected nothing after the root element, found "x" |
    | <plist> | line 1, column 8: expected </plist> for the element of line 1, found the end of the document |
    | <plist><true/> | line 1, column 15: expected </plist> for the element of line 1, found the end of the document |
    | <plist><foo/></plist> | line 1, column 8: expected a property list's element, got <foo> |
    | <plist><key>a</key></plist> | line 1, column 8: expected a property list's element, got <key> |
    | <plist><plist/></plist> | line 1, column 8: expected a property list's element, got <plist> |
    Dictionaries.
    | <plist><dict>⏎\#t<true/></dict></plist> | line 2, column 2: expected <key>, got <true> |
    | <plist><dict>⏎<key>a</key>⏎</dict></plist> | line 2, column 1: expected a value for the key "a" |
    | <plist><dict>⏎<key>a</key><key>b</key><true/></dict></plist> | line 2, column 1: expected a value for the key "a" |
    | <plist><dict><key>a</key><true/>⏎  <key>b</key><true/>⏎  <key>a</key><false/></dict></plist> | line 3, column 3: expected no second key "a" |
    | <plist><dict>a</dict></plist> | line 1, column 14: expected no text in <dict> |
    | <plist><dict><key><b/></key></dict></plist> | line 1, column 19: expected only text in <key> |
    Scalars.
    | <plist><date>yesterday</date></plist> | line 1, column 8: expected a date such as 2026-05-01T12:00:00Z, got "yesterday" |
    | <plist><data>A</data></plist> | line 1, column 8: expected base64 in <data> |
    | <plist><true>yes</true></plist> | line 1, column 14: expected no text in <true> |
    | <plist><true><true/></true></plist> | line 1, column 14: expected nothing in <true> |
    | <plist><string>a<b/></string></plist> | line 1, column 17: expected only text in <string> |
    XML.
    | <plist><string>&a;</string></plist> | line 1, column 16: expected a character's number or one of &amp; &lt; &gt; &quot; &apos;, found "&a" |
    | <plist>⏎<true></false></plist> | line 2, column 7: expected </true>, found </false> |
    | <plist><string>\#u{1}</string></plist> | line 1, column 16: expected a character that XML allows, found U+0001 |
    """#)

  @Test(arguments: bad)
  func `what is wrong is refused with its place`(xml: String, description: String) {
    let fault = #expect(throws: Fault.self) { try read(xml) }
    #expect(fault?.description == description)
    #expect(fault?.kind == .invalid)
  }

  @Test(arguments: ["", "9223372036854775808", "0x8000000000000000", "1.5", "0x", "--1", "1a"])
  func `an integer that is none is refused`(text: String) {
    let fault = #expect(throws: Fault.self) { try read("<plist>\n<integer>\(text)</integer></plist>") }
    #expect(fault?.description == "line 2, column 1: expected an integer from -2^63 to 2^63-1, got \"\(text)\"")
  }

  @Test(arguments: ["nan", "-infinity", "1e999", "0x1p3", "1e", ".", ""])
  func `a number that is none is refused`(text: String) {
    let fault = #expect(throws: Fault.self) { try read("<plist><real>\(text)</real></plist>") }
    #expect(fault?.description == "line 1, column 8: expected a finite number, got \"\(text)\"")
  }

  @Test(arguments: [
    ("nothing", ["", "\u{FEFF} \n"]),
    ("what looks like a property list of the old text form", ["// !$*UTF8*$!\n{", "(a, b)"]),
    ("something else", ["yes", "\u{0}bplist00"]),
  ])
  func `what is no property list is told what it is`(kind: String, texts: [String]) {
    for text in texts {
      let fault = #expect(throws: Fault.self) { try read(text) }
      #expect(fault == Fault(at: "", "expected JSON, or a property list in XML or binary, got \(kind)"))
    }
  }

  @Test func `bytes that are no UTF-8 are refused with their place`() {
    let start = Array("<plist>\n<string>é".utf8)
    for wrong: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
      let fault = #expect(throws: Fault.self) { try PropertyList.read(start + wrong + Array("</string></plist>".utf8)) }
      #expect(fault?.description.hasPrefix("line 2, column 10: expected text in UTF-8") == true)
    }
    for mark: [UInt8] in [[0xFE, 0xFF, 0, 0x3C], [0xFF, 0xFE, 0x3C, 0]] {
      let fault = #expect(throws: Fault.self) { try PropertyList.read(mark) }
      #expect(fault?.reason == "expected JSON, or a property list in XML or binary, got text in UTF-16")
    }
  }
}
