/// A string that is compared by its UTF-8 bytes, as the routing rules require.
///
/// Swift's `String` treats "é" and "e" with a combining accent as equal, so a key would find content of another name; and hashing it costs the square
/// of a run of combining marks, which any peer may send.
package struct Text: Sendable {
  package let string: String

  @inlinable
  package init(_ string: String) {
    var string = string
    string.makeContiguousUTF8()
    self.string = string
  }

  /// From bytes that are valid UTF-8.
  init(copying bytes: UnsafeRawBufferPointer) {
    self.init(bytes.withMemoryRebound(to: UInt8.self) { String(copying: UTF8Span(unchecked: $0.span)) })
  }

  /// `nil` if the bytes are not valid UTF-8.
  package init?(validating bytes: UnsafeRawBufferPointer) {
    let string: String? = bytes.withMemoryRebound(to: UInt8.self) { bytes in
      do { return String(copying: try UTF8Span(validating: bytes.span)) } catch { return nil }
    }
    guard let string else { return nil }
    self.init(string)
  }

  package static let empty = Text("")

  @inlinable package var isEmpty: Bool { string.isEmpty }
  /// The number of bytes.
  @inlinable package var count: Int { string.utf8.count }

  @inlinable
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    string.utf8Span.span.withUnsafeBytes(body)
  }

  package func hasPrefix(_ prefix: Text) -> Bool {
    prefix.count <= count
      && withBytes { bytes in
        prefix.withBytes { Text.areEqual(UnsafeRawBufferPointer(rebasing: bytes[..<$0.count]), $0) }
      }
  }

  package func hasSuffix(_ suffix: Text) -> Bool {
    suffix.count <= count
      && withBytes { bytes in
        suffix.withBytes { Text.areEqual(UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - $0.count)...]), $0) }
      }
  }
}

// MARK: - Comparing

extension Text: Hashable, Comparable {
  @inlinable
  package static func == (one: Text, other: Text) -> Bool {
    one.isIdentical(to: other)
      || one.count == other.count && one.withBytes { bytes in other.withBytes { areEqual(bytes, $0) } }
  }

  /// Whether both have the same bits: one text in two places, or two that are short enough to be inside the string itself. This takes a tenth of the
  /// time of comparing the bytes, and most texts that are compared here have the same origin.
  @inlinable
  func isIdentical(to other: Text) -> Bool {
    // Safe, because nothing is made from the bits: if all of them are equal, so are the texts.
    unsafeBitCast(string, to: (UInt64, UInt64).self) == unsafeBitCast(other.string, to: (UInt64, UInt64).self)
  }

  @inlinable
  package static func < (one: Text, other: Text) -> Bool {
    one.withBytes { bytes in other.withBytes { precedes(bytes, $0) } }
  }

  @inlinable
  package func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: $0) }
    // So that several texts do not hash like the same bytes divided in another way.
    hasher.combine(0xFF as UInt8)
  }

  /// By the first byte that differs, eight bytes at a time.
  @inlinable
  static func precedes(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    let count = min(one.count, other.count)
    var offset = 0
    while offset + 8 <= count {
      let (first, second) = (
        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian,
        other.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
      )
      if first != second { return first < second }
      offset += 8
    }
    while offset < count {
      if one[offset] != other[offset] { return one[offset] < other[offset] }
      offset += 1
    }
    return one.count < other.count
  }

  /// For two buffers of one length, eight bytes at a time.
  @inlinable
  static func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    let count = one.count
    guard count == other.count, let one = one.baseAddress, let other = other.baseAddress else { return count == 0 }
    if one == other { return true }
    var offset = 0
    while offset + 8 <= count {
      if one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      {
        return false
      }
      offset += 8
    }
    while offset < count {
      if one.load(fromByteOffset: offset, as: UInt8.self) != other.load(fromByteOffset: offset, as: UInt8.self) {
        return false
      }
      offset += 1
    }
    return true
  }
}

extension Text: ExpressibleByStringLiteral, CustomStringConvertible {
  @inlinable package init(stringLiteral value: String) { self.init(value) }
  package var description: String { string }
}
