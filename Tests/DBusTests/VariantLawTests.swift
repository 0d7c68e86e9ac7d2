import DBus
import Testing

/// Every value that is written can be read back.
@Suite struct VariantLawTests {
  @Test func `a variant of any shape comes back from the message, and from its bytes`() throws {
    var generator = VariantGenerator(seed: 21)
    var shapes: Set<Signature> = []
    for round in 0..<3000 {
      let value = generator.variant(depth: round % 9)
      shapes.insert(value.contentSignature)
      let message = try signal(value)
      #expect(try message.values(as: Variant.self) == value)
      let again = try Message(bytes: message.bytes(serial: 1))
      #expect(again.signature == "v")
      #expect(try again.variants() == [.variant(value)])
      #expect(Signature.fault(in: value.contentSignature.rawValue) == nil)
    }
    // A generator that always makes the same shape would prove nothing.
    #expect(shapes.count > 300)
  }

  // MARK: As deep as it goes

  private static let deepest: [Variant] = [
    (0..<63).reduce("the core") { inner, _ in .variant(inner) },
    (0..<32).reduce((0..<31).reduce(.byte(7)) { inner, _ in .structure([inner]) }) { inner, _ in
      .array(of: inner.contentSignature, [inner])
    },
    (0..<31 as Range<UInt32>).reduce("the core") { inner, number in
      .dictionary(key: "u", value: inner.contentSignature, [.uint32(number): inner])
    },
  ]

  @Test(arguments: deepest)
  func `variants, arrays of structures and dictionaries as deep as may be come back`(value: Variant) throws {
    #expect(try Message(bytes: signal(value).bytes(serial: 1)).values(as: Variant.self) == value)
  }

  // MARK: Variants and Swift types

  @Test func `an array of bytes is always the case of bytes`() throws {
    let bytes = Variant([1, 2] as [UInt8])
    #expect(bytes == .bytes([1, 2]))
    let composed = try signal(Variant.array(of: "y", [.byte(1), .byte(2)])).values(as: Variant.self)
    #expect(composed == bytes)
    #expect(try [UInt8](Variant.array(of: "y", [.byte(1), .byte(2)])) == [1, 2])
    #expect(throws: CodingError.self) { try [UInt8](Variant.array(of: "y", [.byte(1), .boolean(true)])) }
    #expect(try [UInt8](bytes) == [1, 2])
  }

  @Test func `where a key comes twice, the later value counts`() throws {
    // No Swift dictionary writes duplicate keys; an array of structures has the same bytes.
    let pairs = [Structure(Int64(1), UInt64(7)), Structure(Int64(1), UInt64(9))]
    var bytes = try signal(pairs).bytes(serial: 1)
    let type = try #require(bytes.firstRange(of: Array("a(xt)".utf8)))
    bytes.replaceSubrange(type, with: Array("a{xt}".utf8))
    let message = try Message(bytes: bytes)
    #expect(try message.values(as: [Int64: UInt64].self) == [1: 9] as [Int64: UInt64])
    #expect(try message.variants() == [.dictionary(key: "x", value: "t", [.int64(1): .uint64(9)])])
  }
}
