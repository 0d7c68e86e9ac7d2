import DBus
import SceneModel

/// Reads items and options from dictionaries, for `DeliverItems`, `BeginDragItems` and `AddItems`.
enum ItemDictionaries {
  typealias Dictionary = [Text: Variant]

  /// The number of values in a call: a field of a dictionary counts as an entry, a key, a variant and a value.
  static let valueLimit = 4 * Limits.values

  static func payload(
    _ items: [Dictionary], _ options: Dictionary, types: TypeCatalog
  ) throws(InterchangeError) -> (payload: Payload, descriptors: [OwnedFileDescriptor]) {
    // A document holds in one value what the call has in two arguments.
    let document: Dictionary = ["items": items.variant, "options": options.variant]
    return try read(document.variant, at: .document) { node throws(Fault) in
      try Payload(node, ReadingRules(types: types))
    }
  }

  static func items(
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

// MARK: - Items in drags

extension Item {
  /// The item without its contents, as a drag shows it, and as a host gets it with a question.
  var shownOnBus: [String: Variant] {
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
