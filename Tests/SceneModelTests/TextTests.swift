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
