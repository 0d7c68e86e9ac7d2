import SceneModel

/// A JSON document that the service wrote.
struct Document: Hashable, Sendable {
  let value: Value

  init(_ text: String) throws { value = try JSON.value(Text(text)) }
  private init(_ value: Value) { self.value = value }

  subscript(_ key: String) -> Document? {
    guard case .dictionary(let fields) = value else { return nil }
    return fields[Text(key)].map { Document($0) }
  }

  var text: String? {
    if case .string(let text) = value { text.string } else { nil }
  }

  var number: Int? {
    if case .integer(let number) = value { Int(number) } else { nil }
  }

  var elements: [Document] {
    if case .array(let elements) = value { elements.map { Document($0) } } else { [] }
  }

  /// The fields that are texts.
  var texts: [String: String] {
    guard case .dictionary(let fields) = value else { return [:] }
    return Dictionary(
      uniqueKeysWithValues: fields.entries.compactMap { entry in
        if case .string(let text) = entry.value { (entry.key.string, text.string) } else { nil }
      })
  }
}
