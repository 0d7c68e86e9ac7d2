/// Splits an XML document into tokens, one at a time.
///
/// It reads elements, attributes, character data, references to characters and to the five predefined entities, comments and CDATA
/// sections, and skips declarations and processing instructions. It never expands entities that a document declares: a reference to one is
/// an error, and cannot be a bomb.
///
/// It works on the UTF-8 bytes, and reads each byte a fixed number of times, whatever the document. It knows nothing of the meaning of a
/// document.
package struct XMLScanner {
  /// How many attributes an element may have. The scanner compares them with each other, and this bounds the comparisons.
  package static let maximumAttributes = 64

  let bytes: [UInt8]
  /// The first byte that has not been scanned.
  package internal(set) var index: Int
  /// The places of the names of the open elements, outermost first.
  var open: [Range<Int>] = []
  /// The innermost open element was written `<arg/>`, and its end has not been returned yet.
  var endIsDue = false
  var rootHasBegun = false
  var documentTypeWasSeen = false

  /// The position after a byte order mark, if there is one.
  let contentOffset: Int
  private let maximumDepth: Int

  package init(_ text: String, maximumLength: Int, maximumDepth: Int) throws(XMLError) {
    try self.init(valid: text.utf8, maximumLength: maximumLength, maximumDepth: maximumDepth)
  }

  package init(_ bytes: [UInt8], maximumLength: Int, maximumDepth: Int) throws(XMLError) {
    try self.init(valid: bytes, maximumLength: maximumLength, maximumDepth: maximumDepth)
    if let offset = XMLText.firstInvalid(in: bytes) { throw malformed("text in UTF-8", at: offset) }
  }

  private init(valid utf8: some Collection<UInt8>, maximumLength: Int, maximumDepth: Int) throws(XMLError) {
    self.maximumDepth = maximumDepth
    let length = utf8.count
    bytes = length <= maximumLength ? Array(utf8) : []
    contentOffset = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    index = contentOffset
    if length > maximumLength {
      throw limit("expected a document of at most \(maximumLength) bytes, found \(length)", at: 0)
    }
    if let offset = XMLText.firstForbidden(in: bytes) {
      throw malformed("a character that XML allows", at: offset)
    }
  }

  package mutating func next() throws(XMLError) -> XMLToken {
    if endIsDue {
      endIsDue = false
      open.removeLast()
      return .end
    }
    if index == bytes.count { return try endOfDocument() }
    if bytes[index] != UInt8(ascii: "<") { return try text() }
    if sees("<!--") { return .comment(try comment()) }
    if sees("<![CDATA[") { return .text(try characterDataSection()) }
    if sees("<?") { return try processingInstruction() }
    if sees("<!DOCTYPE") { return try documentType() }
    if sees("</") { return try endTag() }
    return try startTag()
  }

  private func endOfDocument() throws(XMLError) -> XMLToken {
    if let name = open.last {
      throw malformed("</\(excerpt(name))> for the element of line \(position(of: name.lowerBound).line)", at: index)
    }
    if !rootHasBegun { throw malformed("an element", at: index) }
    return .endOfDocument
  }

  private mutating func text() throws(XMLError) -> XMLToken {
    if !open.isEmpty { return .text(try characterData(until: UInt8(ascii: "<"), of: .content)) }
    let start = index
    skipBlanks()
    if index < bytes.count, bytes[index] != UInt8(ascii: "<") {
      throw malformed(rootHasBegun ? "nothing after the root element" : "an element", at: index)
    }
    return .text(string(start..<index))
  }

  // MARK: Tags

  private mutating func startTag() throws(XMLError) -> XMLToken {
    if rootHasBegun, open.isEmpty { throw malformed("nothing after the root element", at: index) }
    let start = index
    index += 1
    let name = try self.name("an element's name")
    if open.count == maximumDepth {
      throw limit("expected elements to nest at most \(maximumDepth) deep", at: start)
    }
    var attributes: [XMLAttribute] = []
    while true {
      let blanks = skipBlanks()
      if sees(">") || sees("/>") { break }
      if index == bytes.count || !blanks { throw malformed("\">\" or white space in <\(excerpt(name))>", at: index) }
      attributes.append(try attribute(after: attributes))
    }
    endIsDue = sees("/")
    index += endIsDue ? 2 : 1
    open.append(name)
    rootHasBegun = true
    return .start(XMLTag(name: XMLName(string(name)), attributes: attributes, offset: start))
  }

  private mutating func attribute(after others: [XMLAttribute]) throws(XMLError) -> XMLAttribute {
    let range = try self.name("an attribute, \">\" or \"/>\"")
    let name = XMLName(string(range))
    if others.count == Self.maximumAttributes {
      throw limit("expected at most \(Self.maximumAttributes) attributes in an element", at: range.lowerBound)
    }
    if others.contains(where: { $0.name == name }) {
      throw malformed("no second attribute \"\(XMLText.excerpt(name.string))\"", at: range.lowerBound)
    }
    skipBlanks()
    guard sees("=") else { throw malformed("\"=\" after an attribute's name", at: index) }
    index += 1
    skipBlanks()
    guard sees("\"") || sees("'") else { throw malformed("a value in quotes", at: index) }
    let quote = bytes[index]
    index += 1
    let start = index
    let value = try characterData(until: quote, of: .attribute)
    guard index < bytes.count else { throw malformed("the value to end with its quote", at: index) }
    index += 1
    return XMLAttribute(name: name, value: value, valueOffset: start)
  }

  private mutating func endTag() throws(XMLError) -> XMLToken {
    let start = index
    index += 2
    let name = try self.name("an element's name")
    guard let opened = open.last else { throw malformed("no end of an element that has not begun", at: start) }
    guard bytes[name].elementsEqual(bytes[opened]) else {
      throw malformed("</\(excerpt(opened))>", found: "</\(excerpt(name))>", at: start)
    }
    skipBlanks()
    guard sees(">") else { throw malformed("\">\" after </\(excerpt(name))", at: index) }
    index += 1
    open.removeLast()
    return .end
  }
}

// MARK: - Places

extension XMLScanner {
  /// Counts from the beginning of the document. Only errors need this, and a document has at most one error.
  package func position(of offset: Int) -> XMLPosition {
    var (line, column) = (1, 1)
    for place in contentOffset..<max(offset, contentOffset) {
      let byte = bytes[place]
      if byte == UInt8(ascii: "\n") || (byte == UInt8(ascii: "\r") && !sees("\n", at: place + 1)) {
        line += 1
        column = 1
      } else if byte != UInt8(ascii: "\r"), byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return XMLPosition(line: line, column: column)
  }

  /// The place of the first character after white space, from an offset on.
  package func position(ofTextFrom offset: Int) -> XMLPosition {
    position(of: bytes[offset...].firstIndex { !XMLText.isBlank($0) } ?? bytes.count)
  }

  func malformed(_ expected: String, found: String? = nil, at offset: Int) -> XMLError {
    let found = found ?? XMLText.character(at: offset, in: bytes) ?? "the end of the document"
    return XMLError(kind: .malformed, position: position(of: offset), reason: "expected \(expected), found \(found)")
  }

  func limit(_ reason: String, at offset: Int) -> XMLError {
    XMLError(kind: .limitExceeded, position: position(of: offset), reason: reason)
  }
}
