import DBus
import SceneModel

/// A value of a call's dictionaries that is being read. A variant inside a variant counts as its content, because clients wrap values freely.
///
/// A dictionary has no order on the bus. Its fields are read in the order of their keys, so that of several faults the same one is reported each
/// time.
struct VariantNode: DocumentNode {
  typealias Key = TextKey

  /// The descriptors of the representations, in the order in which they are read.
  final class Descriptors {
    fileprivate(set) var used: [OwnedFileDescriptor] = []
  }

  private let variant: Variant
  private let descriptors: Descriptors
  let place: Place

  init(_ variant: Variant, at place: Place, _ descriptors: Descriptors) {
    var variant = variant
    while case .variant(let content) = variant { variant = content }
    (self.variant, self.place, self.descriptors) = (variant, place, descriptors)
  }

  static var isOfCall: Bool { true }
  var isNull: Bool { false }
  var text: Text? { if case .string(let text) = variant { Text(text) } else { nil } }
  var bool: Bool? { if case .boolean(let bool) = variant { bool } else { nil } }
  var data: [UInt8]? { if case .bytes(let bytes) = variant { bytes } else { nil } }
  var objectPath: Text? { if case .objectPath(let path) = variant { Text(path.rawValue) } else { nil } }

  var integer: Int64? {
    switch variant {
    case .byte(let number): Int64(number)
    case .int16(let number): Int64(number)
    case .uint16(let number): Int64(number)
    case .int32(let number): Int64(number)
    case .uint32(let number): Int64(number)
    case .int64(let number): number
    case .uint64(let number): Int64(exactly: number)
    default: nil
    }
  }

  var double: Double? {
    switch variant {
    case .double(let number): number.isFinite ? number : nil
    case .uint64(let number): Double(number)
    default: integer.map(Double.init)
    }
  }

  func descriptor() -> Int? {
    guard case .fileDescriptor(let descriptor) = variant else { return nil }
    descriptors.used.append(descriptor)
    return descriptors.used.count - 1
  }

  var elements: [VariantNode]? {
    guard case .array(_, let elements) = variant else { return nil }
    return elements.enumerated().map { VariantNode($1, at: place.index($0), descriptors) }
  }

  var fields: [(key: TextKey, node: VariantNode)]? {
    guard case .dictionary(key: "s", _, let entries) = variant else { return nil }
    let fields = entries.compactMap { key, value -> (key: Text, value: Variant)? in
      if case .string(let key) = key { (Text(key), value) } else { nil }
    }
    return fields.sorted { $0.key < $1.key }
      .map { (TextKey($0.key), VariantNode($0.value, at: place.key($0.key), descriptors)) }
  }

  func activity(_ rules: ReadingRules) throws(Fault) -> UserActivity {
    guard let text else { throw .expected("an activity as a document", got: shown, at: place) }
    return try UserActivity(json: text, at: place, rules)
  }

  /// The values of a `userInfo` are in the documents of activities, and never in a dictionary.
  func value() throws(Fault) -> Value { throw .expected("a document", got: shown, at: place) }

  var shown: String {
    switch variant {
    case .string(let text): quoted(text)
    case .boolean(let bool): "\(bool)"
    case .double(let number): "\(number)"
    case .uint64(let number): "\(number)"
    case .objectPath(let path): "the object path \(quoted(path.rawValue))"
    case .fileDescriptor: "a file descriptor"
    case .bytes: "bytes"
    default: integer.map { "\($0)" } ?? "a value of type \(quoted(variant.contentSignature.rawValue))"
    }
  }
}
