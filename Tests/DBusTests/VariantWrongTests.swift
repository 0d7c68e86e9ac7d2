import DBus
import ExitTestSupport
import Testing

/// The cases of a variant can be combined wrongly. libdbus would end the process if it got such a value.
@Suite struct VariantWrongTests {
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
