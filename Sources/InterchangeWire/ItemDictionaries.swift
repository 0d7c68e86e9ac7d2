package import DBus
package import SceneModel

/// Reads items and options from dictionaries, for `DeliverItems`, `BeginDragItems` and `AddItems`.
package enum ItemDictionaries {
  package typealias Dictionary = [Text: Variant]

  /// The number of values in a call: a field of a dictionary counts as an entry, a key, a variant and a value.
  package static let valueLimit = 4 * Limits.values

  package static func payload(
    _ items: [Dictionary], _ options: Dictionary, types: TypeCatalog
  ) throws(InterchangeError) -> (payload: Payload, descriptors: [OwnedFileDescriptor]) {
    // A document holds in one value what the call has in two arguments.
    let document: Dictionary = ["items": items.variant, "options": options.variant]
    return try read(document.variant, at: .document) { node throws(Fault) in
      try Payload(node, ReadingRules(types: types))
    }
  }

  package static func items(
    _ items: [Dictionary], types: TypeCatalog
  ) throws(InterchangeError) -> (items: [Item], descriptors: [OwnedFileDescriptor]) {
    try read(items.variant, at: Place.document.key("items")) { node throws(Fault) in
      try Item.list(node, ReadingRules(types: types))
    }
  }

  private static func read<Result>(
    _ variant: Variant, at place: Place, _ read: (VariantNode) throws(Fault) -> Result
  ) throws(InterchangeError) -> (Result, [OwnedFileDescriptor]) {
    let descriptors = VariantNode.Descriptors()
    do throws(Fault) {
      let size = variant.size
      if size > Limits.payload {
        throw Fault(
          .limit, at: .document,
          "expected at most \(Limits.payload) bytes, got \(size): what is larger comes as a file or a descriptor")
      }
      return (try read(VariantNode(variant, at: place, descriptors)), descriptors.used)
    } catch {
      throw InterchangeError(payload: error)
    }
  }
}

// MARK: - Writing

extension Payload {
  /// The payload as the calls take it.
  ///
  /// - Parameter descriptors: Those that its representations number.
  package func dictionaries(
    _ descriptors: [OwnedFileDescriptor] = []
  ) -> (items: [[String: Variant]], options: [String: Variant]) {
    let items = items.map { item in
      var fields: [String: Variant] = [:]
      if let name = item.suggestedName { fields["suggestedName"] = name.variant }
      if !item.activities.isEmpty { fields["activities"] = item.activities.map(\.json).variant }
      let rows = item.representations.map { $0.dictionary(descriptors) }
      if !rows.isEmpty { fields["representations"] = rows.variant }
      return fields
    }
    return (items, options.document.dictionary)
  }
}

extension Representation {
  fileprivate func dictionary(_ descriptors: [OwnedFileDescriptor]) -> [String: Variant] {
    var row: [String: Variant] = ["type": type.spelling.variant, "visibility": visibility.rawValue.variant]
    switch content {
    case .data(let bytes): row["data"] = .bytes(bytes)
    case .text(let text): row["text"] = text.variant
    case .file(let url): row["file"] = url.variant
    case .descriptor(let number): row["fd"] = descriptors[number].variant
    case .promise(let path): row["provider"] = .objectPath(ObjectPath(unchecked: path.string))
    case .stored: preconditionFailure("only the service stores contents")
    }
    if openInPlace { row["openInPlace"] = true }
    return row
  }
}

extension Value {
  /// The options of a document as the calls take them.
  package var dictionary: [String: Variant] {
    guard case .dictionary(let fields) = self else { return [:] }
    return Dictionary(fields.entries.compactMap { entry in entry.value.option.map { (entry.key.string, $0) } }) { $1 }
  }

  private var option: Variant? {
    switch self {
    case .string(let text): text.variant
    case .bool(let flag): flag.variant
    case .double(let number): number.variant
    case .integer(let number): number.variant
    case .array(let elements): elements.compactMap(\.string).variant
    case .dictionary(let texts):
      Dictionary(texts.entries.map { ($0.key.string, $0.value.string ?? "") }) { $1 }.variant
    default: nil
    }
  }
}

// MARK: - Items in drags

extension Item {
  /// The item without its contents, as a drag shows it, and as a host gets it with a question.
  package var shownOnBus: [String: Variant] {
    var fields: [String: Variant] = [
      "activities": activities.map { UserActivity(activityType: $0.activityType, title: $0.title).json }.variant,
      "representations": representations.map { representation -> [String: Variant] in
        [
          "type": representation.type.spelling.string.variant,
          "visibility": representation.visibility.rawValue.variant,
        ]
      }.variant,
    ]
    if let suggestedName { fields["suggestedName"] = suggestedName.variant }
    return fields
  }
}
