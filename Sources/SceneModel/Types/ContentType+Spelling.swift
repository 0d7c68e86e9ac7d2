extension ContentType {
  package enum Use: Hashable, Sendable {
    /// It is the type of some data, so it is not a wildcard.
    case carried
    /// It is a type that somebody takes or opens.
    case asked
  }

  /// Reads a type; `nil` if the text is none. The throwing initializer gives the reason.
  package init?(_ text: Text, as use: Use = .carried) {
    guard let type = try? ContentType(text, as: use, at: .document) else { return nil }
    self = type
  }

  /// Reads a type: a name of RFC 6838 with the parameters of RFC 2045, or an identifier by Apple's rules. A slash makes the difference.
  package init(_ text: Text, as use: Use, at place: @autoclosure () -> Place) throws(Fault) {
    guard text.count <= Limits.name else {
      throw Fault(.limit, at: place(), "a content type has at most \(Limits.name) bytes, and this one \(text.count)")
    }
    do throws(WrongSpelling) {
      let bytes = Array(text.string.utf8)
      if bytes.isEmpty { throw "there is nothing" }
      let end = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.endIndex
      if let slash = bytes[..<end].firstIndex(of: UInt8(ascii: "/")) {
        try self.init(mime: bytes, slash: slash, end: end, spelling: text)
      } else {
        try self.init(identifier: bytes[...], spelling: text)
      }
      if use == .carried, form == .wildcard || form == .everything {
        throw "a wildcard stands for many types, and data has one"
      }
    } catch {
      throw Fault.expected(
        "a content type such as image/png or public.png", got: "\(quoted(text.string)): \(error.reason)", at: place())
    }
  }

  private init(mime bytes: [UInt8], slash: Int, end: Int, spelling: Text) throws(WrongSpelling) {
    var last = end
    // Space may come before the parameters, as before each of them.
    while end < bytes.endIndex, last > slash, MIMESyntax.isSpace(bytes[last - 1]) { last -= 1 }
    let (type, subtype) = (bytes[..<slash], bytes[(slash + 1)..<last])
    let isWildcard = subtype.elementsEqual(CollectionOfOne(UInt8(ascii: "*")))
    let isEverything = isWildcard && type.elementsEqual(CollectionOfOne(UInt8(ascii: "*")))
    if !isEverything { try ContentType.check(half: type, "before") }
    if !isWildcard { try ContentType.check(half: subtype, "after") }
    let parameters = try ContentType.parameters(in: bytes[end...])
    if isWildcard, !parameters.isEmpty { throw "a wildcard has no parameters" }
    self.init(
      form: isEverything ? .everything : isWildcard ? .wildcard : .mime,
      name: ContentType.name(bytes[..<last], of: spelling), parameters: parameters, spelling: spelling)
  }

  /// If the spelling is the name, as for almost all types, both share one text.
  private static func name(_ bytes: ArraySlice<UInt8>, of spelling: Text) -> Text {
    bytes.count == spelling.count && bytes.allSatisfy { MIMESyntax.small($0) == $0 }
      ? spelling : MIMESyntax.small(bytes)
  }

  private static func check(half: ArraySlice<UInt8>, _ side: String) throws(WrongSpelling) {
    guard let first = half.first else { throw "there is nothing \(side) the slash" }
    guard half.count <= MIMESyntax.longestName else {
      throw "there are more than \(MIMESyntax.longestName) letters \(side) the slash"
    }
    if let wrong = half.first(where: { !MIMESyntax.isName($0) }) { throw .byte(wrong) }
    guard MIMESyntax.isLetterOrDigit(first) else { throw "a letter or digit comes first \(side) the slash" }
  }

  /// Apple's rule: letters, digits, hyphens, dots between them, and any character beyond ASCII. Characters beyond ASCII keep their case.
  private init(identifier bytes: ArraySlice<UInt8>, spelling: Text) throws(WrongSpelling) {
    let dot = UInt8(ascii: ".")
    if let wrong = bytes.first(where: {
      !MIMESyntax.isLetterOrDigit($0) && $0 != UInt8(ascii: "-") && $0 != dot && $0 < 0x80
    }) {
      throw .byte(wrong)
    }
    let parts = bytes.split(separator: dot, omittingEmptySubsequences: false)
    if parts.count == 1 { throw "there is neither a slash nor a dot" }
    if parts.contains(where: \.isEmpty) { throw "there is nothing on one side of a dot" }
    self.init(form: .identifier, name: ContentType.name(bytes, of: spelling), parameters: [], spelling: spelling)
  }
}

/// The reason why a text is not a type: the end of a sentence.
struct WrongSpelling: Error, ExpressibleByStringInterpolation {
  let reason: String

  init(stringLiteral value: String) { reason = value }

  static func byte(_ byte: UInt8) -> WrongSpelling {
    byte < 0x80
      ? "\(quoted(String(UnicodeScalar(byte)))) cannot stand there" : "only ASCII can stand there"
  }
}

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

/// The bytes that are allowed in each part of a MIME type.
package enum MIMESyntax {
  /// The letters of one half of a type: RFC 6838, section 4.2.
  static let longestName = 127

  package static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// A letter of a type, of a subtype, or of a parameter's name: RFC 6838's `restricted-name-chars`.
  static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "-"),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"):
      true
    default: isLetterOrDigit(byte)
    }
  }

  /// A letter of a value that needs no quotes: RFC 2045's `token`.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "@"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "\\"), UInt8(ascii: "\""),
      UInt8(ascii: "/"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "?"), UInt8(ascii: "="):
      false
    default: byte > 0x20 && byte < 0x7F
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  static func small(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  static func small(_ bytes: ArraySlice<UInt8>) -> Text { Text(String(decoding: bytes.map(small), as: UTF8.self)) }
}
