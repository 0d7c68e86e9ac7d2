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
    let parsed = text.withBytes { bytes -> (UInt64, UInt64)? in
      guard bytes.count == 36 else { return nil }
      var (high, low): (UInt64, UInt64) = (0, 0)
      for (offset, byte) in bytes.enumerated() {
        if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
          guard byte == UInt8(ascii: "-") else { return nil }
          continue
        }
        guard let digit = hexadecimalDigit(byte) else { return nil }
        high = high << 4 | low >> 60
        low = low << 4 | UInt64(digit)
      }
      return (high, low)
    }
    guard let parsed else { return nil }
    self.init(high: parsed.0, low: parsed.1)
  }

  package static func < (one: Self, other: Self) -> Bool {
    one.high != other.high ? one.high < other.high : one.low < other.low
  }
}

extension UniqueIdentifier: CustomStringConvertible {
  /// In small letters.
  package var description: String {
    let digits = padded(high) + padded(low)
    var text = ""
    for (offset, digit) in digits.enumerated() {
      if offset == 8 || offset == 12 || offset == 16 || offset == 20 { text.append("-") }
      text.append(digit)
    }
    return text
  }

  private func padded(_ half: UInt64) -> String {
    let digits = String(half, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
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
