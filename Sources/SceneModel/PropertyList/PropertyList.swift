import XML

/// Apple's documents of values, in both forms that are in use.
///
/// Manifests are written in them; neither form can express every `Value`.
package enum PropertyList {
  /// The result never has a UUID or a URL; it has null and sets if a binary document has them, which no writer of Apple's makes. What begins as JSON is
  /// not handed in.
  package static func read(_ bytes: [UInt8]) throws(Fault) -> Value {
    if bytes.count > Limits.manifest { throw .tooLong(bytes.count, limit: Limits.manifest, at: Place.document) }
    if bytes.starts(with: "bplist".utf8) {
      var reader = try BinaryPropertyListReader(bytes)
      return try reader.document()
    }
    func unexpected(_ got: String) -> Fault {
      .expected("JSON, or a property list in XML or binary", got: got, at: .document)
    }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { throw unexpected("text in UTF-16") }
    let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    guard let first = text.first(where: { !isBlank($0) }) else { throw unexpected("nothing") }
    switch first {
    case UInt8(ascii: "<"):
      var reader = try XMLPropertyListReader(bytes)
      return try reader.document()
    case UInt8(ascii: "("), UInt8(ascii: "/"): throw unexpected("what looks like a property list of the old text form")
    default: throw unexpected("something else")
    }
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  /// A text as an XML document has it, in an element or in an attribute.
  package static func escapedForXML(_ text: String) -> String {
    var escaped = ""
    XMLText.append(attribute: text, to: &escaped)
    return escaped
  }
}
