/// Replaces the tags in a tree of JSON by the values that they stand for.
extension Value {
  /// `place` is the place of the tree. A fault names the dictionary that is the tag, or a value in it.
  package init(tagged tree: Value, at place: Place = .document) throws(Fault) {
    switch tree {
    case .null, .bool, .integer, .double, .string, .data, .date, .uuid, .url, .set: self = tree
    case .array(let elements): self = .array(try Value.untagged(elements, at: place))
    case .dictionary(let entries):
      if let tag = entries.onlyTag {
        self = try Value.meaning(of: tag, at: place)
      } else {
        self = .dictionary(try Value.untagged(entries, at: place))
      }
    }
  }

  private static func untagged(_ elements: [Value], at place: Place) throws(Fault) -> [Value] {
    var untagged: [Value] = []
    untagged.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      untagged.append(try Value(tagged: element, at: place.index(index)))
    }
    return untagged
  }

  private static func untagged(_ entries: UserInfo, at place: Place) throws(Fault) -> UserInfo {
    try entries.mapValues { (entry) throws(Fault) in try Value(tagged: entry.value, at: place.key(entry.key)) }
  }

  private static func meaning(of tag: UserInfo.Entry, at place: Place) throws(Fault) -> Value {
    switch (tag.key, tag.value) {
    case (Tag.uuid, .string(let text)) where UniqueIdentifier(text) != nil: return .uuid(text)
    case (Tag.url, .string(let text)) where URLText.isValid(text): return .url(text)
    case (Tag.date, .string(let text)): if let date = Instant(rfc3339: text) { return .date(date) }
    case (Tag.data, .string(let text)): if let data = Base64.decode(text) { return .data(data) }
    case (Tag.set, .array(let elements)): return .set(try set(of: elements, at: place))
    case (Tag.literal, .dictionary(let entries)): return .dictionary(try untagged(entries, at: place))
    default: break
    }
    guard let expected = contents[tag.key] else {
      throw .expected("$date, $data, $uuid, $url, $set or $literal", got: quoted(tag.key.string), at: place)
    }
    throw .expected(expected, got: tag.value.shown, at: place)
  }

  private static let contents = [
    Tag.uuid: "a UUID", Tag.url: "an absolute URL", Tag.date: "an RFC 3339 date, such as 2026-12-31T00:00:00Z",
    Tag.data: "base64", Tag.set: "an array in $set", Tag.literal: "a dictionary in $literal",
  ]

  private static func set(of elements: [Value], at place: Place) throws(Fault) -> ValueSet {
    let values = try untagged(elements, at: place)
    let set = ValueSet(values)
    if set.elements.count == values.count { return set }
    var seen: Set<Value> = []
    let repeated = values.firstIndex { !seen.insert($0).inserted }
    throw .expected("each value of a set once", at: repeated.map(place.index) ?? place)
  }
}

extension Value {
  /// The value in the spelling of a message: a text as it is, anything else by its kind.
  var shown: String {
    if case .string(let text) = self { quoted(text.string) } else { kind }
  }
}
