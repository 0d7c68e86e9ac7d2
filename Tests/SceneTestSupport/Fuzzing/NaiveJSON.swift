package import SceneModel

/// JSON according to RFC 8259, read as plainly as possible. A tag is a dictionary like any other here, and a number that no `Value` can hold is an
/// infinite one.
package struct NaiveJSON {
  private var rest: ArraySlice<UInt8>

  /// `nil` for a text that is not JSON, has a key twice, or nests deeper than any reader accepts.
  package static func tree(of bytes: [UInt8]) -> Value? {
    var reader = NaiveJSON(rest: bytes[...])
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.rest = reader.rest.dropFirst(3) }
    let tree = reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.rest.isEmpty else { return .none }
    return tree
  }

  // "nil" would be a null here, which is a value: the result of a failed read is ".none".
  private mutating func value(depth: Int) -> Value? {
    skipBlanks()
    if takes("null") { return .null }
    if takes("true") { return true }
    if takes("false") { return false }
    if takes("\"") { return text().map(Value.string) }
    if takes("[") { return depth < Limits.depth ? array(depth: depth + 1) : .none }
    if takes("{") { return depth < Limits.depth ? dictionary(depth: depth + 1) : .none }
    return number()
  }

  private mutating func array(depth: Int) -> Value? {
    var elements: [Value] = []
    skipBlanks()
    if takes("]") { return .array([]) }
    repeat {
      guard let element = value(depth: depth) else { return .none }
      elements.append(element)
      skipBlanks()
    } while takes(",")
    guard takes("]") else { return .none }
    return .array(elements)
  }

  private mutating func dictionary(depth: Int) -> Value? {
    var entries: [UserInfo.Entry] = []
    skipBlanks()
    if takes("}") { return .dictionary(UserInfo()) }
    repeat {
      skipBlanks()
      guard takes("\""), let key = text() else { return .none }
      skipBlanks()
      guard takes(":"), let value = value(depth: depth) else { return .none }
      entries.append(UserInfo.Entry(key: key, value: value))
      skipBlanks()
    } while takes(",")
    guard takes("}") else { return .none }
    return UserInfo(entries).map(Value.dictionary)
  }

  // MARK: Scalars

  private mutating func number() -> Value? {
    let start = rest
    _ = takes("-")
    if !takes("0"), !takesDigits() { return .none }
    let integer = start[..<rest.startIndex]
    if takes("."), !takesDigits() { return .none }
    if takes("e") || takes("E") {
      if !takes("+") { _ = takes("-") }
      if !takesDigits() { return .none }
    }
    let whole = String(decoding: start[..<rest.startIndex], as: UTF8.self)
    if integer.endIndex == rest.startIndex { return .some(Int64(whole).map(Value.integer) ?? .double(.infinity)) }
    return .double(Double(whole) ?? .infinity)
  }

  private mutating func text() -> Text? {
    var content: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return Text(String(decoding: content, as: UTF8.self))
      case UInt8(ascii: "\\"):
        guard let scalar = escaped() else { return nil }
        content += Array(String(scalar).utf8)
      case 0..<0x20: return nil
      default: content.append(byte)
      }
    }
    return nil
  }

  private mutating func escaped() -> Unicode.Scalar? {
    let plain: [(String, Unicode.Scalar)] = [
      ("\"", "\""), ("\\", "\\"), ("/", "/"), ("b", "\u{8}"), ("f", "\u{C}"), ("n", "\n"), ("r", "\r"), ("t", "\t"),
    ]
    for (letter, scalar) in plain where takes(letter) { return scalar }
    guard takes("u"), let unit = unit() else { return nil }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, takes("\\u"), let low = self.unit(), (0xDC00..<0xE000).contains(low) else { return nil }
    return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
  }

  private mutating func unit() -> UInt32? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    guard digits.count == 4, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")) else {
      return nil
    }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  // MARK: Steps

  private mutating func takes(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func takesDigits() -> Bool {
    let after = rest.drop { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    defer { rest = after }
    return after.count < rest.count
  }

  private mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) } }
}
