import SceneModel

/// A value that was read can be written and read again unchanged, in every form, with its tags.
enum ValueLaws {
  static func check(_ input: [UInt8]) throws(BrokenLaw) -> FuzzedParser.Outcome {
    let document = FuzzedDocument(input)
    let tree = document.tree
    // A dictionary that looks like a tag but is none is refused below, although a property list may contain it.
    if case .propertyList = document.form, let tree { try checkPropertyLists(of: tree) }
    let value: Value
    do throws(Fault) {
      switch document.form {
      case .json(nil): return .unfit
      case .json(let text?): value = try JSON.value(text)
      case .propertyList: value = try PropertyList.readTagged(input)
      }
    } catch {
      try RefusalLaws.check(error, of: document)
      if tree != nil, error.place.hasPrefix("line "), error.kind != .limit {
        throw BrokenLaw("JSON is taken for none: \(error)")
      }
      return .refused
    }
    guard let tree else { throw BrokenLaw("taken for JSON: \(value)") }
    if !tree.hasTags, value != tree { throw BrokenLaw("read as \(value), not \(tree)") }
    try checkJSON(of: value, of: document)
    try checkPropertyLists(of: value)
    return .taken
  }

  private static func checkJSON(of value: Value, of document: FuzzedDocument) throws(BrokenLaw) {
    // A property list has words of its own for some tags: these nest deeper.
    let mayNotFit = if case .propertyList = document.form { true } else { false }
    try BrokenLaw.check(
      value, as: "JSON", mayNotFit: mayNotFit, write: { JSON.text(of: $0) }
    ) { (text) throws(Fault) in try JSON.value(text) }
  }

  private static func checkPropertyLists(of value: Value) throws(BrokenLaw) {
    for format in PropertyList.Format.allCases {
      try BrokenLaw.check(
        value, as: "\(format)", mayNotFit: true, write: { PropertyList.write($0, as: format) }
      ) { (bytes) throws(Fault) in try PropertyList.readTagged(bytes) }
    }
  }
}

extension Value {
  /// Whether a dictionary in the value has a single key that begins with `$`.
  var hasTags: Bool {
    switch self {
    case .array(let elements): elements.contains(where: \.hasTags)
    case .set(let elements): elements.contains(where: \.hasTags)
    case .dictionary(let entries):
      entries.count == 1 && entries.entries.contains { $0.key.hasPrefix("$") }
        || entries.entries.contains { $0.value.hasTags }
    default: false
    }
  }
}
