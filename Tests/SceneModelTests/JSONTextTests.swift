import SceneModel
import Testing

/// Texts and keys, with their quotes.
@Suite struct JSONTextTests {
  @Test(arguments: [
    (#""""#, ""), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""/""#, "/"), (#""\u0041\u00e9\u732B""#, "Aé猫"),
    (#""\u0000""#, "\0"), (#""a\u0000b""#, "a\0b"), (#""\u001f\u007f""#, "\u{1f}\u{7f}"), ("\"\u{7f}\"", "\u{7f}"),
    (#""\ud83c\udfad""#, "🎭"), (#""\uD83C\uDFAD!""#, "🎭!"), (#""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
    (#""\uFEFF\uFFFE\uFFFF""#, "\u{FEFF}\u{FFFE}\u{FFFF}"), ("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
    (#""\\u0041""#, "\\u0041"), (#""\\\\""#, "\\\\"), (#""\\\"""#, "\\\""), (#""0123456\n89""#, "0123456\n89"),
    (#""01234567\n""#, "01234567\n"), ("\"🎭é猫\"", "🎭é猫"), (#""e\u0301""#, "e\u{301}"),
  ])
  func `a text means what its escapes say`(json: String, meaning: String) throws {
    #expect(try JSON.value(Text(json)) == .string(Text(meaning)))
    #expect(try JSON.value(Text("{\(json):1}")) == .dictionary([Text(meaning): 1]))
  }

  @Test func `escapes and quotes are found wherever they stand`() throws {
    for count in 0..<40 {
      let plain = String(repeating: "x", count: count)
      #expect(try JSON.value(Text("\"\(plain)\\n\(plain)\"")) == .string(Text("\(plain)\n\(plain)")))
      #expect(
        try JSON.value(Text("[\"\(plain)\",\"é\(plain)\"]")) == [.string(Text(plain)), .string(Text("é\(plain)"))])
      let broken = #expect(throws: Fault.self) { try JSON.value(Text("\"\(plain)\u{1}\"")) }
      #expect(broken?.place == "line 1, column \(count + 2)")
    }
  }

  @Test func `bytes above ASCII are never taken for quotes, escapes or control characters`() throws {
    // The low bits of each scalar are those of a character with a meaning.
    for scalar in ["\u{a2}", "\u{dc}", "\u{80}", "\u{9f}", "\u{22a2}", "\u{5c5c}", "\u{a0a2}", "\u{1f6dc}"] {
      let text = String(repeating: scalar, count: 9)
      #expect(try JSON.value(Text("\"\(text)\"")) == .string(Text(text)))
    }
  }

  @Test func `every scalar comes back, written as itself or with its escape`() throws {
    for scalar in stride(from: UInt32(0), through: 0x10FFFF, by: 67).compactMap(Unicode.Scalar.init) {
      let text = String(scalar)
      #expect(try JSON.value(JSON.text(of: .string(Text(text)))) == .string(Text(text)))
      let escaped = text.utf16.map { "\\u" + String(0x1_0000 + UInt32($0), radix: 16).dropFirst() }.joined()
      #expect(try JSON.value(Text("\"\(escaped)\"")) == .string(Text(text)))
    }
  }

  @Test func `only what has to be is escaped`() {
    #expect(JSON.text(of: "\"\\/é🎭\u{7f}\u{2028}") == "\"\\\"\\\\/é🎭\u{7f}\u{2028}\"")
    #expect(JSON.text(of: "\n\r\t\u{8}\u{c}\u{0}\u{1f}") == #""\n\r\t\u0008\u000c\u0000\u001f""#)
  }
}
