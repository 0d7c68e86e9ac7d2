/// A UUID, the identifier of a session or a delivery. UUIDs are ordered like their letters, byte by byte.
///
/// It is public because the compiler inlines nothing of a `package` type in other modules, and each drop looks a dozen of these up.
public struct UniqueIdentifier: Hashable, Comparable, Sendable {
  @usableFromInline package let high: UInt64
  @usableFromInline package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// A random UUID of version 4. The caller provides the randomness, as in every pure module.
  package init(using random: inout some RandomNumberGenerator) {
    self.init(high: random.next() & ~0xF000 | 0x4000, low: random.next() & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Reads the usual form, 8-4-4-4-12 hexadecimal digits, in upper or lower case.
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

  /// The bits are random, so they need no mixing: tables contain only identifiers that the service has made itself.
  @inlinable
  public func _rawHashValue(seed: Int) -> Int { Int(truncatingIfNeeded: high ^ low) ^ seed }

  /// Compares the bits.
  @inlinable
  public static func == (one: Self, other: Self) -> Bool { one.high == other.high && one.low == other.low }

  /// Compares the bytes from the first to the last.
  @inlinable
  public static func < (one: Self, other: Self) -> Bool {
    one.high != other.high ? one.high < other.high : one.low < other.low
  }
}

extension UniqueIdentifier: CustomStringConvertible {
  /// In lower case.
  public var description: String { text(after: .empty, separator: UInt8(ascii: "-")) }

  /// After a beginning.
  func text(after beginning: Text, separator: UInt8) -> String {
    String(unsafeUninitializedCapacity: beginning.count + UniqueIdentifier.length) { buffer in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      beginning.withBytes { bytes.copyMemory(from: $0) }
      write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[beginning.count...]), separator: separator)
      return bytes.count
    }
  }

  /// In one piece, eight digits at a time, because each delivery is named a dozen times.
  func write(to bytes: UnsafeMutableRawBufferPointer, separator: UInt8 = UInt8(ascii: "-")) {
    var place = 0
    func put(_ digits: some FixedWidthInteger & BitwiseCopyable) {
      bytes.storeBytes(of: digits.bigEndian, toByteOffset: place, as: type(of: digits))
      place += digits.bitWidth / 8
    }
    put(UniqueIdentifier.digits(high >> 32))
    put(separator)
    let middle = (UniqueIdentifier.digits(high), UniqueIdentifier.digits(low >> 32))
    put(UInt32(middle.0 >> 32))
    put(separator)
    put(UInt32(truncatingIfNeeded: middle.0))
    put(separator)
    put(UInt32(middle.1 >> 32))
    put(separator)
    put(UInt32(truncatingIfNeeded: middle.1))
    put(UniqueIdentifier.digits(low))
  }

  /// The lower 32 bits as eight letters, the first in the highest byte.
  private static func digits(_ bits: UInt64) -> UInt64 {
    var digits = bits & 0xFFFF_FFFF
    digits = (digits << 16 | digits) & 0x0000_FFFF_0000_FFFF
    digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
    digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
    let ones: UInt64 = 0x0101_0101_0101_0101
    let isLetter = (digits &+ 6 &* ones) >> 4 & ones
    return digits &+ UInt64(UInt8(ascii: "0")) &* ones &+ isLetter &* UInt64(UInt8(ascii: "a") - UInt8(ascii: "0") - 10)
  }

  static let length = 36

  private static func isSeparator(_ offset: Int) -> Bool { offset == 8 || offset == 13 || offset == 18 || offset == 23 }
}

/// Two hexadecimal digits, in lower case.
func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

/// The value of a hexadecimal digit in upper or lower case.
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
