/// What a scanner finds next in a document.
package enum XMLToken: Sendable, Hashable {
  /// An element begins. An empty one, `<arg/>`, ends with a token of its own like any other.
  case start(XMLTag)
  /// The element that is open ends.
  case end
  /// Characters of an element's content, with references replaced. One run of text may come as several.
  case text(String)
  /// A comment.
  case comment(XMLComment)
  /// An XML declaration, a document type declaration or a processing instruction, which were skipped.
  case declaration
  /// The document ends, and its root element with it.
  case endOfDocument
}

/// How an element begins: its name and its attributes.
package struct XMLTag: Sendable, Hashable {
  package let name: XMLName
  package let attributes: [XMLAttribute]
  /// Where its `<` is.
  package let offset: Int

  package subscript(_ name: XMLName) -> XMLAttribute? { attributes.first { $0.name == name } }
}

/// One attribute, its value as it is meant: references replaced, white space as spaces.
package struct XMLAttribute: Sendable, Hashable {
  package let name: XMLName
  package let value: String
  /// Where the value begins, after its quote.
  package let valueOffset: Int

  /// The value as something to compare with what is known.
  package var word: XMLName { XMLName(value) }
}

/// What stands between `<!--` and `-->`. References mean nothing there, so none are replaced.
package struct XMLComment: Sendable, Hashable {
  package let content: String
  /// How many bytes stand before the comment in its first line. A comment of one line has 0, as nobody needs it.
  package let indentation: Int
}

/// A place in a document as people and editors count it.
package struct XMLPosition: Sendable, Hashable {
  /// From 1.
  package let line: Int
  /// From 1, in Unicode scalars.
  package let column: Int
}

/// Why a document is no XML, or none that anyone should have to read.
package struct XMLError: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case malformed, limitExceeded }

  package let kind: Kind
  package let position: XMLPosition
  /// What was expected, and what was found.
  package let reason: String
}
