import DBus
import Testing

/// The bytes that the binding writes follow the specification, and it reads the bytes of the specification, in both byte orders.
@Suite struct GoldenBytesTests {
  private let basic: [Variant] = [
    .byte(42), .boolean(true), .int16(-2), .uint16(0xBEEF), .int32(-3), .uint32(0xDEAD_BEEF), .int64(-4),
    .uint64(0x0123_4567_89AB_CDEF), .double(1.5), "hé", .objectPath("/a"), .signature("as"), .variant(.uint16(7)),
  ]

  private let containers: [Variant] = [
    .bytes([1, 2, 3]), .array(of: "x", []), .dictionary(key: "s", value: "v", ["k": .variant(.uint32(5))]),
    .structure([.int32(-1), .int64(9)]),
    .array(of: "ai", [.array(of: "i", [.int32(-2)]), .array(of: "i", [])]), true,
  ]

  // MARK: Writing

  @Test(.enabled(if: 1.littleEndian == 1)) func `basic types are written as the specification says`() throws {
    let message = try Message.signal(
      from: "/a", "a.b", "C", UInt8(42), true, Int16(-2), UInt16(0xBEEF), Int32(-3), UInt32(0xDEAD_BEEF), Int64(-4),
      UInt64(0x0123_4567_89AB_CDEF), 1.5, "hé", ObjectPath("/a"), Signature("as"), Variant.uint16(7))
    #expect(try message.bytes(serial: 7) == GoldenBytes.basicLittle)
  }

  @Test(.enabled(if: 1.littleEndian == 1)) func `containers are written as the specification says`() throws {
    let call = try Message.methodCall(
      to: "c.d", at: "/a", "a.b", "M", [1, 2, 3] as [UInt8], [Int64](), ["k": Variant.uint32(5)],
      Structure(Int32(-1), Int64(9)), [[Int32(-2)], []], true)
    #expect(try call.bytes(serial: 0x0102_0304) == GoldenBytes.containers(big: false))
  }

  /// A small message is made in one piece, a larger one value by value.
  @Test func `a message is the same on both sides of the size up to which it is made in one piece`() throws {
    for length in [1000, 2000, 2030, 2040, 2050, 4040, 4090, 4095, 4096, 4100] {
      let text = String(repeating: "x", count: length)
      let message = try Message.signal(from: "/a", "a.b", "C", text, [UInt64(7)], ["k": Variant.string(text)])
      #expect(message.serial == 0)
      let read = try Message(bytes: message.bytes(serial: 1))
      let (first, numbers, entries) = try read.values(as: String.self, [UInt64].self, [String: Variant].self)
      #expect(first == text && numbers == [7] && entries == ["k": .string(text)])
    }
  }

  @Test(.enabled(if: 1.littleEndian == 1)) func `replies are written as the specification says`() throws {
    let call = try Message(bytes: Message.methodCall(at: "/a", nil, "M").bytes(serial: 7))
    #expect(try Message.methodReturn(to: call, "hi").bytes(serial: 8) == GoldenBytes.reply(big: false))
    #expect(try Message.error(to: call, "e.f", "why").bytes(serial: 8) == GoldenBytes.error(big: false))
  }

  // MARK: Reading

  @Test(arguments: [GoldenBytes.basicLittle, GoldenBytes.basicBig]) func `basic types are read`(bytes: [UInt8]) throws {
    let message = try Message(bytes: bytes)
    #expect(message.kind == .signal && message.serial == 7)
    #expect(message.path == "/a" && message.interface == "a.b" && message.member == "C")
    #expect(message.signature == "ybnqiuxtdsogv")
    #expect(try message.variants() == basic)
    let values = try message.values(
      as: UInt8.self, Bool.self, Int16.self, UInt16.self, Int32.self, UInt32.self, Int64.self, UInt64.self, Double.self,
      String.self, ObjectPath.self, Signature.self, Variant.self)
    #expect(values.0 == 42 && values.1 == true && values.2 == -2 && values.3 == 0xBEEF && values.4 == -3)
    #expect(values.5 == 0xDEAD_BEEF && values.6 == -4 && values.7 == 0x0123_4567_89AB_CDEF && values.8 == 1.5)
    #expect(values.9 == "hé" && values.10 == "/a" && values.11 == "as" && values.12 == .uint16(7))
  }

  @Test(arguments: [false, true]) func `containers are read`(big: Bool) throws {
    let message = try Message(bytes: GoldenBytes.containers(big: big))
    #expect(message.kind == .methodCall && message.serial == 0x0102_0304 && message.destination == "c.d")
    #expect(message.path == "/a" && message.interface == "a.b" && message.member == "M")
    #expect(try message.variants() == containers)
    let values = try message.values(
      as: [UInt8].self, [Int64].self, [String: Variant].self, Structure<Int32, Int64>.self, [[Int32]].self, Bool.self)
    #expect(values.0 == [1, 2, 3] && values.1.isEmpty && values.2 == ["k": .uint32(5)])
    #expect(values.3 == Structure(-1, 9) && values.4 == [[-2], []] && values.5 == true)
  }

  @Test(arguments: [false, true]) func `replies are read`(big: Bool) throws {
    let reply = try Message(bytes: GoldenBytes.reply(big: big))
    #expect(reply.kind == .methodReturn && reply.serial == 8 && reply.replySerial == 7)
    #expect(try reply.values(as: String.self) == "hi")
    let error = try Message(bytes: GoldenBytes.error(big: big))
    #expect(error.kind == .error && error.serial == 8 && error.replySerial == 7 && error.errorName == "e.f")
    #expect(try error.values(as: String.self) == "why")
  }

  @Test(arguments: GoldenBytes.all) func `the length of a message stands in its beginning`(bytes: [UInt8]) {
    #expect(Message.length(ofMessageBeginningWith: Array(bytes.prefix(16))) == bytes.count)
  }

  @Test func `arrays of numbers of the other byte order are turned round whole`() throws {
    let little = try signal([Int32(1), -2, .max]).bytes(serial: 1)
    var big = little
    // The length of the body, the serial, the length of the fields; then the lengths of their texts and the body.
    for place in [4, 8, 12, 20, 36, 52] + Array(stride(from: little.count - 16, to: little.count, by: 4)) {
      big.replaceSubrange(place..<(place + 4), with: little[place..<(place + 4)].reversed())
    }
    big[0] = 0x42
    #expect(try Message(bytes: big).values(as: [Int32].self) == [1, -2, .max] as [Int32])
  }

  @Test func `a message of a kind that is not known yet is of no kind`() throws {
    var bytes = GoldenBytes.reply(big: false)
    bytes[1] = 9
    let message = try Message(bytes: bytes)
    #expect(message.kind == .unknown)
    #expect(try message.variants() == ["hi"])
  }
}
