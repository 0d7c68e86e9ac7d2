import DBus
import SceneTestSupport
import Testing

/// Hostile bytes give an error or a message, and never anything else.
@Suite struct MessageHostileBytesTests {
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
        #expect(error as? CodingError == MessageTests.noMessage, "\(mutated)")
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
      #expect(codingError { try Message(bytes: changed) } == MessageTests.noMessage)
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
      #expect(made == (other == "i.f.ce" ? nil : MessageTests.noMessage))
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
    #expect(codingError { try Message(bytes: deeper) } == MessageTests.noMessage)
  }
}
