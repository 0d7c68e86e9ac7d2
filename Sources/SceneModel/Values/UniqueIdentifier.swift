/// A UUID: what a session or a delivery is called. Its order is that of its letters, byte by byte.
package struct UniqueIdentifier: Hashable, Comparable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random one, of version 4. Randomness comes from the caller, as in every pure room.
  package init(using random: inout some RandomNumberGenerator) {
    self.init(high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Reads the usual form, 8-4-4-4-12 hexadecimal digits, in letters of either size.
  package init?(_ text: Text) {
    guard let read = text.withBytes({ UniqueIdentifier($0, separator: UInt8(ascii: "-")) }) else { return nil }
    self = read
  }

  /// Reads 8-4-4-4-12 digits.
  init?(_ bytes: some Collection<UInt8>, separator: UInt8) {
    guard bytes.count == UniqueIdentifier.length else { return nil }
    var (high, low): (UInt64, UInt64) = (0, 0)
    for (offset, byte) in bytes.enumerated() {
      if UniqueIdentifier.isSeparator(offset) {
        guard byte == separator else { return nil }
        continue
      }
      guard let digit = hexadecimalDigit(byte) else { return nil }
      high = high << 4 | low >> 60
      low = low << 4 | UInt64(digit)
    }
    self.init(high: high, low: low)
  }

  package static func < (one: Self, other: Self) -> Bool {
    one.high != other.high ? one.high < other.high : one.low < other.low
  }
}

extension UniqueIdentifier: CustomStringConvertible {
  /// In small letters.
  package var description: String { text(after: .empty, separator: UInt8(ascii: "-")) }

  /// Behind a beginning. In one piece, since each delivery is named a dozen times.
  func text(after beginning: Text, separator: UInt8) -> String {
    let length = beginning.count + UniqueIdentifier.length
    return String(unsafeUninitializedCapacity: length) { buffer in
      beginning.withBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
      var place = beginning.count
      func put(_ digits: Int, of bits: UInt64) {
        for digit in 1...digits {
          let value = UInt8(truncatingIfNeeded: bits >> UInt64(64 - 4 * digit)) & 0xF
          buffer[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
          place += 1
        }
      }
      func putSeparator() {
        buffer[place] = separator
        place += 1
      }
      put(8, of: high)
      putSeparator()
      put(4, of: high << 32)
      putSeparator()
      put(4, of: high << 48)
      putSeparator()
      put(4, of: low)
      putSeparator()
      put(12, of: low << 16)
      return place
    }
  }

  private static let length = 36

  private static func isSeparator(_ offset: Int) -> Bool { offset == 8 || offset == 13 || offset == 18 || offset == 23 }
}

/// The value of a hexadecimal digit, in a letter of either size.
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
