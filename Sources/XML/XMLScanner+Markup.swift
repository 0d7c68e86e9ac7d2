/// Markup other than elements: comments, CDATA sections, and the skipped declarations and instructions.
extension XMLScanner {
  mutating func comment() throws(XMLError) -> XMLComment {
    let start = index
    index += 4
    let content = index
    var hasLines = false
    while !sees("--") {
      guard index < bytes.count else { throw malformed("\"-->\" to end the comment", at: index) }
      hasLines = hasLines || isLineEnd(bytes[index])
      index += 1
    }
    guard sees("-->") else { throw malformed("no \"--\" within a comment", found: "it", at: index) }
    let text = string(content..<index)
    index += 3
    // The search back for the beginning of the line is linear in total: it ends in the last comment of several lines at the latest.
    let indentation = hasLines ? start - lineStart(before: start) : 0
    return XMLComment(content: unifyingLineEnds(text), indentation: indentation)
  }

  mutating func characterDataSection() throws(XMLError) -> String {
    guard !open.isEmpty else { throw malformed("no text outside the root element", found: "it", at: index) }
    index += 9
    let start = index
    try skip(past: "]]>", of: "the CDATA section")
    return unifyingLineEnds(string(start..<(index - 3)))
  }

  mutating func processingInstruction() throws(XMLError) -> XMLToken {
    let start = index
    index += 2
    let target = try name("a processing instruction's target")
    if target.count == 3, string(target).lowercased() == "xml", start != contentOffset {
      throw malformed("an XML declaration at the very beginning only", found: "it", at: start)
    }
    try skip(past: "?>", of: "the processing instruction")
    return .declaration
  }

  /// Skips the declaration and its internal subset: nothing there changes the content.
  mutating func documentType() throws(XMLError) -> XMLToken {
    if rootHasBegun || documentTypeWasSeen {
      throw malformed("no document type here", found: "it", at: index)
    }
    documentTypeWasSeen = true
    index += 9
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: ">"):
        index += 1
        return .declaration
      case UInt8(ascii: "["): try skipInternalSubset()
      default: try skipDeclared()
      }
    }
    throw malformed("\">\" to end the document type", at: index)
  }

  private mutating func skipInternalSubset() throws(XMLError) {
    index += 1
    while index < bytes.count {
      if sees("]") {
        index += 1
        return
      }
      if sees("<!--") {
        _ = try comment()
      } else if sees("<?") {
        try skip(past: "?>", of: "the processing instruction")
      } else {
        try skipDeclared()
      }
    }
    throw malformed("\"]\" to end the internal subset", at: index)
  }

  /// Skips one byte of a declaration, or one quoted string, in which brackets have no meaning.
  private mutating func skipDeclared() throws(XMLError) {
    let byte = bytes[index]
    index += 1
    guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") else { return }
    while index < bytes.count, bytes[index] != byte { index += 1 }
    guard index < bytes.count else { throw malformed("a quote to end the string", at: index) }
    index += 1
  }

  private mutating func skip(past end: StaticString, of what: String) throws(XMLError) {
    while !sees(end) {
      guard index < bytes.count else { throw malformed("\"\(end)\" to end \(what)", at: index) }
      index += 1
    }
    index += end.utf8CodeUnitCount
  }

  private func lineStart(before offset: Int) -> Int {
    var start = offset
    while start > 0, !isLineEnd(bytes[start - 1]) { start -= 1 }
    return start
  }

  private func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

  private func unifyingLineEnds(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "\r")) else { return text }
    var result: [UInt8] = []
    var previous: UInt8 = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\r") {
        result.append(UInt8(ascii: "\n"))
      } else if !(byte == UInt8(ascii: "\n") && previous == UInt8(ascii: "\r")) {
        result.append(byte)
      }
      previous = byte
    }
    return String(decoding: result, as: UTF8.self)
  }
}
