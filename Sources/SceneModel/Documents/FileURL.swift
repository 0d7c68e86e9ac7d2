/// URLs of files on this machine: `file:///home/user/Beach.png`.
package enum FileURL {
  package static func isValid(_ text: Text) -> Bool { path(of: text) != nil }

  /// The absolute path in the URL; `nil` if it is not the URL of a file on this machine.
  package static func path(of text: Text) -> [UInt8]? {
    guard URLText.isValid(text) else { return nil }
    return text.withBytes { bytes in
      var rest = bytes[...]
      guard removePrefix("file://", of: &rest) else { return nil }
      _ = removePrefix("localhost", of: &rest)
      guard rest.first == UInt8(ascii: "/"),
        !rest.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
      else { return nil }
      return percentDecoded(rest)
    }
  }

  /// Whether the text has the scheme of a file's URL.
  package static func hasScheme(_ text: Text) -> Bool {
    text.withBytes { bytes in
      var rest = bytes[...]
      return removePrefix("file:", of: &rest)
    }
  }

  /// The URL of the file at an absolute path. It has the escapes that the libraries of the desktop write, so that the same file has the same URL.
  package static func text(ofPath path: some Sequence<UInt8>) -> Text {
    var bytes = Array("file://".utf8)
    for byte in path { bytes += written(byte, ifPlain: plain) }
    return Text(String(decoding: bytes, as: UTF8.self))
  }

  /// A text as a part of a URL, with every byte escaped that could mean something there.
  package static func escaped(_ text: Text, keepingSlashes: Bool) -> String {
    let plain: StaticString = keepingSlashes ? FileURL.plain : "-._~"
    var bytes: [UInt8] = []
    for byte in text.string.utf8 { bytes += written(byte, ifPlain: plain) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What stands unescaped in the URL of a file, beside letters and digits.
  private static let plain: StaticString = "/-._~!$&'()*+,:=@"

  /// A byte of a URL: itself, if it is a letter, a digit, or one of `plain`, and else its escape.
  static func written(_ byte: UInt8, ifPlain plain: StaticString) -> [UInt8] {
    let isPlain = plain.withUTF8Buffer { $0.contains(byte) }
    if isPlain || MIMESyntax.isLetterOrDigit(byte) { return [byte] }
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
  }

  /// Case makes no difference in schemes and hosts.
  private static func removePrefix(_ prefix: String, of bytes: inout Slice<UnsafeRawBufferPointer>) -> Bool {
    guard bytes.prefix(prefix.utf8.count).lazy.map(MIMESyntax.small).elementsEqual(prefix.utf8) else { return false }
    bytes = bytes.dropFirst(prefix.utf8.count)
    return true
  }

  private static func percentDecoded(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    var path: [UInt8] = []
    path.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      var byte = bytes[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.endIndex, let high = hexadecimalDigit(bytes[index + 1]),
          let low = hexadecimalDigit(bytes[index + 2])
        else { return nil }
        byte = high << 4 | low
        index += 2
      }
      if byte == 0 { return nil }
      path.append(byte)
      index += 1
    }
    return path
  }
}
