import DBus
import SceneTestSupport

/// Makes values of every type, nested in each other, the same ones for the same seed. No file descriptors, which are equal
/// only to themselves, and no NaN, which is not even that.
struct VariantGenerator {
  indirect enum Shape {
    case basic(Signature)
    case array(Shape)
    case dictionary(Signature, Shape)
    case structure([Shape])
    case variant

    var signature: Signature { Signature(unchecked: text) }

    private var text: String {
      switch self {
      case .basic(let type): type.rawValue
      case .array(let element): "a\(element.text)"
      case .dictionary(let key, let value): "a{\(key)\(value.text)}"
      case .structure(let members): "(\(members.map(\.text).joined()))"
      case .variant: "v"
      }
    }
  }

  static let basicTypes: [Signature] = ["y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g"]

  var random: SeededRandom
  /// How many more values may be made, so that no document grows without limit.
  private var budget = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  /// A variant whose containers nest at most `depth` deep.
  mutating func variant(depth: Int) -> Variant {
    budget = 200
    return content(depth: depth)
  }

  private mutating func content(depth: Int) -> Variant {
    let shape = shape(depth: depth)
    return value(of: shape, depth: depth)
  }

  mutating func shape(depth: Int) -> Shape {
    if depth == 0 { return .basic(random.one(of: Self.basicTypes)) }
    switch random.below(8) {
    case 0, 1: return .array(shape(depth: depth - 1))
    case 2 where depth > 1: return .dictionary(random.one(of: Self.basicTypes), shape(depth: depth - 2))
    case 3:
      let first = shape(depth: depth - 1)
      return .structure([first] + random.several(2) { _ in .basic(Self.basicTypes[0]) } + [shape(depth: 0)])
    case 4: return .variant
    default: return .basic(random.one(of: Self.basicTypes))
    }
  }

  mutating func value(of shape: Shape, depth: Int) -> Variant {
    budget -= 1
    switch shape {
    case .basic(let type): return basic(type)
    case .variant: return .variant(content(depth: depth - 1))
    case .structure(let members): return .structure(members.map { value(of: $0, depth: depth - 1) })
    case .array(.basic("y")): return .bytes(random.several(20) { UInt8(truncatingIfNeeded: $0.next()) })
    case .array(let element):
      var values: [Variant] = []
      for _ in 0..<count() { values.append(value(of: element, depth: depth - 1)) }
      return .array(of: element.signature, values)
    case .dictionary(let key, let element):
      var entries: [Variant: Variant] = [:]
      for _ in 0..<count() { entries[basic(key)] = value(of: element, depth: depth - 2) }
      return .dictionary(key: key, value: element.signature, entries)
    }
  }

  private mutating func count() -> Int { budget > 0 ? random.below(4) : 0 }

  private static let numbers: [UInt64] = [
    0, 1, 2, 127, 128, 255, 32767, 32768, 65535, 1 << 31, 1 << 63, .max, .max - 1,
  ]
  private static let doubles = [
    0, -0.0, 1.5, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi, -1e300,
  ]
  private static let nonCharacters = String(
    String.UnicodeScalarView([0xFFFF, 0xFDD0, 0x10FFFF].compactMap(Unicode.Scalar.init)))
  private static let texts = [
    "", "a", "word", "é", "e\u{301}", "🎭", "\u{1}\u{7F}", nonCharacters, "\r\n", "{sv}", "1234567", "12345678",
  ]
  private static let paths: [ObjectPath] = ["/", "/a", "/org/example/a_1", "/_/_/_/_/_"]
  private static let signatures: [Signature] = ["", "s", "a{sv}", "(ii)aay", "vvvvvvv"]

  mutating func basic(_ type: Signature) -> Variant {
    let number = random.once(in: 2) ? random.next() : random.one(of: Self.numbers)
    switch type.rawValue {
    case "y": return .byte(UInt8(truncatingIfNeeded: number))
    case "b": return .boolean(number & 1 == 1)
    case "n": return .int16(Int16(truncatingIfNeeded: number))
    case "q": return .uint16(UInt16(truncatingIfNeeded: number))
    case "i": return .int32(Int32(truncatingIfNeeded: number))
    case "u": return .uint32(UInt32(truncatingIfNeeded: number))
    case "x": return .int64(Int64(truncatingIfNeeded: number))
    case "t": return .uint64(number)
    case "d": return .double(random.one(of: Self.doubles))
    case "s": return .string(random.several(2) { $0.one(of: Self.texts) }.joined())
    case "o": return .objectPath(random.one(of: Self.paths))
    default: return .signature(random.one(of: Self.signatures))
    }
  }
}

extension RandomNumberGenerator {
  /// Up to `limit` results of `make`.
  mutating func several<Element>(_ limit: Int, _ make: (inout Self) -> Element) -> [Element] {
    var elements: [Element] = []
    for _ in 0..<below(limit + 1) { elements.append(make(&self)) }
    return elements
  }
}
