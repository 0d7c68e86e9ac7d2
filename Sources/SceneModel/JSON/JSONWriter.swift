/// Writes values as JSON, on one line. The same value is always written the same.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []

  init() {
    // Most documents that the service writes are shorter.
    bytes.reserveCapacity(512)
  }

  /// All that is written comes from strings.
  var text: Text { bytes.withUnsafeBytes { Text(copying: $0) } }

  mutating func append(_ byte: UInt8) { bytes.append(byte) }

  mutating func append(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

  /// What JSON has no words for is written with a tag, unless all of the value has been tagged already.
  mutating func write(_ value: Value, isTagged: Bool = false) {
    switch value {
    case .null: write(plain: "null")
    case .bool(let bool): write(plain: bool ? "true" : "false")
    case .integer(let integer): write(plain: "\(integer)")
    // The shortest digits that give the same double back; they always have a point or an exponent.
    case .double(let double): write(plain: "\(double)")
    case .string(let text): write(text: text)
    case .array(let elements): write(list: elements, isTagged)
    case .dictionary(let dictionary) where isTagged || dictionary.onlyTag == nil: write(dictionary, isTagged)
    case .dictionary, .data, .date, .uuid, .url, .set:
      precondition(!isTagged, "JSON has no words for \(value.kind): it has to be tagged")
      write(value.tagged(in: .json), isTagged: true)
    }
  }

  private mutating func write(list elements: [Value], _ isTagged: Bool) {
    bytes.append(UInt8(ascii: "["))
    for (offset, element) in elements.enumerated() {
      if offset > 0 { bytes.append(UInt8(ascii: ",")) }
      write(element, isTagged: isTagged)
    }
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func write(_ dictionary: UserInfo, _ isTagged: Bool) {
    bytes.append(UInt8(ascii: "{"))
    for (offset, entry) in dictionary.entries.enumerated() {
      if offset > 0 { bytes.append(UInt8(ascii: ",")) }
      write(text: entry.key)
      bytes.append(UInt8(ascii: ":"))
      write(entry.value, isTagged: isTagged)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func write(plain text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func write(text: Text) {
    bytes.append(UInt8(ascii: "\""))
    text.withBytes { raw in
      var offset = 0
      while true {
        let end = JSONText.plainEnd(raw, from: offset)
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: raw[offset..<end]))
        if end == raw.count { return }
        write(escaped: raw[end])
        offset = end + 1
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func write(escaped byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): write(plain: "\\\"")
    case UInt8(ascii: "\\"): write(plain: "\\\\")
    case 0x0A: write(plain: "\\n")
    case 0x0D: write(plain: "\\r")
    case 0x09: write(plain: "\\t")
    default: write(plain: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16))
    }
  }
}
