internal import SceneModel

/// A document that the service wrote, read piece by piece.
struct DocumentValue: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }

  init(json: String) throws(StagedoorError) {
    do throws(Fault) {
      value = try JSON.value(Text(json))
    } catch {
      throw .unexpectedReply("a document: \(error)")
    }
  }

  subscript(_ key: Text) -> DocumentValue? {
    guard case .dictionary(let fields) = value else { return nil }
    return fields[key].map { DocumentValue($0) }
  }

  var text: String? { if case .string(let text) = value { text.string } else { nil } }
  var bool: Bool? { if case .bool(let bool) = value { bool } else { nil } }
  var integer: Int? { if case .integer(let integer) = value { Int(integer) } else { nil } }

  /// The elements of an array; none for any other value.
  var elements: [DocumentValue] {
    if case .array(let elements) = value { elements.map { DocumentValue($0) } } else { [] }
  }

  /// The fields whose values are texts.
  var texts: [String: String] {
    guard case .dictionary(let fields) = value else { return [:] }
    var texts: [String: String] = [:]
    for entry in fields.entries { if case .string(let text) = entry.value { texts[entry.key.string] = text.string } }
    return texts
  }

  var activity: UserActivity? {
    get throws(StagedoorError) {
      guard case .dictionary = value else { return nil }
      return try UserActivity(json: JSON.text(of: value).string)
    }
  }
}
