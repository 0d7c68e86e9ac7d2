/// Bytes as letters, in the standard alphabet of RFC 4648 and padded.
package enum Base64 {
  /// `nil` for anything else. White space is skipped everywhere, as writers with line breaks expect. Unused bits must be zero, so that no two texts
  /// without white space stand for the same bytes.
  package static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    var isValid = true
    let decoded = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 3) { bytes, count in
      isValid = meanings.withUnsafeBufferPointer { decode(text, to: bytes, count: &count, meanings: $0) }
    }
    return isValid ? decoded : nil
  }

  package static func decode(_ text: Text) -> [UInt8]? { text.withBytes { decode($0) } }

  /// Without line breaks.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    let length = (bytes.count + 2) / 3 * 4
    return [UInt8](unsafeUninitializedCapacity: length) { text, count in
      bytes.withUnsafeBufferPointer { bytes in
        alphabet.withUnsafeBufferPointer { encode(bytes, to: text, alphabet: $0) }
      }
      count = length
    }
  }

  package static func text(of bytes: [UInt8]) -> Text { Text(String(decoding: encode(bytes), as: UTF8.self)) }
}

// MARK: - Tables

extension Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let pad = UInt8(ascii: "=")

  // The meaning of a byte: its digit, or one of these values, whose bits no digit has.
  private static let blank: UInt8 = 64
  private static let padding: UInt8 = 128

  private static let meanings: [UInt8] = {
    var meanings = [UInt8](repeating: .max, count: 256)
    for (digit, letter) in alphabet.enumerated() { meanings[Int(letter)] = UInt8(digit) }
    for letter: UInt8 in [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20] { meanings[Int(letter)] = blank }
    meanings[Int(pad)] = padding
    return meanings
  }()
}

// MARK: - Loops

extension Base64 {
  private static func decode(
    _ text: UnsafeRawBufferPointer, to bytes: UnsafeMutableBufferPointer<UInt8>, count: inout Int,
    meanings: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    var (index, digits, pads) = (0, 0, 0)
    var group: UInt32 = 0
    while index < text.count {
      // Whole groups without white space, which are almost everything.
      while digits == 0, index + 4 <= text.count {
        let (a, b) = (meanings[Int(text[index])], meanings[Int(text[index + 1])])
        let (c, d) = (meanings[Int(text[index + 2])], meanings[Int(text[index + 3])])
        guard a | b | c | d < blank, pads == 0 else { break }
        bytes[count] = a << 2 | b >> 4
        bytes[count + 1] = b << 4 | c >> 2
        bytes[count + 2] = c << 6 | d
        count += 3
        index += 4
      }
      if index == text.count { break }
      let meaning = meanings[Int(text[index])]
      index += 1
      switch meaning {
      case blank: continue
      case padding: pads += 1
      case ..<blank where pads == 0:
        group = group << 6 | UInt32(meaning)
        digits += 1
      default: return false
      }
      if digits == 4 {
        for shift: UInt32 in [16, 8, 0] {
          bytes[count] = UInt8(truncatingIfNeeded: group >> shift)
          count += 1
        }
        (group, digits) = (0, 0)
      }
    }
    switch (digits, pads) {
    case (0, 0): return true
    case (2, 2) where group & 0xF == 0:
      bytes[count] = UInt8(truncatingIfNeeded: group >> 4)
      count += 1
      return true
    case (3, 1) where group & 0x3 == 0:
      bytes[count] = UInt8(truncatingIfNeeded: group >> 10)
      bytes[count + 1] = UInt8(truncatingIfNeeded: group >> 2)
      count += 2
      return true
    default: return false
    }
  }

  private static func encode(
    _ bytes: UnsafeBufferPointer<UInt8>, to text: UnsafeMutableBufferPointer<UInt8>,
    alphabet: UnsafeBufferPointer<UInt8>
  ) {
    var (index, end) = (0, 0)
    while index < bytes.count {
      let left = bytes.count - index
      let a = bytes[index]
      let b = left > 1 ? bytes[index + 1] : 0
      let c = left > 2 ? bytes[index + 2] : 0
      text[end] = alphabet[Int(a >> 2)]
      text[end + 1] = alphabet[Int((a & 0x03) << 4 | b >> 4)]
      text[end + 2] = left > 1 ? alphabet[Int((b & 0x0F) << 2 | c >> 6)] : pad
      text[end + 3] = left > 2 ? alphabet[Int(c & 0x3F)] : pad
      index += 3
      end += 4
    }
  }
}
