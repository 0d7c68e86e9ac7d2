/// The numbers of a property list in XML.
enum PropertyListText {
  /// The text without the white space around it.
  static func trimmed(_ text: String) -> String {
    let bytes = text.utf8
    guard let first = bytes.firstIndex(where: { !PropertyList.isBlank($0) }),
      let last = bytes.lastIndex(where: { !PropertyList.isBlank($0) })
    else { return "" }
    return String(text[first...last])
  }

  /// Decimal or, after `0x`, hexadecimal; a sign may come before either.
  static func integer(_ text: String) -> Int64? {
    var digits = Substring(text).utf8
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
    if isHexadecimal { digits.removeFirst(2) }
    if digits.isEmpty { return nil }
    let radix: Int64 = isHexadecimal ? 16 : 10
    // As a negative number, because there is one more of these.
    var value: Int64 = 0
    for byte in digits {
      guard let digit = hexadecimalDigit(byte), digit < radix else { return nil }
      let (product, isLarge) = value.multipliedReportingOverflow(by: radix)
      let (sum, isLarger) = product.subtractingReportingOverflow(Int64(digit))
      if isLarge || isLarger { return nil }
      value = sum
    }
    if isNegative { return value }
    return value == .min ? nil : -value
  }

  /// Finite and decimal: none of our writers produces the other forms of `Double`, such as "nan" and "0x1p3".
  static func double(_ text: String) -> Double? {
    var rest = Substring(text).utf8
    func digits() -> Int {
      let end = rest.firstIndex { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") } ?? rest.endIndex
      let count = rest.distance(from: rest.startIndex, to: end)
      rest = rest[end...]
      return count
    }
    func skip(_ one: Unicode.Scalar, or other: Unicode.Scalar) -> Bool {
      guard let byte = rest.first, byte == UInt8(ascii: one) || byte == UInt8(ascii: other) else { return false }
      rest.removeFirst()
      return true
    }

    _ = skip("+", or: "-")
    var count = digits()
    if skip(".", or: ".") { count += digits() }
    if count == 0 || count > maximumDigits { return nil }
    if skip("e", or: "E") {
      _ = skip("+", or: "-")
      let digits = digits()
      if digits == 0 || digits > maximumDigits { return nil }
    }
    guard rest.isEmpty, let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The exact value of a double has some eight hundred digits at most, and no reader needs more.
  private static let maximumDigits = 1000
}
