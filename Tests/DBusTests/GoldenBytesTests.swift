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
    #expect(try message.bytes(serial: 7) == GoldenBytes.basic(big: false))
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

  @Test(arguments: [false, true]) func `basic types are read`(big: Bool) throws {
    let message = try Message(bytes: GoldenBytes.basic(big: big))
    #expect(message.kind == .signal && message.serial == 7)
    #expect(message.path == "/a" && message.interface == "a.b" && message.member == "C")
    #expect(message.signature == "ybnqiuxtdsogv")
    #expect(try message.variants() == basic)
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
    #expect(reply.kind == .methodReturn && reply.serial == 8 && reply.replySerial == 7 && !reply.expectsReply)
    #expect(try reply.values(as: String.self) == "hi")
    let error = try Message(bytes: GoldenBytes.error(big: big))
    #expect(error.kind == .error && error.serial == 8 && error.replySerial == 7 && error.errorName == "e.f")
    #expect(try error.values(as: String.self) == "why")
  }

  @Test(arguments: GoldenBytes.all) func `the length of a message stands in its beginning`(bytes: [UInt8]) {
    #expect(Message.length(ofMessageBeginningWith: Array(bytes.prefix(16))) == bytes.count)
  }

  @Test func `a message of a kind that is not known yet is of no kind`() throws {
    var bytes = GoldenBytes.reply(big: false)
    bytes[1] = 9
    let message = try Message(bytes: bytes)
    #expect(message.kind == .unknown)
    #expect(try message.variants() == ["hi"])
  }
}

/// Messages put together by hand from the specification, in both byte orders. The fields of the header stand in the order
/// in which libdbus writes them; the specification leaves it open.
enum GoldenBytes {
  /// A number as it stands on the wire.
  private static func number<Value: FixedWidthInteger>(_ value: Value, big: Bool) -> [UInt8] {
    withUnsafeBytes(of: big ? value.bigEndian : value.littleEndian) { Array($0) }
  }

  private static func joined(_ parts: [[UInt8]]) -> [UInt8] { parts.flatMap(\.self) }

  // MARK: Basic types

  /// A signal with one value of each basic type and a variant, number 7.
  static func basic(big: Bool) -> [UInt8] {
    joined([
      [big ? 0x42 : 0x6C],  //  0: 'B', big endian, or 'l', little endian
      [0x04],  //  1: a signal
      [0x01],  //  2: no reply is expected
      [0x01],  //  3: the version of the protocol
      number(UInt32(72), big: big),  //  4: the body
      number(UInt32(7), big: big),  //  8: serial
      number(UInt32(67), big: big),  // 12: the fields
      [0x01, 0x01, 0x6F, 0x00],  // 16: the path, of type "o"
      number(UInt32(2), big: big), [0x2F, 0x61, 0x00],  // 20: "/a"
      [0x00, 0x00, 0x00, 0x00, 0x00],  // 27: fields begin at a multiple of 8
      [0x02, 0x01, 0x73, 0x00],  // 32: the interface, of type "s"
      number(UInt32(3), big: big), [0x61, 0x2E, 0x62, 0x00],  // 36: "a.b"
      [0x00, 0x00, 0x00, 0x00],  // 44
      [0x03, 0x01, 0x73, 0x00],  // 48: the member, of type "s"
      number(UInt32(1), big: big), [0x43, 0x00],  // 52: "C"
      [0x00, 0x00, 0x00, 0x00, 0x00, 0x00],  // 58
      [0x08, 0x01, 0x67, 0x00],  // 64: the signature, of type "g"
      [0x0D], Array("ybnqiuxtdsogv".utf8), [0x00],  // 68
      [0x00, 0x00, 0x00, 0x00, 0x00],  // 83: the body begins at a multiple of 8
      [0x2A],  //  0: y 42
      [0x00, 0x00, 0x00],  //  1
      number(UInt32(1), big: big),  //  4: b true
      number(Int16(-2), big: big),  //  8: n
      number(UInt16(0xBEEF), big: big),  // 10: q
      number(Int32(-3), big: big),  // 12: i
      number(UInt32(0xDEAD_BEEF), big: big),  // 16: u
      [0x00, 0x00, 0x00, 0x00],  // 20
      number(Int64(-4), big: big),  // 24: x
      number(UInt64(0x0123_4567_89AB_CDEF), big: big),  // 32: t
      number(UInt64(0x3FF8_0000_0000_0000), big: big),  // 40: d 1.5
      number(UInt32(3), big: big), [0x68, 0xC3, 0xA9, 0x00],  // 48: s "hé"
      number(UInt32(2), big: big), [0x2F, 0x61, 0x00],  // 56: o "/a"
      [0x02, 0x61, 0x73, 0x00],  // 63: g "as"
      [0x01, 0x71, 0x00], number(UInt16(7), big: big),  // 67: v, of type "q"
    ])
  }

  // MARK: Containers

  /// A call with arrays, a dictionary and a structure, number 0x01020304.
  static func containers(big: Bool) -> [UInt8] {
    joined([
      [big ? 0x42 : 0x6C, 0x01, 0x00, 0x01],  //  0: a call that expects its reply
      number(UInt32(76), big: big),  //  4: the body
      number(UInt32(0x0102_0304), big: big),  //  8: serial
      number(UInt32(87), big: big),  // 12: the fields
      [0x01, 0x01, 0x6F, 0x00], number(UInt32(2), big: big), Array("/a".utf8), [0],  // 16: the path
      [0x00, 0x00, 0x00, 0x00, 0x00],  // 27
      [0x06, 0x01, 0x73, 0x00], number(UInt32(3), big: big), Array("c.d".utf8), [0],  // 32: the destination
      [0x00, 0x00, 0x00, 0x00],  // 44
      [0x02, 0x01, 0x73, 0x00], number(UInt32(3), big: big), Array("a.b".utf8), [0],  // 48: the interface
      [0x00, 0x00, 0x00, 0x00],  // 60
      [0x03, 0x01, 0x73, 0x00], number(UInt32(1), big: big), Array("M".utf8), [0],  // 64: the member
      [0x00, 0x00, 0x00, 0x00, 0x00, 0x00],  // 74
      [0x08, 0x01, 0x67, 0x00], [17], Array("ayaxa{sv}(ix)aaib".utf8), [0],  // 80: the signature
      [0x00],  // 103
      number(UInt32(3), big: big), [0x01, 0x02, 0x03],  //  0: ay, three bytes
      [0x00],  //  7
      number(UInt32(0), big: big),  //  8: ax, nothing
      [0x00, 0x00, 0x00, 0x00],  // 12: and yet the padding in front of its elements
      number(UInt32(16), big: big),  // 16: a{sv}, 16 bytes from 24 on
      [0x00, 0x00, 0x00, 0x00],  // 20
      number(UInt32(1), big: big), Array("k".utf8), [0],  // 24: the key
      [0x01, 0x75, 0x00],  // 30: the value's type "u"
      [0x00, 0x00, 0x00],  // 33
      number(UInt32(5), big: big),  // 36
      number(Int32(-1), big: big),  // 40: (ix), at a multiple of 8
      [0x00, 0x00, 0x00, 0x00],  // 44
      number(Int64(9), big: big),  // 48
      number(UInt32(12), big: big),  // 56: aai, 12 bytes
      number(UInt32(4), big: big), number(Int32(-2), big: big),  // 60: one number
      number(UInt32(0), big: big),  // 68: none
      number(UInt32(1), big: big),  // 72: b true
    ])
  }

  // MARK: Replies

  /// The answer to call 7, number 8.
  static func reply(big: Bool) -> [UInt8] {
    joined([
      [big ? 0x42 : 0x6C, 0x02, 0x01, 0x01],  //  0: a reply
      number(UInt32(7), big: big),  //  4: the body
      number(UInt32(8), big: big),  //  8: serial
      number(UInt32(15), big: big),  // 12: the fields
      [0x05, 0x01, 0x75, 0x00], number(UInt32(7), big: big),  // 16: the serial of the call
      [0x08, 0x01, 0x67, 0x00], [1], Array("s".utf8), [0],  // 24: the signature
      [0x00],  // 31
      number(UInt32(2), big: big), Array("hi".utf8), [0],  //  0: s "hi"
    ])
  }

  /// The error that answers call 7, number 8.
  static func error(big: Bool) -> [UInt8] {
    joined([
      [big ? 0x42 : 0x6C, 0x03, 0x01, 0x01],  //  0: an error
      number(UInt32(8), big: big),  //  4: the body
      number(UInt32(8), big: big),  //  8: serial
      number(UInt32(31), big: big),  // 12: the fields
      [0x04, 0x01, 0x73, 0x00], number(UInt32(3), big: big), Array("e.f".utf8), [0],  // 16: the name of the error
      [0x00, 0x00, 0x00, 0x00],  // 28
      [0x05, 0x01, 0x75, 0x00], number(UInt32(7), big: big),  // 32: the serial of the call
      [0x08, 0x01, 0x67, 0x00], [1], Array("s".utf8), [0],  // 40: the signature
      [0x00],  // 47
      number(UInt32(3), big: big), Array("why".utf8), [0],  //  0: s "why"
    ])
  }

  static let all = [false, true].flatMap { [basic(big: $0), containers(big: $0), reply(big: $0), error(big: $0)] }
}
