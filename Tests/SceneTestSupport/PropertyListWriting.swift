package import SceneModel
import XML

// The service reads property lists and writes none. The tests write the lists that they read.
extension PropertyList {
  package enum Format: Hashable, Sendable, CaseIterable { case xml, binary }

  /// Writes a value that the form can express. It reads back the same if it is within the limits of the reader.
  package static func write(_ value: Value, as format: Format) -> [UInt8] {
    switch format {
    case .xml: Array("<plist>\(xml(value))</plist>".utf8)
    case .binary: BinaryPropertyList.file(of: value)
    }
  }

  private static func xml(_ value: Value) -> String {
    func element(_ name: String, _ content: String) -> String { "<\(name)>\(content)</\(name)>\n" }
    switch value {
    case .bool(let bool): return bool ? "<true/>" : "<false/>"
    case .integer(let integer): return element("integer", "\(integer)")
    case .double(let double): return element("real", "\(double)")
    case .string(let text): return element("string", escapedForXML(text.string))
    case .date(let date): return element("date", date.rfc3339)
    case .data(let bytes): return element("data", Base64.text(of: bytes).string)
    case .array(let elements): return element("array", elements.map(xml).joined())
    case .dictionary(let dictionary):
      let entries = dictionary.entries.map { element("key", escapedForXML($0.key.string)) + xml($0.value) }
      return element("dict", entries.joined())
    case .null, .uuid, .url, .set: preconditionFailure("XML has no words for \(value)")
    }
  }
}

extension DocumentWriting {
  /// The document in each form that can express it.
  package var propertyLists: [[UInt8]] {
    PropertyList.Format.allCases.filter { document.fitting($0) == document }.map {
      PropertyList.write(document, as: $0)
    }
  }
}

extension Value {
  /// The value, or the nearest one that a form of property lists can express.
  package func fitting(_ format: PropertyList.Format) -> Value {
    switch self {
    case .null where format == .xml: false
    case .set(let set) where format == .xml: Value.array(set.elements).fitting(format)
    case .set(let set): .set(ValueSet(set.elements.map { $0.fitting(format) }))
    case .array(let elements): .array(elements.map { $0.fitting(format) })
    case .dictionary(let dictionary):
      .dictionary(
        dictionary.entries.reduce(into: UserInfo()) { $0[$1.key.fitting(format)] = .some($1.value.fitting(format)) })
    case .string(let text), .uuid(let text), .url(let text): .string(text.fitting(format))
    case .date(let date): .date(Instant(microseconds: date.microseconds / 1_000_000 * 1_000_000))
    case .null, .bool, .integer, .double, .data: self
    }
  }
}

extension Text {
  fileprivate func fitting(_ format: PropertyList.Format) -> Text {
    format == .binary ? self : Text(String(String.UnicodeScalarView(string.unicodeScalars.filter(XMLText.isAllowed))))
  }
}

/// Assembles a binary property list from objects in file order, also lists that no writer would write.
package enum BinaryPropertyList {
  package static func file(
    _ objects: [[UInt8]], top: Int = 0, offsetSize: Int = 1, referenceSize: Int = 1
  ) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for object in objects {
      table += number(bytes.count, size: offsetSize)
      bytes += object
    }
    let start = bytes.count
    bytes += table + [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    for field in [objects.count, top, start] { bytes += number(field, size: 8) }
    return bytes
  }

  /// The number with its highest byte first.
  package static func number(_ number: Int, size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> (8 * $0) : 0) }
  }

  package static func array(_ references: [Int], referenceSize: Int = 1) -> [UInt8] {
    counted(0xA0, references.count) + references.flatMap { number($0, size: referenceSize) }
  }

  private static func counted(_ kind: UInt8, _ count: Int) -> [UInt8] { [kind | 0xF, 0x12] + number(count, size: 4) }

  /// Each object comes before those that it refers to.
  static func file(of value: Value) -> [UInt8] {
    var objects: [[UInt8]] = []
    func add(_ value: Value) -> Int {
      let place = objects.count
      objects.append([])
      objects[place] = object(value)
      return place
    }
    func container(_ kind: UInt8, _ count: Int, _ values: [Value]) -> [UInt8] {
      counted(kind, count) + values.map(add).flatMap { number($0, size: 4) }
    }
    func real(_ kind: UInt8, _ double: Double) -> [UInt8] {
      [kind] + number(Int(bitPattern: UInt(double.bitPattern)), size: 8)
    }
    func object(_ value: Value) -> [UInt8] {
      switch value {
      case .null: return [0x00]
      case .bool(let bool): return [bool ? 0x09 : 0x08]
      case .integer(let integer): return [0x13] + number(Int(integer), size: 8)
      case .double(let double): return real(0x23, double)
      case .date(let date): return real(0x33, Double(date.microseconds - 978_307_200_000_000) / 1_000_000)
      case .data(let bytes): return counted(0x40, bytes.count) + bytes
      case .string(let text):
        let units = Array(text.string.utf16)
        if units.allSatisfy({ $0 < 0x80 }) { return counted(0x50, text.count) + text.string.utf8 }
        return counted(0x60, units.count) + units.flatMap { number(Int($0), size: 2) }
      case .array(let elements): return container(0xA0, elements.count, elements)
      case .set(let set): return container(0xC0, set.elements.count, set.elements)
      case .dictionary(let dictionary):
        let (keys, values) = (dictionary.entries.map { Value.string($0.key) }, dictionary.entries.map(\.value))
        return container(0xD0, dictionary.count, keys + values)
      case .uuid, .url: preconditionFailure("a property list has no words for \(value)")
      }
    }
    let top = add(value)
    return file(objects, top: top, offsetSize: 4, referenceSize: 4)
  }
}
