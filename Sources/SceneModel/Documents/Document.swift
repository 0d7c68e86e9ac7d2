/// A value that can be written as a document.
package protocol DocumentWriting {
  /// Writes the fields that differ from their defaults, in the order of the keys' bytes.
  func write(to fields: inout some DocumentFields)
}

/// A value that can also be read from a document, up to the first fault.
package protocol Document: DocumentWriting {
  init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault)
}

/// The facts that a reader needs beside the document.
package struct ReadingRules: Sendable {
  /// Whether unknown keys are refused.
  var isStrict = false
  /// Whether the document was stored by the service, with its contents elsewhere.
  private(set) var isStored = false
  /// The catalogue that tells which types are the same.
  package let types: TypeCatalog

  package init(types: TypeCatalog) { self.types = types }

  /// Rules for the service's own documents.
  package init(storedIn types: TypeCatalog) {
    self.types = types
    isStored = true
  }

  /// The same for a document that the service stored.
  package var ofStored: ReadingRules { ReadingRules(storedIn: types) }
}

/// The fields of a document that is being written, in one of its forms. `nil` and empty lists are left out.
package protocol DocumentFields {
  mutating func set(_ key: StaticString, _ value: Value)
  mutating func set(_ key: StaticString, _ text: Text)
  mutating func object(_ key: StaticString, _ body: (inout Self) -> Void)
  mutating func list<Element>(_ key: StaticString, _ elements: [Element], _ body: (inout Self, Element) -> Void)
}

extension DocumentFields {
  package subscript(key: StaticString) -> Text? {
    @available(*, unavailable) get { nil }
    set { if let newValue { set(key, newValue) } }
  }

  package subscript(key: StaticString) -> Bool? {
    @available(*, unavailable) get { nil }
    set { if let newValue { set(key, .bool(newValue)) } }
  }

  package subscript(key: StaticString) -> Int? {
    @available(*, unavailable) get { nil }
    set { if let newValue { set(key, .integer(Int64(newValue))) } }
  }

  package subscript(key: StaticString) -> UniqueIdentifier? {
    @available(*, unavailable) get { nil }
    set { if let newValue { set(key, Text(newValue.description)) } }
  }

  package subscript(key: StaticString) -> UserInfo {
    @available(*, unavailable) get { UserInfo() }
    set { if !newValue.isEmpty { set(key, .dictionary(newValue)) } }
  }

  package subscript(key: StaticString) -> [Text] {
    @available(*, unavailable) get { [] }
    set { if !newValue.isEmpty { set(key, .array(newValue.map(Value.string))) } }
  }

  package subscript<Choice: RawRepresentable<String>>(key: StaticString) -> Choice? {
    @available(*, unavailable) get { nil }
    set { if let newValue { set(key, Text(newValue.rawValue)) } }
  }

  package subscript<Element: DocumentWriting>(key: StaticString) -> Element? {
    @available(*, unavailable) get { nil }
    set { if let newValue { object(key) { newValue.write(to: &$0) } } }
  }

  package subscript<Element: DocumentWriting>(key: StaticString) -> [Element] {
    @available(*, unavailable) get { [] }
    set { if !newValue.isEmpty { list(key, newValue) { $1.write(to: &$0) } } }
  }
}

struct ValueFields: DocumentFields {
  private var fields = UserInfo()

  static func value(_ body: (inout ValueFields) -> Void) -> Value {
    var fields = ValueFields()
    body(&fields)
    return .dictionary(fields.fields)
  }

  mutating func set(_ key: StaticString, _ value: Value) { fields[Text(key.description)] = value }

  mutating func set(_ key: StaticString, _ text: Text) { set(key, .string(text)) }

  mutating func object(_ key: StaticString, _ body: (inout ValueFields) -> Void) {
    set(key, ValueFields.value(body))
  }

  mutating func list<Element>(
    _ key: StaticString, _ elements: [Element], _ body: (inout ValueFields, Element) -> Void
  ) {
    set(key, .array(elements.map { element in ValueFields.value { body(&$0, element) } }))
  }
}

extension JSON {
  /// The limits are for what comes in. The service stores a document in its own spelling, which may have more bytes and values.
  @inline(__always)
  fileprivate static func read<Result>(
    _ text: Text, _ rules: ReadingRules, _ read: (JSONNode) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let (bytes, values) = rules.isStored ? (.max, .max) : (Limits.payload, Limits.values)
    return try self.read(text, atMost: bytes, values: values, read)
  }
}

extension Document {
  /// Reads the document in JSON.
  package init(json text: Text, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, rules) { node throws(Fault) in try Self(node, rules) }
  }
}

extension DocumentWriting {
  package var document: Value { ValueFields.value { write(to: &$0) } }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}

// The documents that are read and written all day declare this again. Here, where both the document and its form are known, the compiler makes a
// special reader; the general reader above, called from another module, looks up each function as it goes, which takes three times as long.

extension Payload {
  package init(json text: Text, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, rules) { node throws(Fault) in try Payload(node, rules) }
  }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}

extension UserActivity {
  package init(json text: Text, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, rules) { node throws(Fault) in try UserActivity(node, rules) }
  }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}
