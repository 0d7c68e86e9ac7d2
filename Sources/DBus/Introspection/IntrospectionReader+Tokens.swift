import XML

/// The steps through a document that reading an element is made of.
extension IntrospectionReader {
  /// How an element begins, and the comment directly before it.
  struct Child {
    let tag: XMLTag
    let comment: XMLComment?

    /// Laid out when it is asked for: most comments of strangers document nothing that we keep.
    var documentation: String? { comment.map(DocumentationComment.read) }
  }

  /// The next element within the one that is open, or `nil` where that ends.
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

  /// Reads to the end of the element that is open.
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

  /// White space without a blank line: a comment before it belongs to what comes after it.
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
