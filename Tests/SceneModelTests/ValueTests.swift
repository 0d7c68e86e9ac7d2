import SceneModel
import SceneTestSupport
import Testing

@Suite struct TextTests {
  @Test func `what looks the same and is written otherwise is another text`() {
    let (composed, decomposed): (Text, Text) = ("\u{e9}", "e\u{301}")
    #expect(composed.string == decomposed.string)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
    #expect(composed.count == 2 && decomposed.count == 3)
    #expect(!decomposed.hasPrefix(composed))
    // For Swift's strings this is not a prefix, since the accent belongs to the letter.
    #expect(decomposed.hasPrefix("e"))
    #expect(decomposed.hasSuffix("\u{301}"))
    #expect(Text("\r\n").hasPrefix("\r"))
  }

  @Test func `texts compare like their bytes`() {
    var random = SeededRandom(seed: 3)
    var generator = ValueGenerator(seed: 4)
    let texts = ValueGenerator.texts + (0..<60).map { _ in generator.text() }
    for one in texts {
      for other in texts {
        let (bytes, others) = (Array(one.string.utf8), Array(other.string.utf8))
        #expect((one == other) == (bytes == others))
        #expect((one < other) == bytes.lexicographicallyPrecedes(others))
        #expect(one.hasPrefix(other) == bytes.starts(with: others))
        #expect(one.hasSuffix(other) == bytes.reversed().starts(with: others.reversed()))
        if one == other { #expect(one.hashValue == other.hashValue) }
      }
    }
    #expect(texts.shuffled(using: &random).sorted() == texts.sorted())
  }

  @Test func `a difference is found wherever it is`() {
    for count in 1..<40 {
      let text = String(repeating: "a", count: count)
      #expect(Text(text) == Text(String(text)))
      for offset in 0..<count {
        var changed = Array(text.utf8)
        changed[offset] = UInt8(ascii: "b")
        #expect(Text(text) != Text(String(decoding: changed, as: UTF8.self)))
      }
      #expect(Text(text) != Text(text + "a"))
      #expect(Text(text) < Text(text + "\0"))
    }
  }

  @Test func `texts one after the other hash otherwise than those of another division`() {
    struct Pair: Hashable { let one, other: Text }
    let pairs = [
      Pair(one: "ab", other: "c"), Pair(one: "a", other: "bc"), Pair(one: "", other: "abc"),
      Pair(one: "abc", other: ""),
    ]
    #expect(Set(pairs.map(\.hashValue)).count == 4)
  }

  /// Swift's own hashing would take quadratic time.
  @Test func `a run of accents is hashed in linear time`() {
    func accents(_ count: Int) -> Text { Text("e" + String(repeating: "\u{301}\u{323}", count: count)) }
    #expect(growth(from: accents(20_000), to: accents(80_000)) { _ = Set([$0]).contains($0) } < 9)
  }
}

@Suite struct UserInfoTests {
  private func entry(_ key: Text, _ value: Value) -> UserInfo.Entry { UserInfo.Entry(key: key, value: value) }

  @Test func `entries are in the order of their keys' bytes`() throws {
    let info: UserInfo = ["b": 1, "é": 2, "": 3, "a": 4, "B": 5, "e\u{301}": 6]
    #expect(info.entries.map(\.key) == ["", "B", "a", "b", "e\u{301}", "é"])
    #expect(info == UserInfo(info.entries.reversed()))
    #expect(info.hashValue == UserInfo(info.entries.reversed())?.hashValue)
  }

  @Test func `a key stands once`() {
    let entries = [entry("b", 1), entry("a", 2), entry("b", 3), entry("a", 4)]
    #expect(UserInfo(entries) == nil)
    #expect(UserInfo.duplicate(in: entries) == "a")
    #expect(UserInfo.duplicate(in: [entry("a", 1), entry("b", 1)]) == nil)
    #expect(UserInfo([])?.isEmpty == true)
  }

  @Test func `it is looked up, set and removed like any dictionary`() {
    var random = SeededRandom(seed: 6)
    let keys = (0..<40).map { Text("key \($0)") }
    var info = UserInfo()
    var model: [Text: Value] = [:]
    for _ in 0..<2000 {
      let key = random.one(of: keys)
      let value: Value? = random.once(in: 3) ? .none : .integer(Int64(random.below(5)))
      info[key] = value
      model[key] = value
      #expect(info.count == model.count)
      for key in keys { #expect(info[key] == model[key]) }
    }
    #expect(info.entries.map(\.key) == model.keys.sorted())
  }

  @Test func `null is a value`() {
    var info: UserInfo = ["a": nil]
    #expect(info["a"] == .some(.null))
    #expect(info.count == 1)
    #expect(info["b"] == .none)
    info["a"] = .none
    #expect(info["a"] == .none)
    #expect(info.isEmpty)
  }

  @Test func `keys stay as values are made anew`() throws {
    let info: UserInfo = ["b": 1, "a": 2]
    #expect(info.mapValues { .string($0.key) } == ["a": "a", "b": "b"])
    #expect(throws: Fault.self) {
      try info.mapValues { (entry) throws(Fault) in throw Fault(at: "", entry.key.string) }
    }
  }
}

@Suite struct InstantTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2026-05-01T12:00:00Z", 1_777_636_800_000_000),
    ("1969-12-31T23:59:59.999999Z", -1), ("2000-02-29T23:59:60Z", 951_868_800_000_000),
    ("2026-05-01t14:00:00.5+02:00", 1_777_636_800_500_000), ("2026-05-01 06:30:00-05:30", 1_777_636_800_000_000),
    ("2026-05-01T12:00:00.123456789Z", 1_777_636_800_123_456), ("0000-01-01T00:00:00Z", -62_167_219_200_000_000),
    ("1970-01-01T23:59:00+23:59", 0), ("1969-12-31T00:01:00-23:59", 0),
    ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
  ])
  func `a date is the moment that it names`(text: String, microseconds: Int64) {
    #expect(Instant(rfc3339: Text(text))?.microseconds == microseconds)
  }

  @Test(arguments: [
    "yesterday", "", "2026-05-01", "2026-05-01T12:00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-05-01T24:00:00Z",
    "2026-05-01T12:60:00Z", "2026-05-01T12:00:61Z", "2026-05-01T12:00:00.Z", "2026-05-01T12:00:00+2:00",
    "2026-05-01T12:00:00+0200", "2026-05-01T12:00:00Zulu", "+026-05-01T12:00:00Z", "0000-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01", "1900-02-29T00:00:00Z", "2026-5-1T12:00:00Z",
    "2026-05-01T12:00:00+24:00", "2026-05-01T12:00:00-24:00", "2026-05-01T12:00:00+23:60",
  ])
  func `what is no date of RFC 3339 is none`(text: String) {
    #expect(Instant(rfc3339: Text(text)) == nil)
  }

  @Test func `every moment comes back from its text`() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<20_000 {
      let instant = Instant(
        microseconds: .random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &random))
      #expect(Instant(rfc3339: Text(instant.rfc3339)) == instant)
    }
  }
}

@Suite struct UniqueIdentifierTests {
  @Test(
    arguments: [
      ("00000000-0000-0000-0000-000000000000", 0, 0), ("ffffffff-ffff-ffff-ffff-ffffffffffff", .max, .max),
      ("01234567-89ab-cdef-0123-456789abcdef", 0x0123_4567_89AB_CDEF, 0x0123_4567_89AB_CDEF),
      ("00000000-0000-0001-8000-000000000000", 1, 1 << 63),
    ] as [(String, UInt64, UInt64)])
  func `a UUID is its digits`(text: String, high: UInt64, low: UInt64) {
    #expect(UniqueIdentifier(Text(text)) == UniqueIdentifier(high: high, low: low))
    #expect(UniqueIdentifier(Text(text.uppercased())) == UniqueIdentifier(high: high, low: low))
    #expect("\(UniqueIdentifier(high: high, low: low))" == text)
  }

  @Test(
    arguments: [
      "", "0", "0123456789abcdef0123456789abcdef", "01234567-89ab-cdef-0123-456789abcde",
      "01234567-89ab-cdef-0123-456789abcdef0",
      "{1234567-89ab-cdef-0123-456789abcde}", "01234567-89ab-cdef-0123-456789abcdeg",
      "01234567_89ab_cdef_0123_456789abcdef",
      "012345678-9ab-cdef-0123-456789abcdef", "01234567-89ab-cdef-0123-456789abcd ",
      "-1234567-89ab-cdef-0123-456789abcdef",
      "01234567-89ab-cdef-0123-456789abcdé", "+1234567-89ab-cdef-0123-456789abcdef",
    ] as [Text])
  func `nothing else is one`(text: Text) {
    #expect(UniqueIdentifier(text) == nil)
  }

  @Test func `a random one says that it is`() {
    var random = SeededRandom(seed: 1)
    var seen: Set<UniqueIdentifier> = []
    for _ in 0..<1000 {
      let identifier = UniqueIdentifier(using: &random)
      let digits = Array("\(identifier)")
      #expect(digits[14] == "4")
      #expect("89ab".contains(digits[19]))
      #expect(UniqueIdentifier(Text("\(identifier)")) == identifier)
      seen.insert(identifier)
    }
    #expect(seen.count == 1000)
  }

  @Test func `their order is that of their letters`() {
    var random = SeededRandom(seed: 2)
    let ends: [UInt64] = [0, 1, UInt64.max, 1 << 63, (1 << 63) - 1]
    var all = ends.flatMap { high in ends.map { UniqueIdentifier(high: high, low: $0) } }
    all += (0..<200).map { _ in UniqueIdentifier(using: &random) }
    #expect(all.shuffled(using: &random).sorted().map(\.description) == all.map(\.description).sorted())
  }
}

@Suite struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
    ("Zm9vYmFy", "foobar"), (" Z\tm9\r\nv \n", "foo"), ("Z g = =", "f"), ("\nZm9v\nYmFy", "foobar"),
  ])
  func `letters become bytes`(text: String, bytes: String) {
    #expect(Base64.decode(Text(text)) == Array(bytes.utf8))
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "Zm9v=", "=", "====", "Zg==Zg==", "Zg=g", "Zh==", "Zm9=", "Zm9v!",
    "Zm9-", "Zm9_", "Zg\u{A0}==", "Zm9\0", "Zm9vZ", "Zm9v====", "=Zm9v",
  ])
  func `what is no base64 is none`(text: String) {
    #expect(Base64.decode(Text(text)) == nil)
  }

  @Test func `bytes come back from their letters`() {
    var random = SeededRandom(seed: 64)
    for count in 0..<500 {
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let text = Base64.encode(bytes)
      #expect(text.count == (count + 2) / 3 * 4)
      #expect(text.withUnsafeBytes { Base64.decode($0) } == bytes)
      var broken: [UInt8] = []
      for letter in text { broken += random.once(in: 3) ? [letter, 0x0A] : [letter] }
      #expect(broken.withUnsafeBytes { Base64.decode($0) } == bytes)
    }
  }

  @Test(.timeLimit(.minutes(1))) func `megabytes are nothing to be afraid of`() {
    let bytes = [UInt8](repeating: 0xA5, count: 12 << 20)
    #expect(Base64.encode(bytes).withUnsafeBytes { Base64.decode($0) } == bytes)
  }
}

struct DigestTests {
  /// From FIPS 180-4, with lengths at which the last block is full, or needs another.
  @Test(arguments: [
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    ("a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    ("a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    ("a", 63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
    ("a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    ("a", 65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
    ("a", 119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
    ("a", 120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
    ("a", 128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
    ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ])
  func `a digest is the SHA-256 of the bytes`(part: String, count: Int, hex: String) {
    #expect(Digest(of: Text(String(repeating: part, count: count))).hex == Text(hex))
  }
}
