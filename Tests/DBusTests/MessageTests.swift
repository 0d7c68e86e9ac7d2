import DBus
import SceneTestSupport
import Testing

/// What a message says about itself, and which messages cannot be made. Hostile bytes give an error or a message, and never anything else.
@Suite struct MessageTests {
  private func call() throws -> Message {
    try Message.methodCall(
      to: "org.example.Greeter", at: "/org/example", "org.example.Greeter", "Greet", "Ann", UInt8(3))
  }

  /// A call as its receiver sees it.
  private func received(serial: UInt32 = 7) throws -> Message { try Message(bytes: call().bytes(serial: serial)) }

  @Test func `a call`() throws {
    let message = try call()
    #expect(message.kind == .methodCall)
    #expect(message.destination == "org.example.Greeter" && message.path == "/org/example")
    #expect(message.interface == "org.example.Greeter" && message.member == "Greet")
    #expect(message.sender == nil && message.errorName == nil)
    #expect(message.serial == 0 && message.replySerial == 0)
    #expect(message.signature == "sy")
    #expect(message.expectsReply == true)
  }

  @Test func `a call without destination and interface`() throws {
    let message = try Message(bytes: Message.methodCall(at: "/", nil, "Greet").bytes(serial: 1))
    #expect(message.destination == nil && message.interface == nil)
    #expect(message.path == "/" && message.member == "Greet" && message.signature == "")
  }

  @Test func `a signal, to all and to one`() throws {
    let toAll = try Message.signal(from: "/a", "a.b", "C", true)
    #expect(toAll.kind == .signal && toAll.destination == nil && !toAll.expectsReply)
    #expect(toAll.path == "/a" && toAll.interface == "a.b" && toAll.member == "C")
    let toOne = try Message.signal(from: "/a", "a.b", "C", to: ":1.7", true)
    #expect(toOne.destination == ":1.7")
    #expect(try Message(bytes: toOne.bytes(serial: 2)).destination == ":1.7")
  }

  @Test func `an error's text loses what cannot be carried`() throws {
    let message = try Message.error(to: received(), .failed, "one\0two\0\u{301}\0")
    #expect(try message.values(as: String.self) == "onetwo\u{301}")
    #expect(try Message.error(to: received(), .failed, "").values(as: String.self) == "")
  }

  @Test func `the serial number is the one it was given`() throws {
    #expect(try received(serial: .max).serial == .max)
    #expect(try received(serial: 0).serial == 1)
    let message = try call()
    _ = try message.bytes(serial: 9)
    #expect(message.serial == 0)
  }

  /// libdbus would end the process here.
  @Test func `a call that was never sent has no reply`() throws {
    let message = try call()
    let expected = CodingError.invalidValue("a message that was never sent cannot be answered")
    #expect(codingError { try Message.methodReturn(to: message) } == expected)
    #expect(codingError { try Message.error(to: message, .failed, "") } == expected)
  }

  // MARK: Reserved by libdbus

  /// libdbus compares only the beginnings of these names, and closes a connection on which it reads one.
  @Test func `the path and the interface of libdbus itself are refused, and what begins like them`() throws {
    for (path, interface) in [
      ("/a", "org.freedesktop.DBus.Local"), ("/a", "org.freedesktop.DBus.Locals"),
      ("/org/freedesktop/DBus/Local", "a.b"), ("/org/freedesktop/DBus/Local/x", "a.b"),
    ] as [(ObjectPath, InterfaceName)] {
      let reserved = CodingError.reserved(path == "/a" ? "org.freedesktop.DBus.Local" : "/org/freedesktop/DBus/Local")
      #expect(codingError { try Message.signal(from: path, interface, "Disconnected") } == reserved)
      #expect(codingError { try Message.methodCall(at: path, interface, "Disconnected") } == reserved)
    }
    _ = try Message.signal(from: "/org/freedesktop/DBus/Loca", "org.freedesktop.DBus.Loca", "C")
    #expect("\(CodingError.reserved("a.b"))" == "\"a.b\" is reserved for libdbus itself")
  }

  @Test func `bytes that use the reserved names are no message`() throws {
    var bytes = try Message.signal(from: "/a", "org.freedesktop.DBus.Lokal", "C").bytes(serial: 1)
    #expect(try Message(bytes: bytes).member == "C")
    let name = try #require(bytes.firstRange(of: Array("Lokal".utf8)))
    bytes.replaceSubrange(name, with: Array("Local".utf8))
    #expect(codingError { try Message(bytes: bytes) } == Self.noMessage)
  }

  // MARK: Bytes

  static let noMessage = CodingError.invalidValue("these bytes are not a whole D-Bus message")

  @Test func `only a whole message is one`() throws {
    let bytes = try call().bytes(serial: 1)
    for length in 0..<bytes.count {
      let part = Array(bytes.prefix(length))
      #expect(codingError { try Message(bytes: part) } == Self.noMessage)
      #expect(Message.length(ofMessageBeginningWith: part) == (length < 16 ? nil : bytes.count))
    }
    #expect(try Message(bytes: bytes).member == "Greet")
    let garbage = Array("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8)
    #expect(codingError { try Message(bytes: garbage) } == Self.noMessage)
    #expect(Message.length(ofMessageBeginningWith: garbage) == nil)
  }

  @Test func `bytes behind a message are no part of it`() throws {
    let bytes = try call().bytes(serial: 1)
    for rest in [[0], Array("l".utf8), bytes, [UInt8](repeating: 0, count: 100)] as [[UInt8]] {
      #expect(codingError { try Message(bytes: bytes + rest) } == Self.noMessage)
      #expect(Message.length(ofMessageBeginningWith: bytes + rest) == bytes.count)
    }
  }

  // MARK: Embedded NULs

  private static let texts = ["\0", "a\0", "\0a", "one\0two", "é\0\u{301}", "\0\0\0"]

  @Test(arguments: texts) func `a string with a NUL is refused wherever it stands`(text: String) {
    #expect(codingError(of: text) == .containsNUL)
    #expect(codingError(of: ["a", text]) == .containsNUL)
    #expect(codingError(of: [text: "a"]) == .containsNUL)
    #expect(codingError(of: ["a": text]) == .containsNUL)
    #expect(codingError(of: Structure(UInt8(1), text)) == .containsNUL)
    #expect(codingError(of: Variant(text)) == .containsNUL)
    #expect(codingError(of: Variant([[text: Variant(Structure(text))]])) == .containsNUL)
    #expect(codingError(of: Variant.dictionary(key: "s", value: "y", [.string(text): .byte(1)])) == .containsNUL)
    #expect(codingError(of: [[["a": Structure(Variant.variant(.string(text)))]]]) == .containsNUL)
    #expect(codingError { try Message.methodCall(at: "/", nil, "M", "a", text) } == .containsNUL)
  }

  // MARK: Hostile bytes

  private static let interesting: [UInt8] =
    [0, 1, 2, 4, 7, 8, 0x10, 0x20, 0x40, 0x7F, 0x80, 0xFE, 0xFF] + Array("alBvshyg({})".utf8)

  private static func mutate(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0...random.below(3) {
      let place = random.below(bytes.count)
      switch random.below(10) {
      case 0: bytes[place] ^= 1 << UInt8(random.below(8))
      case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
      case 2: if random.once(in: 4) { bytes.remove(at: place) }
      case 3: if random.once(in: 4) { bytes.insert(random.one(of: interesting), at: place) }
      case 4: bytes[place] = bytes[random.below(bytes.count)]
      case 5: bytes[place] &+= random.once(in: 2) ? 1 : 255
      default: bytes[place] = random.one(of: interesting)
      }
      if bytes.isEmpty { return [0] }
    }
    return bytes
  }

  /// Reads everything. If libdbus accepted the bytes, they can be read, except for descriptors that did not come along.
  private func read(_ message: borrowing Message) throws -> Int {
    var found = message.serial == 0 ? 0 : 1
    for name in [
      message.path?.rawValue, message.interface?.rawValue, message.member?.rawValue, message.sender?.rawValue,
    ] {
      found += name?.utf8.count ?? 0
    }
    let count = try message.variants().count
    #expect(count == message.signature.completeTypes.count)
    #expect(throws: CodingError.self) { _ = try message.values(as: Signature.self, [[Int16]].self) }
    return found + count
  }

  private func survive(seed: UInt64, count: Int, from bytes: [[UInt8]]) -> Int {
    var random = SeededRandom(seed: seed)
    var messages = 0
    for _ in 0..<count {
      let mutated = Self.mutate(random.one(of: bytes), &random)
      do {
        let message = try Message(bytes: mutated)
        #expect(try read(message) > 0)
        messages += 1
      } catch CodingError.missingFileDescriptor {
        #expect(mutated.contains(UInt8(ascii: "h")))
      } catch CodingError.invalidValue("a dictionary's key is not a number") {
        #expect(mutated.contains(UInt8(ascii: "d")))
      } catch {
        #expect(error as? CodingError == Self.noMessage, "\(mutated)")
      }
    }
    return messages
  }

  @Test func `golden messages with a few bytes changed`() {
    let messages = survive(seed: 31, count: 40_000, from: GoldenBytes.all)
    #expect(messages > 2000 && messages < 38_000)
  }

  @Test func `variants with a few bytes changed`() throws {
    var generator = VariantGenerator(seed: 32)
    var bytes: [[UInt8]] = []
    while bytes.count < 200 {
      let made = try signal(generator.variant(depth: 6)).bytes(serial: 1)
      if made.count < 400 { bytes.append(made) }
    }
    let messages = survive(seed: 33, count: 20_000, from: bytes)
    #expect(messages > 1000 && messages < 19_000)
  }

  /// The signature promises a descriptor, but none came.
  @Test func `a descriptor that did not come is an error`() throws {
    var bytes = try signal(UInt32(0)).bytes(serial: 1)
    let place = try #require(bytes.firstRange(of: [0x67, 0x00, 0x01, 0x75, 0x00]))
    bytes[place.lowerBound + 3] = UInt8(ascii: "h")
    let message = try Message(bytes: bytes)
    #expect(message.signature == "h")
    let missing = CodingError.missingFileDescriptor
    #expect(missing.errorReply.name == .invalidArgs)
    #expect(throws: missing) { _ = try message.values(as: OwnedFileDescriptor.self) }
    #expect(throws: missing) { _ = try message.variants() }
  }

  @Test func `invalid UTF-8 is no message`() throws {
    let bytes = try signal("sixteen letters!").bytes(serial: 1)
    let place = try #require(bytes.firstRange(of: Array("sixteen".utf8))).lowerBound
    let wrong: [[UInt8]] = [
      [0xFF], [0xC3, 0x28], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82, 0x41], [0x00],
    ]
    for part in wrong {
      var changed = bytes
      changed.replaceSubrange(place..<(place + part.count), with: part)
      #expect(codingError { try Message(bytes: changed) } == Self.noMessage)
    }
  }

  @Test func `names that are none are no message`() throws {
    for (name, other) in [
      ("/org", "/or."), ("/org", "/or/"), ("i.face", "i.f.ce"), ("i.face", "iiface"), ("Membr", "Mem.r"),
    ] {
      let bytes = try Message.signal(from: "/org", "i.face", "Membr").bytes(serial: 1)
      var changed = bytes
      let place = try #require(bytes.firstRange(of: Array(name.utf8)))
      changed.replaceSubrange(place, with: Array(other.utf8))
      let made = codingError { try Message(bytes: changed) }
      #expect(made == (other == "i.f.ce" ? nil : Self.noMessage))
    }
  }

  /// 64 nested variants are the deepest allowed; the bytes of one more are made by hand.
  @Test func `what nests too deep is no message`() throws {
    func bytes(_ depth: Int) throws -> [UInt8] {
      let variants = [[UInt8]](repeating: [1, 0x76, 0], count: depth - 1)
      let body: [UInt8] = variants.joined() + [1, 0x79, 0, 7]
      var bytes = try signal(Variant.byte(7)).bytes(serial: 1)
      bytes.removeLast(4)
      bytes[4] = UInt8(body.count)
      return bytes + body
    }
    let deepest = (0..<63).reduce(Variant.byte(7)) { inner, _ in .variant(inner) }
    #expect(try Message(bytes: bytes(64)).values(as: Variant.self) == deepest)
    let deeper = try bytes(65)
    #expect(codingError { try Message(bytes: deeper) } == Self.noMessage)
  }
}
