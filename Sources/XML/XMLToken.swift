/// The next token of a document.
package enum XMLToken: Sendable, Hashable {
  /// An element begins. An empty one, `<arg/>`, ends with a token of its own like any other.
  case start(XMLTag)
  case end
  /// Characters of an element's content, with references replaced. One run of text may come as several tokens.
  case text(String)
  case comment(XMLComment)
  /// A skipped XML declaration, document type declaration or processing instruction.
  case declaration
  /// The document ends, and its root element with it.
  case endOfDocument
}

/// The start of an element: its name and its attributes.
package struct XMLTag: Sendable, Hashable {
  package let name: XMLName
  package let attributes: [XMLAttribute]
  /// The position of its `<`.
  package let offset: Int

  package subscript(_ name: XMLName) -> XMLAttribute? { attributes.first { $0.name == name } }
}

/// One attribute. Its value has references replaced, and white space as spaces.
package struct XMLAttribute: Sendable, Hashable {
  package let name: XMLName
  package let value: String
  /// The position where the value begins, after its quote.
  package let valueOffset: Int

  /// The value, for comparison with known words.
  package var word: XMLName { XMLName(value) }
}

/// The text between `<!--` and `-->`. References have no meaning there, so none is replaced.
package struct XMLComment: Sendable, Hashable {
  package let content: String
  /// The number of bytes before the comment in its first line. A comment of one line has 0, because no code needs the number.
  package let indentation: Int
}

/// A place in a document as people and editors count it.
package struct XMLPosition: Sendable, Hashable {
  /// From 1.
  package let line: Int
  /// From 1, in Unicode scalars.
  package let column: Int
}

/// Why a document is not XML, or is XML that the scanner refuses.
package struct XMLError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case malformed, limitExceeded }

  package let kind: Kind
  package let position: XMLPosition
  /// The expected text, and the text that was found.
  package let reason: String
}

// MARK: - Names

/// The name of an element or an attribute, or another known word, which is compared byte by byte.
///
/// Swift's `String` compares by canonical equivalence, which takes time in the square of a run of combining marks. A hostile document can
/// have any number of them.
package struct XMLName: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }
}

extension XMLName: Hashable {
  package static func == (one: XMLName, other: XMLName) -> Bool { one.string.utf8.elementsEqual(other.string.utf8) }

  package func hash(into hasher: inout Hasher) {
    for byte in string.utf8 { hasher.combine(byte) }
  }
}

extension XMLName: ExpressibleByStringLiteral, CustomStringConvertible {
  package init(stringLiteral value: String) { self.init(value) }
  package var description: String { string }
}
