package import SceneModel
import XML

// The service reads property lists and writes none. The tests write the lists that they read.
extension PropertyList {
  /// Reads the output of `write`.
  package static func readTagged(
    _ bytes: [UInt8], maximumLength: Int = Limits.manifest, at place: Place = .document
  ) throws(Fault) -> Value {
    let (tree, format) = try read(bytes, maximumLength: maximumLength)
    return try Value(tagged: tree, in: .propertyList(format), at: place)
  }

  /// Writes any value, in the same way each time. It reads back the same if it is within the limits of the reader.
  package static func write(_ value: Value, as format: Format) -> [UInt8] {
    let tree = value.tagged(in: .propertyList(format))
    switch format {
    case .xml: return XMLPropertyListWriter.document(of: tree)
    case .binary: return BinaryPropertyListWriter.document(of: tree)
    }
  }
}

extension DocumentWriting {
  package func propertyList(_ format: PropertyList.Format) -> [UInt8] { PropertyList.write(document, as: format) }
}

/// Writes `bplist00`: the objects, each before its references, then their positions, then the position of these.
struct BinaryPropertyListWriter {
  private var bytes = Array("bplist00".utf8)
  private var offsets: [Int] = []
  private let referenceSize: Int

  private init(objects: Int) {
    referenceSize = BinaryPropertyListWriter.size(of: objects)
    offsets.reserveCapacity(objects)
  }

  static func document(of tree: Value) -> [UInt8] {
    var writer = BinaryPropertyListWriter(objects: objects(in: tree))
    let top = writer.add(tree)
    return writer.finished(top: top)
  }

  private consuming func finished(top: Int) -> [UInt8] {
    let table = bytes.count
    let offsetSize = BinaryPropertyListWriter.size(of: table)
    for offset in offsets { append(UInt64(offset), size: offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for number in [offsets.count, top, table] { append(UInt64(number), size: 8) }
    return bytes
  }

  /// The number of objects: the largest number determines the length of a reference.
  private static func objects(in value: Value) -> Int {
    switch value {
    case .array(let elements): elements.reduce(1) { $0 + objects(in: $1) }
    case .dictionary(let entries): entries.entries.reduce(1) { $0 + 1 + objects(in: $1.value) }
    default: 1
    }
  }

  /// The number of bytes of a number.
  private static func size(of number: Int) -> Int {
    switch number {
    case ..<0x100: 1
    case ..<0x1_0000: 2
    case ..<0x1_0000_0000: 4
    default: 8
    }
  }
}

// MARK: - Objects

extension BinaryPropertyListWriter {
  /// Returns the number of the object.
  private mutating func add(_ value: Value) -> Int {
    switch value {
    case .bool(let bool): begin(bool ? 0x09 : 0x08)
    case .integer(let integer): add(integer)
    case .double(let double):
      begin(0x23)
      append(double.bitPattern, size: 8)
    case .date(let date):
      begin(0x33)
      append((date.secondsSince2001 ?? 0).bitPattern, size: 8)
    case .data(let data):
      begin(0x40, count: data.count)
      bytes += data
    case .string(let string): add(string)
    case .array(let elements):
      let references = elements.map { add($0) }
      begin(0xA0, count: elements.count)
      append(references)
    case .dictionary(let entries):
      let keys = entries.entries.map { add(.string($0.key)) }
      let values = entries.entries.map { add($0.value) }
      begin(0xD0, count: entries.count)
      append(keys + values)
    case .null, .uuid, .url, .set:
      preconditionFailure("\(value) is tagged before it is written to a property list")
    }
    return offsets.count - 1
  }

  private mutating func add(_ integer: Int64) {
    offsets.append(bytes.count)
    append(counted: UInt64(bitPattern: integer))
  }

  private mutating func add(_ string: Text) {
    if string.withBytes({ $0.allSatisfy { $0 < 0x80 } }) {
      begin(0x50, count: string.count)
      bytes += string.string.utf8
    } else {
      let units = Array(string.string.utf16)
      begin(0x60, count: units.count)
      for unit in units { append(UInt64(unit), size: 2) }
    }
  }

  private mutating func begin(_ marker: UInt8) {
    offsets.append(bytes.count)
    bytes.append(marker)
  }

  private mutating func begin(_ marker: UInt8, count: Int) {
    begin(marker | UInt8(min(count, 0xF)))
    if count >= 0xF { append(counted: UInt64(count)) }
  }

  /// As in an integer object: a negative number takes eight bytes.
  private mutating func append(counted number: UInt64) {
    let size = Int(exactly: number).map(BinaryPropertyListWriter.size) ?? 8
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    append(number, size: size)
  }

  private mutating func append(_ references: [Int]) {
    for reference in references { append(UInt64(reference), size: referenceSize) }
  }

  private mutating func append(_ number: UInt64, size: Int) {
    for place in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
  }
}

/// Lays out values as Apple's writers do.
struct XMLPropertyListWriter {
  private var text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">

    """

  static func document(of tree: Value) -> [UInt8] {
    var writer = XMLPropertyListWriter()
    writer.write(tree, depth: 0)
    writer.text += "</plist>\n"
    return Array(writer.text.utf8)
  }

  private mutating func write(_ value: Value, depth: Int) {
    switch value {
    case .bool(let bool): line(bool ? "<true/>" : "<false/>", depth)
    case .integer(let integer): line("<integer>\(integer)</integer>", depth)
    case .double(let double): line("<real>\(double)</real>", depth)
    case .string(let string): write("string", string, depth)
    case .date(let date): line("<date>\(date.rfc3339)</date>", depth)
    case .data(let bytes): write(bytes, depth)
    case .array(let elements):
      container("array", isEmpty: elements.isEmpty, depth) { writer in
        for element in elements { writer.write(element, depth: depth + 1) }
      }
    case .dictionary(let entries):
      container("dict", isEmpty: entries.isEmpty, depth) { writer in
        for entry in entries.entries {
          writer.write("key", entry.key, depth + 1)
          writer.write(entry.value, depth: depth + 1)
        }
      }
    case .null, .uuid, .url, .set:
      preconditionFailure("\(value) is tagged before it is written to a property list")
    }
  }

  private mutating func write(_ element: String, _ content: Text, _ depth: Int) {
    indent(depth)
    text += "<\(element)>"
    XMLText.append(attribute: content.string, to: &text)
    text += "</\(element)>\n"
  }

  /// Writes lines of less than 76 columns, where a tab counts as eight.
  private mutating func write(_ bytes: [UInt8], _ depth: Int) {
    line("<data>", depth)
    let encoded = Base64.encode(bytes)
    let length = max(16, 76 - 8 * depth) / 4 * 4
    for start in stride(from: 0, to: encoded.count, by: length) {
      line(String(decoding: encoded[start..<min(start + length, encoded.count)], as: UTF8.self), depth)
    }
    line("</data>", depth)
  }

  private mutating func container(
    _ element: String, isEmpty: Bool, _ depth: Int, _ content: (inout XMLPropertyListWriter) -> Void
  ) {
    if isEmpty { return line("<\(element)/>", depth) }
    line("<\(element)>", depth)
    content(&self)
    line("</\(element)>", depth)
  }

  private mutating func line(_ content: String, _ depth: Int) {
    indent(depth)
    text += content
    text += "\n"
  }

  private mutating func indent(_ depth: Int) {
    for _ in 0..<depth { text += "\t" }
  }
}
