import DBus
import DBusFoundation
import FoundationEssentials
import Testing

/// Each limit, at n and at n + 1. One after the other: the largest take a few hundred megabytes.
@Suite(.serialized) struct LimitsTests {
  private static let arrayLimit = MessageWriter.maximumArrayLength

  // MARK: Arrays

  @Test func `an array of 64 MiB of bytes comes back, and one byte more is refused`() throws {
    #expect(Self.arrayLimit == 67_108_864)
    var data = Data(repeating: 7, count: Self.arrayLimit)
    data[Self.arrayLimit - 1] = 8
    #expect(try Message(bytes: signal(data).bytes(serial: 1)).values(as: Data.self) == data)
    data.append(9)
    #expect(codingError(of: data) == .arrayTooLong(Self.arrayLimit + 1))
    #expect(codingError(of: [UInt8](data)) == .arrayTooLong(Self.arrayLimit + 1))
    #expect(codingError(of: Variant.bytes([UInt8](data))) == .arrayTooLong(Self.arrayLimit + 1))
  }

  @Test func `an array of 64 MiB of larger numbers fits, and one number more is refused`() throws {
    let count = Self.arrayLimit / 8
    #expect(codingError(of: [Double](repeating: 1.5, count: count)) == nil)
    #expect(codingError(of: [Double](repeating: 1.5, count: count + 1)) == .arrayTooLong(Self.arrayLimit + 8))
    #expect(codingError(of: [Int16](repeating: 1, count: count * 4)) == nil)
    #expect(codingError(of: [Int16](repeating: 1, count: count * 4 + 1)) == .arrayTooLong(Self.arrayLimit + 2))
  }

  /// Each of the 64 strings takes one MiB, with its length, its NUL and its padding.
  @Test func `an array of 64 MiB of strings comes back, and one byte more is refused`() throws {
    let mebibyte = 1 << 20
    let text = String(repeating: "x", count: mebibyte - 5)
    var texts = [String](repeating: text, count: 64)
    #expect(try Message(bytes: signal(texts).bytes(serial: 1)).values(as: [String].self) == texts)
    texts[63] += "x"
    #expect(codingError(of: texts) == .arrayTooLong(Self.arrayLimit + 1))
  }

  @Test func `the length of an array of arrays counts all that is in it`() throws {
    let half = Data(count: Self.arrayLimit / 2 - 4)
    #expect(codingError(of: [half, half]) == nil)
    #expect(codingError(of: [half, half, Data()]) == .arrayTooLong(Self.arrayLimit + 4))
    // The padding before an array's first element is not part of its length.
    let numbers = [Int64](repeating: 1, count: Self.arrayLimit / 8)
    #expect(codingError { try Message.signal(from: "/a", "a.b", "C", numbers) } == nil)
  }

  // MARK: Messages

  @Test func `the longest message, with the longest header, comes back, and one byte more is refused`() throws {
    let path = ObjectPath(unchecked: "/" + String(repeating: "p", count: (1 << 16) - 1))
    let name = "a." + String(repeating: "b", count: 253)
    let (destination, interface) = try (BusName(name), InterfaceName(name))
    let member = try MemberName(String(repeating: "m", count: 255))
    // The content of the largest body: two arrays, each with its length.
    let first = Data(count: Self.arrayLimit)
    var second = Data(count: MessageWriter.maximumBodyLength - Self.arrayLimit - 8)
    func make() throws -> Message {
      try Message.methodCall(to: destination, at: path, interface, member, first, second)
    }
    let bytes = try make().bytes(serial: 1)
    // A bus passes it on.
    #expect(bytes.count <= 1 << 27)
    let again = try Message(bytes: bytes)
    #expect(again.path == path)
    let (one, two) = try again.values(as: Data.self, Data.self)
    #expect(one.count == first.count && two.count == second.count)
    second.append(0)
    #expect(codingError { try make() } == .messageTooLong)
  }

  @Test func `a single string may be longer than any array, and not longer than the message`() throws {
    let room = MessageWriter.maximumBodyLength
    var text = String(repeating: "x", count: room - 5)
    #expect(codingError(of: text) == nil)
    text += "x"
    #expect(codingError(of: text) == .messageTooLong)
  }

  // MARK: Names in the header

  @Test func `a path of 64 KiB is carried, and one byte more is refused`() throws {
    var text = "/" + String(repeating: "p", count: (1 << 16) - 1)
    let path = try ObjectPath(text)
    #expect(try Message(bytes: Message.signal(from: path, "a.b", "C").bytes(serial: 1)).path == path)
    #expect(try Message(bytes: Message.methodCall(at: path, nil, "C").bytes(serial: 1)).path == path)
    text += "p"
    let longer = try ObjectPath(text)
    #expect(codingError { try Message.signal(from: longer, "a.b", "C") } == .pathTooLong((1 << 16) + 1))
    #expect(codingError { try Message.methodCall(at: longer, nil, "C") } == .pathTooLong((1 << 16) + 1))
    // In the body a path may have any length.
    #expect(try signal(longer).values(as: ObjectPath.self) == longer)
  }

  @Test func `names of 255 bytes are carried in every field`() throws {
    let dotted = "a." + String(repeating: "b", count: 253)
    let name = try BusName(dotted)
    let (interface, error) = try (InterfaceName(dotted), ErrorName(dotted))
    let member = try MemberName(String(repeating: "m", count: 255))
    let call = try Message(bytes: Message.methodCall(to: name, at: "/", interface, member).bytes(serial: 1))
    #expect(call.destination == name && call.interface == interface && call.member == member)
    #expect(try Message.error(to: call, error, "").errorName == error)
  }

  // MARK: The tests of variants have nesting and signatures; those of descriptors have descriptors

  @Test func `64 containers nest whatever Swift types they come from, and 65 do not`() {
    let inner = (0..<61).reduce(Variant.byte(1)) { inner, _ in .variant(inner) }
    #expect(codingError(of: [[inner]]) == nil)
    #expect(codingError(of: [[[inner]]]) == .nestedTooDeep)
    #expect(codingError(of: Structure(Structure(inner))) == nil)
    #expect(codingError(of: Structure(Structure(Structure(inner)))) == .nestedTooDeep)
    #expect(codingError(of: ["k": inner]) == nil)
    #expect(codingError(of: [["k": inner]]) == .nestedTooDeep)
    #expect(codingError(of: [Variant(["k": inner])]) == .nestedTooDeep)
  }
}
