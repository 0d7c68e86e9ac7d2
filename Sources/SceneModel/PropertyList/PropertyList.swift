import XML

/// Apple's documents of values, in both forms that are in use.
///
/// Manifests are written in them; neither form can express every `Value`.
package enum PropertyList {
  package enum Format: Hashable, Sendable, CaseIterable { case xml, binary }

  /// The result never has a UUID or a URL; it has null and sets if a binary document has them, which no writer of Apple's makes. `expected` names the
  /// document in the fault for other text.
  package static func read(
    _ bytes: [UInt8], expected: String = "a property list in XML or binary"
  ) throws(Fault) -> Value {
    if bytes.count > Limits.manifest { throw .tooLong(bytes.count, limit: Limits.manifest, at: Place.document) }
    switch try format(of: bytes, expected) {
    case .xml:
      var reader = try XMLPropertyListReader(bytes)
      return try reader.document()
    case .binary:
      var reader = try BinaryPropertyListReader(bytes)
      return try reader.document()
    }
  }

  /// A text as an XML document has it, in an element or in an attribute.
  package static func escapedForXML(_ text: String) -> String {
    var escaped = ""
    XMLText.append(attribute: text, to: &escaped)
    return escaped
  }
}

// MARK: - Telling them apart

extension PropertyList {
  private static func format(of bytes: [UInt8], _ expected: String) throws(Fault) -> Format {
    func unexpected(_ got: String) -> Fault { .expected(expected, got: got, at: .document) }
    if bytes.starts(with: "bplist".utf8) { return .binary }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { throw unexpected("text in UTF-16") }
    let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    guard let first = text.firstIndex(where: { !isBlank($0) }) else { throw unexpected("nothing") }
    switch text[first] {
    case UInt8(ascii: "<"): return .xml
    case UInt8(ascii: "["): throw unexpected("what looks like JSON")
    case UInt8(ascii: "{") where isJSON(text[(first + 1)...]): throw unexpected("what looks like JSON")
    case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "/"):
      throw unexpected("what looks like a property list of the old text form")
    default: throw unexpected("something else")
    }
  }

  /// Decides by the text after a brace: a string and a colon, or the end. The old form of property lists has no quotes there, or an "=" after them.
  private static func isJSON(_ text: ArraySlice<UInt8>) -> Bool {
    var text = text.drop(while: isBlank)
    guard text.first == UInt8(ascii: "\"") else { return text.first == UInt8(ascii: "}") }
    text = text.dropFirst()
    while let byte = text.first, byte != UInt8(ascii: "\"") {
      text = text.dropFirst(byte == UInt8(ascii: "\\") ? 2 : 1)
    }
    return text.dropFirst().drop(while: isBlank).first == UInt8(ascii: ":")
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
