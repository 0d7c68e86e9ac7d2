/// The texts that count as URLs: absolute URIs in the spelling of RFC 3986.
///
/// The parts after the scheme are checked by those who know the scheme; a bracket, for example, is accepted anywhere.
package enum URLText {
  package static func isValid(_ text: Text) -> Bool {
    text.withBytes { bytes in
      guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return false }
      return isScheme(bytes[..<colon]) && isRest(bytes[(colon + 1)...])
    }
  }

  /// A hint for a text that is not a URL: usually it contains a character that a URL cannot have.
  static func hint(for text: Text) -> String {
    let isPlain = text.withBytes { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
    return isPlain ? "" : "; a space is written %20, and each byte of a letter beyond ASCII likewise"
  }

  /// The scheme in small letters; `nil` if the text is not a URL.
  package static func scheme(of url: Text) -> Text? {
    guard isValid(url), let colon = url.string.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return MIMESyntax.small(Array(url.string.utf8[..<colon])[...])
  }

  private static func isScheme(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let first = bytes.first, isLetter(first) else { return false }
    return bytes.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
      default: isLetter(byte)
      }
    }
  }

  private static func isRest(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    var index = bytes.startIndex
    var fragments = 0
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.endIndex, hexadecimalDigit(bytes[index + 1]) != nil,
          hexadecimalDigit(bytes[index + 2]) != nil
        else { return false }
        index += 2
      case UInt8(ascii: "#"):
        fragments += 1
        if fragments > 1 { return false }
      case let byte where !isLiteral(byte): return false
      default: break
      }
      index += 1
    }
    return !bytes.isEmpty
  }

  private static func isLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      false
    default: byte > 0x20 && byte < 0x7F
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte | 0x20 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: false
    }
  }
}
