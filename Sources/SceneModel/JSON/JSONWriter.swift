/// Writes values as JSON, on one line. The same value is always written in the same way.
final class JSONWriter {
  // No access spans a call to other code, so a check at run time would find nothing.
  @exclusivity(unchecked) private var buffer = ByteBuffer()

  /// Everything written comes from strings.
  var text: Text { Text(copying: buffer.bytes) }

  func append(_ byte: UInt8) { buffer.append(byte) }

  func append(_ raw: UnsafeRawBufferPointer) { buffer.append(raw) }

  /// Writes `"key":`, after a comma unless it is the first.
  func begin(_ key: StaticString, isFirst: Bool) {
    if !isFirst { append(UInt8(ascii: ",")) }
    append(UInt8(ascii: "\""))
    append(UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    append(UInt8(ascii: "\""))
    append(UInt8(ascii: ":"))
  }

  /// Values that JSON cannot express are written with a tag, unless the whole value has tags already.
  func write(_ value: Value, isTagged: Bool = false) {
    switch value {
    case .null: write(plain: "null")
    case .bool(let bool): write(plain: bool ? "true" : "false")
    case .integer(let integer): write(plain: "\(integer)")
    // The shortest digits that give the same double. They always have a point or an exponent.
    case .double(let double): write(plain: "\(double)")
    case .string(let text): write(text: text)
    case .array(let elements): write(list: elements, isTagged)
    case .dictionary(let dictionary) where isTagged || dictionary.onlyTag == nil: write(dictionary, isTagged)
    case .dictionary, .data, .date, .uuid, .url, .set:
      precondition(!isTagged, "JSON has no words for \(value.kind): it has to be tagged")
      write(value.tagged, isTagged: true)
    }
  }

  private func write(list elements: [Value], _ isTagged: Bool) {
    append(UInt8(ascii: "["))
    for (offset, element) in elements.enumerated() {
      if offset > 0 { append(UInt8(ascii: ",")) }
      write(element, isTagged: isTagged)
    }
    append(UInt8(ascii: "]"))
  }

  private func write(_ dictionary: UserInfo, _ isTagged: Bool) {
    append(UInt8(ascii: "{"))
    for (offset, entry) in dictionary.entries.enumerated() {
      if offset > 0 { append(UInt8(ascii: ",")) }
      write(text: entry.key)
      append(UInt8(ascii: ":"))
      write(entry.value, isTagged: isTagged)
    }
    append(UInt8(ascii: "}"))
  }

  func write(plain text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  func write(text: Text) {
    append(UInt8(ascii: "\""))
    text.withBytes { raw in
      var offset = 0
      while true {
        let end = JSONText.plainEnd(raw, from: offset)
        append(UnsafeRawBufferPointer(rebasing: raw[offset..<end]))
        if end == raw.count { return }
        write(escaped: raw[end])
        offset = end + 1
      }
    }
    append(UInt8(ascii: "\""))
  }

  /// Without a string: a document may have millions of these.
  private func write(escaped byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0D: append(UInt8(ascii: "r"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0..<0x20:
      append(UInt8(ascii: "u"))
      append(UInt8(ascii: "0"))
      append(UInt8(ascii: "0"))
      append(UInt8(ascii: "0") + byte >> 4)
      append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") - 10 + byte & 15)
    default: append(byte)
    }
  }
}

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
