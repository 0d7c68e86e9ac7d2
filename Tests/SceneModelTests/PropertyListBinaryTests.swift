import SceneModel
import SceneTestSupport
import Testing

@Suite struct PropertyListBinaryTests {
  private static let ones = [UInt8](repeating: 0xFF, count: 8)
  private static let zeros = [UInt8](repeating: 0, count: 8)

  private static let good: [([[UInt8]], Value)] = [
    ([[0x00]], nil), ([[0x08]], false), ([[0x09]], true),
    // Unsigned up to four bytes, signed from eight bytes on.
    ([[0x10, 0xFF]], 255), ([[0x11, 0xFF, 0xFF]], 65535), ([[0x12, 0xFF, 0xFF, 0xFF, 0xFF]], 4_294_967_295),
    ([[0x13] + ones], -1), ([[0x14] + zeros + [0x7F] + ones.dropLast()], .integer(.max)),
    ([[0x14] + ones + [0x80] + zeros.dropLast()], .integer(.min)),
    ([[0x22, 0x3F, 0xC0, 0, 0]], 1.5), ([[0x23, 0xBF, 0xF8, 0, 0, 0, 0, 0, 0]], -1.5),
    ([[0x33] + zeros], .date(Instant(microseconds: 978_307_200_000_000))),
    ([[0x33, 0xBF, 0xE0, 0, 0, 0, 0, 0, 0]], .date(Instant(microseconds: 978_307_199_500_000))),
    ([[0x42, 1, 2]], .data([1, 2])), ([[0x40]], .data([])), ([[0x50]], ""), ([[0x51, 0x61]], "a"),
    ([[0x5F, 0x10, 1, 0x61]], "a"), ([[0x5F, 0x13, 0, 0, 0, 0, 0, 0, 0, 1, 0x61]], "a"), ([[0x51, 0]], "\0"),
    ([[0x62, 0xD8, 0x3C, 0xDF, 0xAD]], "🎭"), ([[0x61, 0, 0x61]], "a"), ([[0xA0]], []), ([[0xD0]], [:]),
    ([[0xA2, 1, 1], [0x09]], [true, true]), ([[0xC2, 1, 2], [0x09], [0x08]], .set([true, false])), ([[0xC0]], .set([])),
    ([[0xD2, 1, 2, 2, 1], [0x51, 0x61], [0x61, 0, 0x62]], ["a": "b", "b": "a"]),
    // An object may be shared, as long as no object contains itself.
    ([[0xA3, 1, 1, 2], [0xA1, 2], [0xA0]], [[[]], [[]], []]), ([[0x09], [0x7F]], true),
  ]

  @Test(arguments: good)
  func `each kind of object is read`(objects: [[UInt8]], value: Value) throws {
    for size in 1...8 {
      #expect(try PropertyList.read(BinaryPropertyList.file(objects, offsetSize: size)) == value)
    }
  }

  @Test(arguments: 1...8)
  func `references may be of any size up to eight bytes`(size: Int) throws {
    let number = { BinaryPropertyList.number($0, size: size) }
    let objects = [[0xD1] + number(1) + number(2), [0x51, 0x61], [0xA1] + number(3), [0x09]]
    #expect(try PropertyList.read(BinaryPropertyList.file(objects, referenceSize: size)) == ["a": [true]])
  }

  private static let bad: [([[UInt8]], String)] = [
    ([[0x14] + zeros + [0x80] + zeros.dropLast()], "byte 8: expected an integer from -2^63 to 2^63-1"),
    ([[0x14] + ones + ones.map { _ in 0x7F }], "byte 8: expected an integer from -2^63 to 2^63-1"),
    ([[0x15]], "byte 8: expected an object, got the unknown kind 0x15"),
    ([[0x23, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], "byte 8: expected a finite number"),
    ([[0x22, 0x7F, 0xC0, 0, 0]], "byte 8: expected a finite number"),
    ([[0x33, 0x7F, 0xF0, 0, 0, 0, 0, 0, 0]], "byte 8: expected a date of the years 0000 to 9999"),
    ([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]], "byte 8: expected a date of the years 0000 to 9999"),
    ([[0x33, 0x42, 0x50, 0, 0, 0, 0, 0, 0]], "byte 8: expected a date of the years 0000 to 9999"),
    ([[0x33, 0xFF, 0xEF] + zeros.dropLast(2)], "byte 8: expected a date of the years 0000 to 9999"),
    ([[0x51, 0x80]], "byte 8: expected ASCII"),
    ([[0x61, 0xD8, 0x3C]], "byte 8: expected UTF-16 with both halves of each surrogate pair"),
    ([[0x62, 0xDF, 0xAD, 0xD8, 0x3C]], "byte 8: expected UTF-16 with both halves of each surrogate pair"),
    ([[0x80, 1]], "byte 8: expected a value, got a UID, as keyed archives have them"),
    ([[0x0F]], "byte 8: expected an object, got the unknown kind 0xF"),
    ([[0xB0]], "byte 8: expected an object, got the unknown kind 0xB0"),
    ([[0x71, 0x61]], "byte 8: expected an object, got the unknown kind 0x71"),
    ([[0x52, 0x61]], "byte 8: expected an object that ends before the offset table"),
    ([[0x13, 0]], "byte 8: expected an object that ends before the offset table"),
    ([[0x14] + zeros], "byte 8: expected an object that ends before the offset table"),
    ([[0x5F]], "byte 9: expected a count"), ([[0x5F, 0x14] + zeros + zeros], "byte 9: expected a count"),
    ([[0x5F, 0x13] + ones], "byte 8: expected an object that ends before the offset table"),
    ([[0x6F, 0x13, 0x7F] + ones.dropLast()], "byte 8: expected an object that ends before the offset table"),
    ([[0xDF, 0x13, 0x7F] + ones.dropLast()], "byte 8: expected an object that ends before the offset table"),
    ([[0xA1, 1]], "byte 9: expected the number of an object, got 1"),
    ([[0xA2, 1, 9], [0x09]], "byte 10: expected the number of an object, got 9"),
    ([[0xD1, 1, 2], [0x10, 1], [0x09]], "byte 11: expected text as a key"),
    ([[0xD2, 1, 2, 3, 3], [0x51, 0x61], [0x61, 0, 0x61], [0x09]], "byte 8: expected no second key \"a\""),
    ([[0xC2, 1, 2], [0x09], [0x09]], "byte 8: expected each value of a set once"),
    ([[0xA1, 0]], "byte 8: expected a container that does not hold itself"),
    ([[0xA1, 1], [0xD1, 2, 0], [0x51, 0x61]], "byte 8: expected a container that does not hold itself"),
  ]

  @Test(arguments: bad)
  func `what is wrong is refused with its byte`(objects: [[UInt8]], description: String) {
    let fault = #expect(throws: Fault.self) { try PropertyList.read(BinaryPropertyList.file(objects)) }
    #expect(fault?.description == description)
    #expect(fault?.kind == .invalid)
  }

  /// The bytes at an offset from the end of a file of one object at byte 8, whose trailer begins at byte 10.
  private static let badTrailers: [(Int, [UInt8], String)] = [
    (26, [0], "byte 16: expected offsets and references of 1 to 8 bytes"),
    (26, [9], "byte 16: expected offsets and references of 1 to 8 bytes"),
    (25, [0], "byte 16: expected offsets and references of 1 to 8 bytes"),
    (24, zeros, "byte 26: expected the number of an object"),
    (24, zeros.dropLast() + [2], "byte 18: expected an offset for each object"),
    (24, ones, "byte 18: expected an offset for each object"),
    (16, zeros.dropLast() + [1], "byte 26: expected the number of an object"),
    (16, ones, "byte 26: expected the number of an object"),
    (8, zeros, "byte 34: expected the offset table within the file"),
    (8, zeros.dropLast() + [7], "byte 34: expected the offset table within the file"),
    (8, zeros.dropLast() + [11], "byte 34: expected the offset table within the file"),
    (8, zeros.dropLast() + [10], "byte 18: expected an offset for each object"),
    (8, ones, "byte 34: expected the offset table within the file"),
    (33, [7], "byte 9: expected the offset of an object"), (33, [9], "byte 9: expected the offset of an object"),
    (33, [255], "byte 9: expected the offset of an object"),
  ]

  @Test(arguments: badTrailers)
  func `nothing in the trailer is believed`(offset: Int, wrong: [UInt8], description: String) {
    var bytes = BinaryPropertyList.file([[0x09]])
    bytes.replaceSubrange((bytes.count - offset)..<(bytes.count - offset + wrong.count), with: wrong)
    let fault = #expect(throws: Fault.self) { try PropertyList.read(bytes) }
    #expect(fault?.description == description)
  }

  @Test func `a file that was cut off is refused wherever that was`() throws {
    let bytes = try Fixture.binary("Gallery")
    for count in 0..<bytes.count {
      let fault = #expect(throws: Fault.self) { try PropertyList.read(Array(bytes[..<count])) }
      #expect(count < 6 || fault?.place.hasPrefix("byte ") == true)
    }
    let other = #expect(throws: Fault.self) { try PropertyList.read(Array("bplist15".utf8) + bytes.dropFirst(8)) }
    #expect(other?.description == "byte 6: expected version 00 of the binary form")
  }
}
