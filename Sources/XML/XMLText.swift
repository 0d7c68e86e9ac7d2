/// XML's rules for characters: which are allowed, and how to write those that need a reference.
package enum XMLText {
  /// Whether XML 1.0 allows the character in a document, even as a reference.
  package static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x10000...: true
    default: false
    }
  }

  /// The position of the first character that a document may not contain.
  static func firstForbidden(in bytes: [UInt8]) -> Int? {
    var offset = 0
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x9, 0xA, 0xD: break
      case 0..<0x20: return offset
      // U+FFFE and U+FFFF
      case 0xBE, 0xBF: if offset >= 2, bytes[offset - 1] == 0xBF, bytes[offset - 2] == 0xEF { return offset - 2 }
      default: break
      }
      offset += 1
    }
    return nil
  }

  /// The position of the first invalid UTF-8.
  static func firstInvalid(in bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { offset += scalar.count }
    return offset
  }

  package static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): true
    default: false
    }
  }

  static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// The character that the reference at `start` stands for, and where the reference ends.
  package static func reference(in bytes: [UInt8], at start: Int) -> (scalar: Unicode.Scalar, end: Int)? {
    var end = start + 1
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") || isLetterOrDigit(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: ";") else { return nil }
    let name = bytes[(start + 1)..<end]
    guard let scalar = name.first == UInt8(ascii: "#") ? numbered(name.dropFirst()) : named(name) else { return nil }
    return (scalar, end + 1)
  }

  private static func named(_ name: ArraySlice<UInt8>) -> Unicode.Scalar? {
    switch String(decoding: name.prefix(5), as: UTF8.self) {
    case "amp": "&"
    case "lt": "<"
    case "gt": ">"
    case "quot": "\""
    case "apos": "'"
    default: nil
    }
  }

  private static func numbered(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
    let isHexadecimal = digits.first == UInt8(ascii: "x")
    let digits = isHexadecimal ? digits.dropFirst() : digits
    guard let value = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10),
      let scalar = Unicode.Scalar(value), isAllowed(scalar)
    else { return nil }
    return scalar
  }
}

// MARK: - Writing

extension XMLText {
  /// Appends `value` in the form of a double-quoted attribute, which an element's content may have too.
  package static func append(attribute value: String, to text: inout String) {
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      // Written directly, these would be read back as spaces.
      case "\r", "\t", "\n": text += "&#\(scalar.value);"
      default: text.unicodeScalars.append(isAllowed(scalar) ? scalar : "\u{FFFD}")
      }
    }
  }
}

// MARK: - Errors

extension XMLText {
  /// The character at `offset` as an error names it, or `nil` at the end.
  static func character(at offset: Int, in bytes: [UInt8]) -> String? {
    guard offset < bytes.count else { return nil }
    let around = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
    guard let scalar = around.unicodeScalars.first else { return nil }
    if scalar == " " { return "a space" }
    if scalar.value > 0x20, scalar.value != 0x7F, isAllowed(scalar) { return "\"\(scalar)\"" }
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The beginning of `text`, as an error shows it.
  package static func excerpt(_ text: String) -> String {
    let limit = 60
    let start = text.unicodeScalars.prefix(limit)
    return start.endIndex == text.endIndex ? text : String(start) + "…"
  }
}
