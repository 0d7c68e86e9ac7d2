/// Writes values as JSON, on one line. The same value is always written in the same way.
///
/// It owns its memory alone. An array would check before each piece whether it is shared, and a delivery has eighty pieces.
final class JSONWriter {
  private var start: UnsafeMutableRawPointer
  private var count = 0
  // Most documents that the service writes are shorter.
  private var capacity = 512

  init() { start = .allocate(byteCount: capacity, alignment: 1) }

  deinit { start.deallocate() }

  /// Everything written comes from strings.
  var text: Text { Text(copying: UnsafeRawBufferPointer(start: start, count: count)) }

  func append(_ byte: UInt8) {
    makeSpace(for: 1)
    start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  func append(_ raw: UnsafeRawBufferPointer) {
    guard let source = raw.baseAddress else { return }
    makeSpace(for: raw.count)
    (start + count).copyMemory(from: source, byteCount: raw.count)
    count += raw.count
  }

  @inline(__always)
  private func makeSpace(for size: Int) { if capacity - count < size { grow(by: size) } }

  @inline(never)
  private func grow(by size: Int) {
    capacity = max(2 * capacity, count + size)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    larger.copyMemory(from: start, byteCount: count)
    start.deallocate()
    start = larger
  }

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
      write(value.tagged(in: .json), isTagged: true)
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

  private func write(escaped byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): write(plain: "\\\"")
    case UInt8(ascii: "\\"): write(plain: "\\\\")
    case 0x0A: write(plain: "\\n")
    case 0x0D: write(plain: "\\r")
    case 0x09: write(plain: "\\t")
    default: write(plain: "\\u00" + hexadecimal(byte))
    }
  }
}
