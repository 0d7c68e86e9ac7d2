extension Document {
  /// Reads the document in JSON.
  package init(json text: Text, atMost limit: Int = Limits.payload, _ rules: ReadingRules) throws(Fault) {
    self = try JSON.read(text, atMost: limit) { node throws(Fault) in try Self(node, rules) }
  }

  /// Reads the document as a property list, in either form.
  package init(propertyList bytes: [UInt8], atMost limit: Int = Limits.payload, _ rules: ReadingRules) throws(Fault) {
    self = try Self(PropertyListNode(try PropertyList.read(bytes, maximumLength: limit)), rules)
  }
}

extension DocumentWriting {
  package var json: Text { JSON.text(of: document) }

  package func propertyList(_ format: PropertyList.Format) -> [UInt8] { PropertyList.write(document, as: format) }
}
