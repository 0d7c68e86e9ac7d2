package import SceneModel

/// Makes values of every kind, and prefers those that documents can hardly write.
package struct ValueGenerator {
  private var random: SeededRandom

  package init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// A value that nests at most `depth` containers.
  package mutating func value(depth: Int = 4) -> Value {
    let kinds = depth == 0 ? 9 : 14
    switch random.below(kinds) {
    case 0: return .null
    case 1: return .bool(random.once(in: 2))
    case 2: return .integer(integer())
    case 3: return .double(double())
    case 4: return .string(text())
    case 5: return .data(data())
    case 6: return .date(date())
    case 7: return .uuid(uuid())
    case 8: return .url(random.one(of: ValueGenerator.urls))
    case 9: return .array((0..<random.below(5)).map { _ in value(depth: depth - 1) })
    case 10: return .set(ValueSet((0..<random.below(5)).map { _ in value(depth: depth - 1) }))
    default: return .dictionary(userInfo(depth: depth))
    }
  }

  /// A dictionary as a user activity may have it.
  package mutating func userInfo(depth: Int = 4) -> UserInfo {
    var entries = UserInfo()
    for _ in 0..<random.below(5) { entries[key()] = value(depth: max(0, depth - 1)) }
    return entries
  }

  package mutating func text() -> Text {
    switch random.below(4) {
    case 0: return random.one(of: ValueGenerator.texts)
    case 1: return Text((0..<random.below(40)).map { _ in random.one(of: ValueGenerator.texts).string }.joined())
    default:
      let scalars = (0..<random.below(20)).compactMap { _ in
        Unicode.Scalar(UInt32(random.below(random.one(of: [0x80, 0x800, 0x11_0000]))))
      }
      return Text(String(String.UnicodeScalarView(scalars)))
    }
  }

  /// Tags are among the keys, and keys that look like tags.
  private mutating func key() -> Text {
    random.once(in: 3) ? random.one(of: ValueGenerator.tags) : text()
  }

  private mutating func integer() -> Int64 {
    switch random.below(3) {
    case 0: random.one(of: ValueGenerator.integers)
    case 1: Int64(random.below(1000)) - 500
    default: Int64(truncatingIfNeeded: random.next()) >> Int64(random.below(64))
    }
  }

  private mutating func double() -> Double {
    if random.once(in: 3) { return random.one(of: ValueGenerator.doubles) }
    let double = random.once(in: 2) ? Double(bitPattern: random.next()) : Double(random.below(1_000_000)) / 64
    return double.isFinite ? double : 0.1
  }

  mutating func data() -> [UInt8] {
    (0..<random.below(random.one(of: [4, 4, 200]))).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }

  /// A date in the supported years, usually with microseconds.
  mutating func date() -> Instant {
    switch random.below(4) {
    case 0: Instant(microseconds: random.one(of: ValueGenerator.dates))
    case 1: Instant(microseconds: Int64(random.below(2_000_000_000)) * 1_000_000)
    case 2: Instant(microseconds: Int64(random.below(4_000_000_000_000_000)))
    default: Instant(microseconds: .random(in: -62_167_219_200_000_000...253_402_300_799_999_999, using: &random))
    }
  }

  private mutating func uuid() -> Text {
    let small = UniqueIdentifier(using: &random).description
    return Text(random.once(in: 2) ? small : small.uppercased())
  }
}

// MARK: - Values that are hard to write

extension ValueGenerator {
  package static let texts: [Text] = [
    "", " ", "\0", "\r\n", "\r", "\n\t ", "]]>", "<!-- & -->", "&amp;", "\"'\\", "é", "e\u{301}", "\u{301}", "🎭", "👩‍👩‍👧‍👦",
    "\u{FEFF}", "\u{FFFE}", "\u{FFFF}", "\u{FFFD}", "\u{10FFFF}", "\u{D7FF}\u{E000}", "\u{7F}\u{80}\u{85}", "\u{2028}",
    "\u{1F}", "true", "null", "1e5", "bplist00", "$", "fourteen bytes", "fifteen bytes :",
  ]

  package static let tags: [Text] = [
    "$", "$$", "$date", "$data", "$uuid", "$url", "$set", "$literal", "$other", "$\0",
  ]

  package static let integers: [Int64] = [
    0, 1, -1, .max, .min, .max - 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    0x1_0000_0000, -0x80, -0x8000_0000, 1 << 53, 1 << 53 + 1,
  ]

  package static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, 1.0 / 3, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude,
    .greatestFiniteMagnitude,
    -.greatestFiniteMagnitude, .ulpOfOne, 0x1p53, 0x1p63, 1e15, 1e16, 1e21, 123_456_789.123_456_78,
  ]

  /// Microseconds: on both sides of each change of form, and the first and the last.
  package static let dates: [Int64] = [
    0, 1, -1, 999_999, 978_307_200_000_000, 978_307_199_999_999, 1_777_636_800_123_456, 5_000_000_000_000_001,
    -62_167_219_200_000_000, -62_167_219_199_999_999, 253_402_300_799_999_999, 253_402_300_799_000_000,
  ]

  package static let urls: [Text] = [
    "https://example.org/photos/7?a=b&c=%20#end", "mailto:someone@example.org", "file:///home/user/Beach.png", "a:b",
    "HTTP://[::1]:8080/", "urn:isbn:0451450523", "data:,'*!$()~",
  ]
}
