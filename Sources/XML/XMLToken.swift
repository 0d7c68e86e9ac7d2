/// The next token of a document.
package enum XMLToken: Sendable, Hashable {
  /// An element begins. An empty one, `<arg/>`, ends with a token of its own like any other.
  case start(XMLTag)
  /// The open element ends.
  case end
  /// Characters of an element's content, with references replaced. One run of text may come as several tokens.
  case text(String)
  /// A comment.
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
