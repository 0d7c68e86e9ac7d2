extension ContentType {
  /// The parameters of a MIME type, from its first semicolon on: `; charset=utf-8; format="flowed"`.
  ///
  /// The value of a charset becomes lower case, because case makes no difference there. Only the authors of other parameters know whether it does.
  static func parameters(in bytes: ArraySlice<UInt8>) throws(WrongSpelling) -> [Parameter] {
    var rest = bytes
    var parameters: [Parameter] = []
    while rest.first == UInt8(ascii: ";") {
      rest = rest.dropFirst().drop(while: MIMESyntax.isSpace)
      let name = rest.prefix(while: MIMESyntax.isName)
      rest = rest.dropFirst(name.count)
      guard !name.isEmpty, rest.first == UInt8(ascii: "=") else { throw "after a semicolon comes name=value" }
      rest = rest.dropFirst()
      let value = try value(takenFrom: &rest)
      rest = rest.drop(while: MIMESyntax.isSpace)

      let parameter = MIMESyntax.small(name)
      if parameters.contains(where: { $0.name == parameter }) {
        throw "\(quoted(parameter.string)) stands twice"
      }
      let isCharset = parameter == "charset"
      parameters.append(
        Parameter(
          name: parameter,
          value: isCharset ? MIMESyntax.small(value[...]) : Text(String(decoding: value, as: UTF8.self))))
    }
    if let wrong = rest.first { throw .byte(wrong) }
    return parameters.sorted { $0.name < $1.name }
  }

  /// A token, or a quoted text, in which a backslash takes the next byte literally.
  private static func value(takenFrom rest: inout ArraySlice<UInt8>) throws(WrongSpelling) -> [UInt8] {
    guard rest.first == UInt8(ascii: "\"") else {
      let value = rest.prefix(while: MIMESyntax.isToken)
      if value.isEmpty { throw "after a semicolon comes name=value" }
      rest = rest.dropFirst(value.count)
      return Array(value)
    }
    rest = rest.dropFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return value
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst(), next >= 0x20, next != 0x7F else { throw "a backslash has a letter after it" }
        value.append(next)
      case 0x20..<0x7F, 0x80...: value.append(byte)
      default: throw .byte(byte)
      }
    }
    throw "a quotation does not end"
  }
}
