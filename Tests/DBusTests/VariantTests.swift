import DBus
import ExitTestSupport
import Testing

/// Every value that is written can be read back, and what libdbus would end the process for is refused.
@Suite struct VariantTests {
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

  // MARK: Variants that are put together wrongly

  /// The cases of a variant can be combined wrongly.
  private static let other: [Variant] = [
    .array(of: "s", [.byte(1)]),
    .array(of: "s", ["a", .byte(1)]),
    .array(of: "s", [.variant("a")]),
    .array(of: "v", ["a"]),
    .array(of: "y", [.int16(1)]),
    .array(of: "as", ["a"]),
    .array(of: "as", [.array(of: "s", ["a"]), .array(of: "y", [])]),
    .array(of: "as", [.array(of: "s", [.byte(1)])]),
    // An array is not a structure of its element, nor a dictionary of its entries.
    .array(of: "ay", [.structure([.byte(1)])]),
    .array(of: "as", [.structure(["a"])]),
    .array(of: "a{ss}", [.structure([.structure(["a", "b"])])]),
    .array(of: "(s)", [.array(of: "s", ["a"])]),
    .array(of: "(s)", ["a"]),
    .array(of: "(ss)", [.structure(["a"])]),
    .array(of: "(s)", [.structure(["a", "b"])]),
    .array(of: "(s)", [.structure([])]),
    .array(of: "a{sv}", [.dictionary(key: "s", value: "s", [:])]),
    .array(of: Signature(unchecked: "{sv}"), [.structure(["a", .variant("b")])]),
    .array(of: "ay", [.array(of: "s", [])]),
    .array(of: "s", [.bytes([1])]),
    .dictionary(key: "s", value: "s", ["a": .byte(1)]),
    .dictionary(key: "s", value: "v", ["a": "b"]),
    .dictionary(key: "s", value: "s", [.byte(1): "b"]),
    .dictionary(key: "s", value: "(s)", ["a": .array(of: "s", ["b"])]),
    .structure([.array(of: "s", [.byte(1)])]),
    .structure(["a", .structure(["b", .array(of: "i", ["c"])])]),
  ]

  @Test(arguments: other) func `values that are not what their container says are refused`(value: Variant) {
    #expect(codingError(of: value)?.isInvalidSignature == true)
    #expect(codingError(of: Variant.variant(.structure([.variant(value)])))?.isInvalidSignature == true)
    #expect(codingError(of: Variant.array(of: "v", [.variant(value)]))?.isInvalidSignature == true)
  }

  private static let malformed: [(Variant, String)] = [
    (.structure([]), "a structure has no members"),
    (.structure(["a", .structure([])]), "a structure has no members"),
    (.array(of: "", []), "it ends where a type is expected"),
    (.dictionary(key: "v", value: "s", [:]), "a dictionary's key is not a basic type"),
    (.dictionary(key: "(s)", value: "s", [:]), "a dictionary's key is not a basic type"),
    (.dictionary(key: "as", value: "s", [:]), "a dictionary's key is not a basic type"),
    (.dictionary(key: "", value: "s", [:]), "a dictionary has no value type"),
    (.dictionary(key: "s", value: "", [:]), "a dictionary has no value type"),
    (.dictionary(key: "s", value: "ss", [:]), "a \"{\" is not closed after two types"),
    (.array(of: "ss", []), "the values inside are of other types"),
    (.array(of: "ss", ["a", "b"]), "the values inside are of other types"),
    (.structure([.array(of: "ss", [])]), "the values inside are of other types"),
    (.structure([.array(of: "", []), .array(of: "yy", [])]), "the values inside are of other types"),
    (.dictionary(key: "ss", value: "", [:]), "the values inside are of other types"),
    (.array(of: Signature(unchecked: "{sv}"), []), "the values inside are of other types"),
  ]

  @Test(arguments: malformed) func `types that are none are refused`(value: Variant, fault: String) {
    let signature = value.contentSignature.rawValue
    let expected = CodingError.invalidSignature(InvalidName(text: signature, kind: "signature", fault: fault))
    #expect(codingError(of: value) == expected)
    #expect(codingError(of: Variant.variant(value)) == expected)
  }

  @Test(.ownThreads) func `a structure type without members traps before libdbus does`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try signal([Structure()])
    }
    #expect(result != nil)
    #if DEBUG  // Optimised programs trap without a word.
      let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(said.contains("a D-Bus structure has at least one member"))
    #endif
  }

  @Test func `a body of 255 types fits, and one of 256 does not`() throws {
    let eight = Structure(1 as Int64, 2.5, true, "four", ObjectPath.root, 6 as UInt8)
    let sixty = Structure(eight, eight, eight, eight, eight, eight, eight)
    let wide = Structure(sixty, sixty, sixty, sixty)
    #expect(type(of: wide).signature.rawValue.utf8.count == 234)
    let rest = Structure(eight, [true], [true], [true], 1 as UInt8)
    let last = [[[1.5]]]
    let message = try Message.signal(from: "/a", "a.b", "C", wide, rest, last)
    #expect(message.signature.rawValue.utf8.count == 255)
    #expect(try message.variants() == [wide.variant, rest.variant, last.variant])
    let error = codingError { try Message.signal(from: "/a", "a.b", "C", wide, rest, last, true) }
    #expect(error?.isInvalidSignature == true)
  }
}
