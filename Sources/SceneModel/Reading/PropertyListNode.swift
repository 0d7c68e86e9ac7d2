/// A value of a property list.
struct PropertyListNode: DocumentNode {
  typealias Key = TextKey

  private let tree: Value
  private let format: PropertyList.Format
  let place: Place

  init(_ list: (value: Value, format: PropertyList.Format)) {
    self.init(list.value, list.format, .document)
  }

  private init(_ tree: Value, _ format: PropertyList.Format, _ place: Place) {
    self.tree = tree
    self.format = format
    self.place = place
  }

  var isNull: Bool { tree == .null }
  /// Also a text that XML cannot hold, and that is therefore tagged.
  var text: Text? {
    switch tree {
    case .string(let text): text
    case .dictionary(let entries) where entries.onlyTag?.key == Tag.text:
      if case .string(let text)? = try? value() { text } else { nil }
    default: nil
    }
  }
  var bool: Bool? { if case .bool(let bool) = tree { bool } else { nil } }
  var integer: Int64? { if case .integer(let integer) = tree { integer } else { nil } }

  var double: Double? {
    switch tree {
    case .integer(let integer): Double(integer)
    case .double(let double): double
    default: nil
    }
  }

  var elements: [PropertyListNode]? {
    guard case .array(let elements) = tree else { return nil }
    return elements.enumerated().map { PropertyListNode($1, format, place.index($0)) }
  }

  var fields: [(key: TextKey, node: PropertyListNode)]? {
    guard case .dictionary(let dictionary) = tree else { return nil }
    return dictionary.entries.map { (TextKey($0.key), PropertyListNode($0.value, format, place.key($0.key))) }
  }

  func value() throws(Fault) -> Value { try Value(tagged: tree, in: .propertyList(format), at: place) }

  var shown: String { tree.shown }
}
