/// What can be written as a document: JSON, or a property list with the same keys.
package protocol DocumentWriting {
  /// The document as a value; what is as it would be anyhow is not in it.
  var document: Value { get }
}

/// What can be read from one too, up to the first fault.
package protocol Document: DocumentWriting {
  init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault)
}

/// What a reader has to know beside the document.
package struct ReadingRules: Sendable {
  /// Refuse keys that nobody knows.
  var isStrict = false
  /// Which types are the same.
  package let types: TypeCatalog

  package init(types: TypeCatalog) { self.types = types }
}

/// The fields of a document that is being written.
struct DocumentFields {
  private var fields = UserInfo()

  var value: Value { .dictionary(fields) }

  mutating func set(_ key: Text, _ value: Value?) {
    if let value { fields[key] = value }
  }

  subscript(key: Text) -> Text? {
    @available(*, unavailable) get { nil }
    set { set(key, newValue.map(Value.string)) }
  }

  subscript(key: Text) -> Bool? {
    @available(*, unavailable) get { nil }
    set { set(key, newValue.map(Value.bool)) }
  }

  /// An empty list is left out.
  subscript(key: Text) -> [Text] {
    @available(*, unavailable) get { [] }
    set { if !newValue.isEmpty { set(key, .array(newValue.map(Value.string))) } }
  }

  subscript<Choice: RawRepresentable<String>>(key: Text) -> Choice? {
    @available(*, unavailable) get { nil }
    set { set(key, (newValue?.rawValue).map { .string(Text($0)) }) }
  }

  subscript<Element: DocumentWriting>(key: Text) -> [Element] {
    @available(*, unavailable) get { [] }
    set { if !newValue.isEmpty { set(key, .array(newValue.map(\.document))) } }
  }
}
