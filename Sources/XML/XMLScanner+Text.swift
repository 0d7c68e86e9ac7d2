/// The small pieces: names, white space, character data.
extension XMLScanner {
  /// Whether `literal` stands at the scanner's position, or at `offset`.
  func sees(_ literal: StaticString, at offset: Int? = nil) -> Bool {
    let start = offset ?? index
    return literal.withUTF8Buffer { wanted in
      guard start + wanted.count <= bytes.count else { return false }
      for place in wanted.indices where bytes[start + place] != wanted[place] { return false }
      return true
    }
  }

  func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The beginning of a name, as an error shows it.
  func excerpt(_ range: Range<Int>) -> String { XMLText.excerpt(string(range)) }

  /// Skips white space, and returns whether there was any.
  @discardableResult
  mutating func skipBlanks() -> Bool {
    let start = index
    while index < bytes.count, XMLText.isBlank(bytes[index]) { index += 1 }
    return index > start
  }

  /// Any byte beyond ASCII may stand in a name. The scanner does not need to know which letters XML allows, because the end of a name does
  /// not depend on them.
  mutating func name(_ expected: String) throws(XMLError) -> Range<Int> {
    let start = index
    // No digit, hyphen or full stop begins a name.
    guard index < bytes.count, bytes[index] >= UInt8(ascii: ":"), isInName(bytes[index]) else {
      throw malformed(expected, at: start)
    }
    while index < bytes.count, isInName(bytes[index]) { index += 1 }
    return start..<index
  }

  private func isInName(_ byte: UInt8) -> Bool {
    byte >= 0x80 || XMLText.isLetterOrDigit(byte) || "_:-.".utf8.contains(byte)
  }

  enum CharacterData { case content, attribute }

  /// Scans up to `terminator` or the end. References are replaced and line ends become U+000A; in an
  /// attribute all white space becomes spaces, except white space from a reference.
  mutating func characterData(until terminator: UInt8, of kind: CharacterData) throws(XMLError) -> String {
    var data: [UInt8] = []
    while index < bytes.count, bytes[index] != terminator {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "&"):
        guard let reference = XMLText.reference(in: bytes, at: index) else { throw unknownReference() }
        data += Array(UTF8.encode(reference.scalar) ?? UTF8.encodedReplacementCharacter)
        index = reference.end
        continue
      case UInt8(ascii: "<"):
        throw malformed("no \"<\" within a value", at: index)
      case UInt8(ascii: "\r"):
        if !sees("\n", at: index + 1) { data.append(kind == .content ? UInt8(ascii: "\n") : UInt8(ascii: " ")) }
      case UInt8(ascii: "\n"), UInt8(ascii: "\t"):
        data.append(kind == .content ? byte : UInt8(ascii: " "))
      default:
        data.append(byte)
      }
      index += 1
    }
    return String(decoding: data, as: UTF8.self)
  }

  private func unknownReference() -> XMLError {
    let shown = string(index..<min(index + 16, bytes.count))
    let end = shown.firstIndex { $0 == ";" || $0.isWhitespace } ?? shown.endIndex
    return malformed(
      "a character's number or one of &amp; &lt; &gt; &quot; &apos;", found: "\"\(shown[..<end])\"", at: index)
  }
}
