import DBus
import DBusFoundation
import FoundationEssentials
import Testing

/// A value of a type that was not asked for is an error that names both types.
@Suite struct CodingMismatchTests {
  private func mismatch(_ expected: Signature, _ found: Signature) -> CodingError {
    .typeMismatch(expected: expected, found: found)
  }

  @Test func `a message with other values says both signatures`() throws {
    let message = try Message.signal(from: "/a", "a.b", "C", "text", UInt32(1))
    #expect(throws: mismatch("s", "su")) { try message.values(as: String.self) }
    #expect(throws: mismatch("sus", "su")) { try message.values(as: String.self, UInt32.self, String.self) }
    #expect(throws: mismatch("us", "su")) { try message.values(as: UInt32.self, String.self) }
    #expect(throws: mismatch("", "su")) { try message.values() }
    #expect(throws: mismatch("(su)", "su")) { try message.values(as: Structure<String, UInt32>.self) }
    #expect(throws: mismatch("vv", "su")) { try message.values(as: Variant.self, Variant.self) }
    let nothing = try Message.signal(from: "/a", "a.b", "C")
    #expect(throws: mismatch("s", "")) { try nothing.values(as: String.self) }
    #expect(throws: mismatch("aay", "as")) { try signal(["a"]).values(as: [[UInt8]].self) }
    #expect(throws: mismatch("a{sv}", "a{ss}")) { try signal(["a": "b"]).values(as: [String: Variant].self) }
    #expect(throws: mismatch("h", "u")) { try signal(UInt32(0)).values(as: OwnedFileDescriptor.self) }
  }

  /// One value of every type, each of which can be read only as its own type.
  private static let each: [Variant] = [
    .byte(1), .boolean(true), .int16(1), .uint16(1), .int32(1), .uint32(1), .int64(1), .uint64(1), .double(1),
    .string("s"), .objectPath("/o"), .signature("g"), .bytes([1]), .array(of: "s", []), .array(of: "b", []),
    .dictionary(key: "s", value: "v", [:]), .structure(["s"]), .variant("v"),
  ]

  private static let types: [any BusValue.Type] = [
    UInt8.self, Bool.self, Int16.self, UInt16.self, Int32.self, UInt32.self, Int64.self, UInt64.self, Double.self,
    String.self, ObjectPath.self, Signature.self, OwnedFileDescriptor.self, [UInt8].self, Data.self, [String].self,
    [Bool].self, [Variant].self, [[String]].self, [String: Variant].self, [String: String].self,
    Structure<String>.self, Structure<String, String>.self, Variant.self,
  ]

  @Test(arguments: each) func `a variant is read as what it holds and as nothing else`(variant: Variant) {
    for type in Self.types {
      if variant.contentSignature == type.signature {
        #expect(throws: Never.self, "\(type)") { _ = try type.init(variant) }
      } else {
        let error = mismatch(type.signature, variant.contentSignature)
        #expect(throws: error, "\(type)") { _ = try type.init(variant) }
      }
    }
  }

  @Test func `elements of a composed variant are looked at one by one`() {
    #expect(throws: mismatch("s", "y")) { try [String](Variant.array(of: "s", ["a", .byte(1)])) }
    #expect(throws: mismatch("s", "y")) {
      try [String: String](Variant.dictionary(key: "s", value: "s", ["a": .byte(1)]))
    }
    #expect(throws: mismatch("as", "ay")) { try [[String]](Variant.array(of: "as", [.bytes([])])) }
  }

  // MARK: Reading by hand

  /// Reads one more value than its signature says, as a hand-written type might.
  private struct Greedy: Liar {
    static var signature: Signature { "(y)" }
    static func read(from reader: inout MessageReader) throws(CodingError) -> Greedy {
      try reader.structure { (members) throws(CodingError) in
        _ = try UInt8.read(from: &members)
        _ = try String.read(from: &members)
      }
      return Greedy()
    }
    func write(to writer: inout MessageWriter) throws(CodingError) { try Structure(UInt8(1)).write(to: &writer) }
  }

  @Test func `whoever reads past the end is told so`() {
    #expect(throws: CodingError.endOfValues(expected: "s")) { try signal(Greedy()).values(as: Greedy.self) }
  }

  /// Declares one type and reads another.
  private struct Other<Truth: BusValue>: Liar {
    static var signature: Signature { "(s)" }
    static func read(from reader: inout MessageReader) throws(CodingError) -> Other {
      _ = try Truth.read(from: &reader)
      return Other()
    }
    func write(to writer: inout MessageWriter) throws(CodingError) { try Structure("a").write(to: &writer) }
  }

  private func error<Truth: BusValue>(readingStructureAs type: Truth.Type) -> CodingError? {
    #expect(throws: CodingError.self) { _ = try signal(Other<Truth>()).values(as: Other<Truth>.self) }
  }

  @Test func `whoever reads another type than is there is told both`() {
    #expect(error(readingStructureAs: UInt8.self) == mismatch("y", "(s)"))
    #expect(error(readingStructureAs: String.self) == mismatch("s", "(s)"))
    #expect(error(readingStructureAs: [UInt8].self) == mismatch("ay", "(s)"))
    #expect(error(readingStructureAs: Variant.self) == mismatch("v", "(s)"))
    #expect(error(readingStructureAs: OwnedFileDescriptor.self) == mismatch("h", "(s)"))
    #expect(error(readingStructureAs: Structure<UInt8>.self) == mismatch("y", "s"))
    #expect(error(readingStructureAs: Structure<String, UInt8>.self) == .endOfValues(expected: "y"))
    guard case .typeMismatch(_, "(s)") = error(readingStructureAs: [String].self) else {
      Issue.record("an array that is none")
      return
    }
  }

  @Test func `errors are sentences`() {
    #expect("\(mismatch("s", "u"))" == "expected a value of type \"s\", found \"u\"")
    #expect("\(CodingError.endOfValues(expected: "s"))" == "the values end where one of type \"s\" was expected")
    #expect("\(CodingError.endOfValues(expected: ""))" == "the values end where one more was expected")
    #expect("\(CodingError.containsNUL)" == "a string has an embedded NUL, which D-Bus cannot carry")
    #expect("\(CodingError.nestedTooDeep)" == "containers nest deeper than 64")
    #expect("\(CodingError.arrayTooLong(70_000_000))" == "an array has 70000000 bytes, and 67108864 is the limit")
    #expect(CodingError.messageTooLong.errorReply.name == .limitsExceeded)
    #expect(CodingError.containsNUL.errorReply.name == .invalidArgs)
    #expect(CodingError.outOfMemory.errorReply.name == .noMemory)
  }
}
