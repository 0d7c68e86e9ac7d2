struct PropertyListNode: DocumentNode {
  typealias Key = TextKey

  private let tree: Value
  let place: Place

  init(_ tree: Value, _ place: Place = .document) {
    self.tree = tree
    self.place = place
  }

  var isNull: Bool { tree == .null }
  var text: Text? { if case .string(let text) = tree { text } else { nil } }
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
    return elements.enumerated().map { PropertyListNode($1, place.index($0)) }
  }

  var fields: [(key: TextKey, node: PropertyListNode)]? {
    guard case .dictionary(let dictionary) = tree else { return nil }
    return dictionary.entries.map { (TextKey($0.key), PropertyListNode($0.value, place.key($0.key))) }
  }

  func value() -> Value { tree }

  var shown: String { tree.shown }
}
