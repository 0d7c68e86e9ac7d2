extension Document {
  /// Reads the document in JSON.
  package init(json text: Text, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, atMost: Limits.payload) { node throws(Fault) in try Self(node, rules) }
  }

  /// Reads the document as a property list, in either form.
  package init(propertyList bytes: [UInt8], _ rules: ReadingRules) throws(Fault) {
    self = try Self(PropertyListNode(try PropertyList.read(bytes, maximumLength: Limits.payload)), rules)
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
    self = try JSON.read(text, atMost: Limits.payload) { node throws(Fault) in try Payload(node, rules) }
  }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}

extension UserActivity {
  package init(json text: Text, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, atMost: Limits.payload) { node throws(Fault) in try UserActivity(node, rules) }
  }

  package var json: Text { JSONObjectWriter.text { write(to: &$0) } }
}
