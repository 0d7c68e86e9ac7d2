import XML

/// The steps through a document that the reading of an element consists of.
extension IntrospectionReader {
  /// The beginning of an element, and the comment directly before it.
  struct Child {
    let tag: XMLTag
    let comment: XMLComment?

    /// Converted only when it is needed: most comments in foreign documents describe nothing that we keep.
    var documentation: String? { comment.map(DocumentationComment.read) }
  }

  /// The next element inside the open one, or `nil` at the end of the open one.
  mutating func nextChild() throws(IntrospectionError) -> Child? {
    var comment: XMLComment?
    while true {
      switch try next() {
      case .start(let tag): return Child(tag: tag, comment: comment)
      case .end, .endOfDocument: return nil
      case .comment(let found): comment = found
      case .text(let text): if !isLineBreak(text) { comment = nil }
      case .declaration: comment = nil
      }
    }
  }

  /// Skips to the end of the open element.
  mutating func skip() throws(IntrospectionError) {
    var open = 1
    while open > 0 {
      switch try next() {
      case .start: open += 1
      case .end: open -= 1
      case .text, .comment, .declaration, .endOfDocument: break
      }
    }
  }

  mutating func next() throws(IntrospectionError) -> XMLToken {
    do throws(XMLError) { return try scanner.next() } catch { throw IntrospectionError(error) }
  }

  /// White space without a blank line: a comment before it belongs to the element after it.
  private func isLineBreak(_ text: String) -> Bool {
    var lines = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"): lines += 1
      case UInt8(ascii: " "), UInt8(ascii: "\t"): break
      default: return false
      }
    }
    return lines < 2
  }
}
