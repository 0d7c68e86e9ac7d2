import SceneModel
import SceneTestSupport
import Testing

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
