/// What a scanner finds next in a document.
enum XMLToken: Sendable, Hashable {
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
struct XMLTag: Sendable, Hashable {
  let name: String
  let attributes: [XMLAttribute]
  /// Where its `<` is.
  let offset: Int

  subscript(_ name: String) -> XMLAttribute? { attributes.first { $0.name == name } }
}

/// One attribute, its value as it is meant: references replaced, white space as spaces.
struct XMLAttribute: Sendable, Hashable {
  let name: String
  let value: String
  /// Where the value begins, after its quote.
  let valueOffset: Int
}

/// What stands between `<!--` and `-->`. References mean nothing there, so none are replaced.
struct XMLComment: Sendable, Hashable {
  let content: String
  /// How many bytes stand before the comment in its first line. A comment of one line has 0, as nobody needs it.
  let indentation: Int
}

/// A place in a document as people and editors count it.
struct XMLPosition: Sendable, Hashable {
  /// From 1.
  let line: Int
  /// From 1, in Unicode scalars.
  let column: Int
}

/// Why a document is no XML, or none that anyone should have to read.
struct XMLError: Error, Sendable, Hashable {
  enum Kind: Sendable, Hashable { case malformed, limitExceeded }

  let kind: Kind
  let position: XMLPosition
  /// What was expected, and what was found.
  let reason: String
}
