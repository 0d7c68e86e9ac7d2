import SceneModel
import SceneTestSupport
import Testing

@Suite struct JSONTextTests {
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

@Suite struct JSONKeysTests {
  @Test(arguments: [
    (#"{"a":1,"a":1}"#, 8, "a"), (#"{"a":1,"b":2,"a":3}"#, 14, "a"), (#"[{"x":{"a":1,"a":2}}]"#, 14, "a"),
    (#"{"a":1,"\u0061":2}"#, 8, "a"), (#"{"\u0061":1,"a":2}"#, 13, "a"), (#"{"":1,"":2}"#, 7, ""),
    (#"{"\n":1,"\u000A":2}"#, 9, "\\n"), (#"{"é":1,"\u00e9":2}"#, 8, "é"), (#"{"🎭":1,"\ud83c\udfad":2}"#, 8, "🎭"),
    (#"{"a":1,"b":{"a":1},"b":2}"#, 20, "b"), (#"{"a":1,"a":2,"b":3,"b":4}"#, 8, "a"),
  ])
  func `a key that stands twice is refused at the second`(json: String, column: Int, key: String) {
    let fault = #expect(throws: Fault.self) { try JSON.value(Text(json)) }
    #expect(fault?.description == "line 1, column \(column): the key \"\(key)\" stands here twice")
  }

  @Test(arguments: [
    #"{"a":1,"b":{"a":1}}"#, #"[{"a":1},{"a":1}]"#, #"{"a":{"a":{"a":1}}}"#, #"{"a":1,"A":2}"#, #"{"a":1,"a ":2}"#,
    "{\"\u{e9}\":1,\"e\u{301}\":2}", #"{"a":"a","b":"a"}"#, #"{"\u0061":1,"\u0062":2}"#, #"{"a":1,"a\u0000":2}"#,
    #"{"\\u0061":1,"a":2}"#,
  ])
  func `keys that differ by a byte, or stand elsewhere, are two`(json: String) throws {
    _ = try JSON.value(Text(json))
  }

  /// Few keys are compared with each other; many are sorted.
  @Test func `it does not matter how many keys there are`() throws {
    for count in [1, 2, 11, 12, 13, 14, 40, 1000] {
      let keys = (0..<count).map { "\"key \($0)\":{\"key 0\":\($0)}" }
      _ = try JSON.value(Text("{\(keys.joined(separator: ","))}"))
      for twice in Set([0, count / 2, count - 1]) {
        let json = "{\((keys + ["\"key \(twice)\":0"]).joined(separator: ","))}"
        let fault = #expect(throws: Fault.self) { try JSON.value(Text(json)) }
        #expect(fault?.reason == "the key \"key \(twice)\" stands here twice")
        #expect(fault?.place == "line 1, column \(json.utf8.count - "\"key \(twice)\":0}".utf8.count + 1)")
      }
    }
  }

  @Test func `the first key that stands twice is told, however it is found`() {
    let keys = (0..<30).map { "\"k\($0)\":0" } + ["\"k9\":0", "\"k1\":0"]
    let fault = #expect(throws: Fault.self) { try JSON.value(Text("{\(keys.joined(separator: ","))}")) }
    #expect(fault?.reason == "the key \"k9\" stands here twice")
  }
}

@Suite struct JSONNumberTests {
  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("7", 7), ("-1", -1), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775806", .integer(.max - 1)),
      ("1000000000000000000", 1_000_000_000_000_000_000), ("0.0", 0.0), ("1.0", 1.0), ("1e0", 1.0), ("1E5", 1e5),
      ("1e+5", 1e5), ("1e-5", 1e-5), ("0.1", 0.1), ("-2.5e-3", -0.0025), ("0e0", 0.0), ("0E+1", 0.0),
      ("5e-324", .double(.leastNonzeroMagnitude)), ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
      ("1e-400", 0.0), ("9223372036854775808.0", 0x1p63), ("9223372036854775808e0", 0x1p63), ("1e00000000001", 10.0),
      ("0.30000000000000004", .double(0.1 + 0.2)), ("123456789012345678901234567890.0", 1.2345678901234568e29),
    ] as [(Text, Value)])
  func `a number without fraction and exponent is an integer, and any other a double`(json: Text, value: Value) throws {
    #expect(try JSON.value(json) == value)
  }

  private static let (noInteger, noDouble) = (
    "an integer from -2^63 to 2^63 - 1, or a number with a point", "a number that a double can hold"
  )

  @Test(arguments: [
    ("9223372036854775808", noInteger), ("-9223372036854775809", noInteger), ("10000000000000000000", noInteger),
    ("18446744073709551616", noInteger), ("123456789012345678901234567890", noInteger), ("1e999", noDouble),
    ("-1e999", noDouble), ("1.8e308", noDouble), ("1e99999999999999999999", noDouble),
    ("17976931348623159e292", noDouble),
  ])
  func `a number beyond 64 bits, or beyond a double, is refused`(json: String, expected: String) {
    let fault = #expect(throws: Fault.self) { try JSON.value(Text("{\"n\":[0,\(json)]}")) }
    #expect(fault?.description == "n[1]: expected \(expected), got \(json)")
  }

  @Test func `integers and doubles stay what they are`() throws {
    let one = try JSON.value("1")
    #expect(one != (try JSON.value("1.0")))
    #expect(JSON.text(of: .integer(1)) == "1")
    #expect(JSON.text(of: .double(1)) == "1.0")
    #expect(JSON.text(of: .double(1e16)) == "1e+16")
    #expect(JSON.text(of: .double(0.1)) == "0.1")
    #expect(JSON.text(of: .integer(.min)) == "-9223372036854775808")
  }

  @Test func `the sign of a zero is kept`() throws {
    for json in ["-0.0", "-0e5"] as [Text] {
      guard case .double(let zero) = try JSON.value(json) else {
        Issue.record("no double")
        continue
      }
      #expect(zero.sign == .minus)
      #expect(JSON.text(of: .double(zero)) == "-0.0")
    }
  }

  @Test func `every double comes back from its text, bit by bit`() throws {
    var random = SeededRandom(seed: 11)
    for _ in 0..<20_000 {
      let double = Double(bitPattern: random.next())
      if !double.isFinite { continue }
      let text = JSON.text(of: .double(double))
      guard case .double(let read) = try JSON.value(text) else {
        Issue.record("\(text) is no double")
        return
      }
      #expect(read.bitPattern == double.bitPattern)
    }
  }

  @Test func `a number may have as many digits as it likes`() throws {
    let nines = String(repeating: "9", count: 1_000_000)
    #expect(try JSON.value(Text("0.\(nines)")) == .double(1))
    #expect(throws: Fault.self) { try JSON.value(Text("\(nines).0")) }
    #expect(throws: Fault.self) { try JSON.value(Text(nines)) }
  }
}
