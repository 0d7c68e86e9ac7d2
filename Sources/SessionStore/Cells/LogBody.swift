import SceneModel

/// The body of a log entry: its values one after another, each behind a byte for its kind.
struct LogBodyWriter: CellWriter, ~Copyable {
  private var buffer = ByteBuffer()

  var bytes: UnsafeRawBufferPointer { buffer.bytes }

  mutating func removeAll() { buffer.removeAll() }

  mutating func putNull() { buffer.append(LogBodyTag.null.rawValue) }

  mutating func put(_ integer: Int64) {
    buffer.append(LogBodyTag.integer.rawValue)
    // Small integers of either sign are short.
    put(varying: UInt64(bitPattern: integer << 1 ^ integer >> 63))
  }

  mutating func put(_ text: Text) {
    buffer.append(LogBodyTag.text.rawValue)
    put(varying: UInt64(text.count))
    text.withBytes { buffer.append($0) }
  }

  mutating func put(_ identifier: UniqueIdentifier) {
    buffer.append(LogBodyTag.bytes.rawValue)
    put(varying: 16)
    identifier.withBytes { buffer.append($0) }
  }

  private mutating func put(varying number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(rest))
  }

  /// Adds an entry to a row with several. Returns the length of its body.
  mutating func put(_ record: Record) -> Int {
    buffer.append(UInt8(record.kind.rawValue))
    let start = buffer.count + 4
    _ = buffer.extend(by: 4)
    record.put(into: &self)
    let length = buffer.count - start
    buffer.store(UInt32(length), at: start - 4)
    return length
  }
}

private enum LogBodyTag: UInt8 {
  case null, integer, text, bytes
}

/// Reads the output of `LogBodyWriter` from bytes that may have been damaged.
struct LogBodyReader: CellReader {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func cell() throws(Malformed) -> Cell {
    guard offset < bytes.count, let tag = LogBodyTag(rawValue: bytes[offset]) else {
      throw Malformed("expected a value at byte \(offset)")
    }
    offset += 1
    switch tag {
    case .null: return .null
    case .integer:
      let number = try varying()
      return .integer(Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1))
    case .text:
      guard let text = try counted().withUnsafeBytes({ Text(validating: $0) }) else {
        throw Malformed("expected UTF-8 before byte \(offset)")
      }
      return .text(text)
    case .bytes: return .identifier(try counted().withUnsafeBytes { UniqueIdentifier(stored: $0) })
    }
  }

  private mutating func counted() throws(Malformed) -> ArraySlice<UInt8> {
    let count = try varying()
    guard count <= UInt64(bytes.count - offset) else { throw Malformed("expected \(count) bytes at byte \(offset)") }
    defer { offset += Int(count) }
    return bytes[offset..<(offset + Int(count))]
  }

  private mutating func varying() throws(Malformed) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard offset < bytes.count else { throw Malformed("expected more than \(offset) bytes") }
      let byte = bytes[offset]
      offset += 1
      if shift == 63, byte > 1 { break }
      number |= UInt64(byte & 0x7F) << UInt64(shift)
      if byte < 0x80 { return number }
    }
    throw Malformed("expected a number of 64 bits before byte \(offset)")
  }
}

// MARK: - Rows with several entries

/// An entry of the log as it is stored.
struct LogEntry {
  let position: Int64
  let kind: Int64
  let body: [UInt8]

  /// The kind of a row that has several entries: for each its kind in one byte, the length of its body in four, and its body.
  static let several: Int64 = 64
}

extension LogBodyReader {
  /// The entries of a row between two positions until the first that is not whole, and the bytes after these.
  static func entries(of row: [UInt8], after position: Int64, upTo last: Int64) -> ([LogEntry], rest: [UInt8]) {
    var entries: [LogEntry] = []
    var rest = row[...]
    while rest.count >= 5, position + Int64(entries.count) < last {
      let header = Array(rest.prefix(5))
      let length = (1...4).reduce(0) { $0 | Int(header[$1]) << (8 * ($1 - 1)) }
      if length > rest.count - 5 { break }
      let body = Array(rest.dropFirst(5).prefix(length))
      entries.append(LogEntry(position: position + Int64(entries.count) + 1, kind: Int64(header[0]), body: body))
      rest = rest.dropFirst(5 + length)
    }
    return (entries, Array(rest))
  }
}
