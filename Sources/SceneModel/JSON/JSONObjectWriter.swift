/// Writes a document as JSON, key by key, without making a value first: the service writes several documents for each delivery.
///
/// Keys come in the order of their bytes, as everywhere else, and need no escapes.
package struct JSONObjectWriter: DocumentFields {
  private let writer = JSONWriter()
  private var lastKey: StaticString?

  /// The object with the keys that `body` writes.
  package static func text(_ body: (inout JSONObjectWriter) -> Void) -> Text {
    var object = JSONObjectWriter()
    object.braced(body)
    return object.writer.text
  }

  package mutating func set(_ key: StaticString, _ value: Value) {
    begin(key)
    writer.write(value)
  }

  package mutating func set(_ key: StaticString, _ text: Text) {
    begin(key)
    writer.write(text: text)
  }

  package mutating func object(_ key: StaticString, _ body: (inout JSONObjectWriter) -> Void) {
    begin(key)
    braced(body)
  }

  package mutating func list<Element>(
    _ key: StaticString, _ elements: [Element], _ body: (inout JSONObjectWriter, Element) -> Void
  ) {
    begin(key)
    writer.append(UInt8(ascii: "["))
    for place in elements.indices {
      if place > 0 { writer.append(UInt8(ascii: ",")) }
      braced { body(&$0, elements[place]) }
    }
    writer.append(UInt8(ascii: "]"))
  }

  private mutating func braced(_ body: (inout JSONObjectWriter) -> Void) {
    let outer = lastKey
    lastKey = nil
    writer.append(UInt8(ascii: "{"))
    body(&self)
    writer.append(UInt8(ascii: "}"))
    lastKey = outer
  }

  private mutating func begin(_ key: StaticString) {
    assert(
      lastKey.map { Text($0.description) < Text(key.description) } ?? true, "keys come in the order of their bytes")
    writer.begin(key, isFirst: lastKey == nil)
    lastKey = key
  }
}
