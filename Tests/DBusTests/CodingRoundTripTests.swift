import DBus
import DBusFoundation
import FoundationEssentials
import Testing

/// Every Swift type that is a bus value goes into a message, and into a variant, and comes back.
@Suite struct CodingRoundTripTests {
  /// Through a message, through bytes, through a variant, and through a variant in a message.
  private func comesBack<Value: BusValue & Equatable>(
    _ values: Value..., at place: SourceLocation = #_sourceLocation
  ) throws {
    for value in values {
      let message = try signal(value)
      #expect(message.signature == Value.signature, sourceLocation: place)
      #expect(try message.values(as: Value.self) == value, sourceLocation: place)
      #expect(try Message(bytes: message.bytes(serial: 1)).values(as: Value.self) == value, sourceLocation: place)
      #expect(try message.variants() == [Variant(value)], sourceLocation: place)
      #expect(Variant(value).contentSignature == Value.signature, sourceLocation: place)
      #expect(try Value(Variant(value)) == value, sourceLocation: place)
      #expect(try Value(signal(Variant(value)).values(as: Variant.self)) == value, sourceLocation: place)
    }
    // The value stands after one that ends at an odd place, and before another one.
    let message = try Message.signal(from: "/a", "a.b", "C", UInt8(1), values, UInt8(2))
    let (before, array, behind) = try message.values(as: UInt8.self, [Value].self, UInt8.self)
    #expect(before == 1 && behind == 2 && array == values, sourceLocation: place)
    #expect(try [Value](Variant(values)) == values, sourceLocation: place)
    #expect(try message.variants() == [.byte(1), Variant(values), .byte(2)], sourceLocation: place)
    try nested(values, at: place)
  }

  private func nested<Value: BusValue & Equatable>(_ values: [Value], at place: SourceLocation) throws {
    let empty: [Value] = []
    let dictionary = ["some": values, "none": empty]
    let structure = Structure(UInt8(1), values, empty, UInt8(2))
    let message = try Message.signal(from: "/a", "a.b", "C", UInt8(1), empty, dictionary, UInt8(3), structure)
    let (one, none, some, three, both) = try message.values(
      as: UInt8.self, [Value].self, [String: [Value]].self, UInt8.self, Structure<UInt8, [Value], [Value], UInt8>.self)
    #expect(one == 1 && none.isEmpty && some == dictionary && three == 3 && both == structure, sourceLocation: place)
    #expect(try [String: [Value]](Variant(dictionary)) == dictionary, sourceLocation: place)
    #expect(try Structure<UInt8, [Value], [Value], UInt8>(Variant(structure)) == structure, sourceLocation: place)
  }

  @Test func `bytes and booleans`() throws {
    try comesBack(UInt8.min, 1, 127, 128, .max)
    try comesBack(true, false)
  }

  @Test func `integers at their extremes`() throws {
    try comesBack(Int16.min, -1, 0, 1, .max)
    try comesBack(UInt16.min, 1, .max)
    try comesBack(Int32.min, -1, 0, 1, .max)
    try comesBack(UInt32.min, 1, .max)
    try comesBack(Int64.min, -1, 0, 1, .max)
    try comesBack(UInt64.min, 1, .max)
  }

  @Test func `doubles`() throws {
    try comesBack(
      0.0, 1.5, -1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
      .pi)
  }

  @Test func `doubles that are not equal to themselves, or equal to another`() throws {
    let values = [-0.0, Double.nan, -Double.nan, Double.signalingNaN, Double(nan: 7, signaling: false)]
    let bits = values.map(\.bitPattern)
    #expect(try signal(values).values(as: [Double].self).map(\.bitPattern) == bits)
    for value in values {
      #expect(try signal(value).values(as: Double.self).bitPattern == value.bitPattern)
      #expect(try Double(signal(Variant(value)).values(as: Variant.self)).bitPattern == value.bitPattern)
    }
  }

  @Test func `texts`() throws {
    try comesBack("", "a", "word", "é", "🎭🎭", "\u{1}\r\n\t\u{7F}", String(repeating: "long ", count: 10_000))
    // The strings are equal in Swift, but have other bytes.
    #expect(Array(try signal("e\u{301}").values(as: String.self).utf8) == Array("e\u{301}".utf8))
    try comesBack(ObjectPath.root, "/a", "/org/example/Thing_7")
    try comesBack(Signature.empty, "s", "a{sv}", Signature(unchecked: String(repeating: "y", count: 255)))
  }

  @Test func `arrays of arrays`() throws {
    try comesBack([Int64](), [1], [1, 2, 3])
    try comesBack([UInt8](), [1], [1, 2, 3, 4, 5, 6, 7, 8, 9])
    try comesBack([[String]](), [[]], [["a"], [], ["b", "c"]])
    try comesBack([[[Int16]]](), [[[]], []], [[[1, 2], []], []])
  }

  @Test func `dictionaries`() throws {
    try comesBack([String: Variant](), ["a": .byte(1)], ["a": "b", "c": .double(1.5), "": .structure([true])])
    try comesBack([UInt8: String](), [1: "a", 255: "b"])
    try comesBack([Int64: Int64](), [.min: .max, .max: .min])
    try comesBack([Bool: [Bool: Bool]](), [true: [false: true], false: [:]])
    try comesBack([ObjectPath: [String: [String: Variant]]](), ["/a": ["a.b": ["C": 1.5]]])
    try comesBack([Double: Signature](), [0.5: "s"])
    try comesBack(Dictionary(uniqueKeysWithValues: (0..<1000).map { (UInt32($0), "\($0)") }))
  }

  @Test func `data`() throws {
    try comesBack(Data(), Data([1]), Data(0..<255), Data(repeating: 7, count: 100_000))
    let slice = Data(0..<100)[10..<20]
    #expect(try signal(slice).values(as: Data.self) == slice)
    #expect(try signal(Data([1, 2])).values(as: [UInt8].self) == [1, 2] as [UInt8])
    #expect(try signal([1, 2] as [UInt8]).values(as: Data.self) == Data([1, 2]))
  }

  @Test func `structures`() throws {
    try comesBack(Structure(UInt8(1)), Structure(2))
    try comesBack(Structure(UInt8(1), "a", Int64(-1), [1.5]), Structure(0, "", 0, []))
    try comesBack(Structure(Structure(Structure("deep"), UInt8(1)), ["a": Structure(true, false)]))
    #expect(Structure(UInt8(1), "a").hashValue == Structure(UInt8(1), "a").hashValue)
    #expect(Structure(UInt8(1), "a") != Structure(UInt8(1), "b"))
  }
}
