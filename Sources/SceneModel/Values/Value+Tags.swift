/// Replaces the tags in a document's tree by the values that they stand for.
extension Value {
  /// `place` is the place of the tree. A fault names the dictionary that is the tag, or a value in it.
  package init(tagged tree: Value, in form: TaggedForm, at place: Place = .document) throws(Fault) {
    switch tree {
    case .null, .bool, .integer, .double, .string, .data, .date, .uuid, .url: self = tree
    case .array(let elements): self = .array(try Value.untagged(elements, in: form, at: place))
    case .set(let elements): self = .set(try Value.untagged(elements, in: form, at: place))
    case .dictionary(let entries):
      if let tag = entries.onlyTag {
        self = try Value.meaning(of: tag, in: form, at: place)
      } else {
        self = .dictionary(try Value.untagged(entries, in: form, at: place))
      }
    }
  }

  private static func untagged(
    _ elements: [Value], in form: TaggedForm, at place: Place
  ) throws(Fault) -> [Value] {
    var untagged: [Value] = []
    untagged.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      untagged.append(try Value(tagged: element, in: form, at: place.index(index)))
    }
    return untagged
  }

  private static func untagged(
    _ entries: UserInfo, in form: TaggedForm, at place: Place
  ) throws(Fault) -> UserInfo {
    try entries.mapValues { (entry) throws(Fault) in
      try Value(tagged: entry.value, in: form, at: place.key(entry.key))
    }
  }

  /// The elements of a set have no order, so faults name no place inside it.
  private static func untagged(
    _ elements: Set<Value>, in form: TaggedForm, at place: Place
  ) throws(Fault) -> Set<Value> {
    var set = Set<Value>(minimumCapacity: elements.count)
    for element in elements where !set.insert(try Value(tagged: element, in: form, at: place)).inserted {
      throw .expected("each value of a set once", at: place)
    }
    return set
  }

  private static func meaning(
    of tag: UserInfo.Entry, in form: TaggedForm, at place: Place
  ) throws(Fault) -> Value {
    let isList = form != .json
    switch (tag.key, tag.value) {
    case (Tag.uuid, .string(let text)) where UniqueIdentifier(text) != nil: return .uuid(text)
    case (Tag.url, .string(let text)) where URLText.isValid(text): return .url(text)
    case (Tag.date, .string(let text)): if let date = Instant(rfc3339: text) { return .date(date) }
    case (Tag.data, .string(let text)): if let data = Base64.decode(text) { return .data(data) }
    case (Tag.set, .array(let elements)): return .set(try set(of: elements, in: form, at: place))
    case (Tag.literal, .dictionary(let entries)): return .dictionary(try untagged(entries, in: form, at: place))
    case (Tag.null, true) where isList: return .null
    case (Tag.text, .data(let bytes)) where isList:
      if let text = String(validating: bytes, as: UTF8.self) { return .string(Text(text)) }
      throw .expected("UTF-8 in $text", at: place)
    case (Tag.entries, .array(let elements)) where isList:
      return .dictionary(try entries(of: elements, in: form, at: place))
    default: break
    }
    guard let expected = contents[tag.key] ?? (isList ? contentsInLists[tag.key] : nil) else {
      throw .expected("$date, $data, $uuid, $url, $set or $literal", got: quoted(tag.key.string), at: place)
    }
    throw .expected(expected, got: tag.value.shown, at: place)
  }

  /// What each tag holds.
  private static let contents = [
    Tag.uuid: "a UUID", Tag.url: "an absolute URL", Tag.date: "an RFC 3339 date", Tag.data: "base64",
    Tag.set: "an array in $set", Tag.literal: "a dictionary in $literal",
  ]
  /// The same of those that only property lists have.
  private static let contentsInLists = [
    Tag.null: "true in $null", Tag.text: "data in $text", Tag.entries: "an array in $entries",
  ]

  private static func set(
    of elements: [Value], in form: TaggedForm, at place: Place
  ) throws(Fault) -> Set<Value> {
    // A set that grows hashes its elements anew each time, and sets in sets would so be hashed some hundred times.
    var set = Set<Value>(minimumCapacity: elements.count)
    for (index, element) in try untagged(elements, in: form, at: place).enumerated()
    where !set.insert(element).inserted {
      throw .expected("each value of a set once", at: place.index(index))
    }
    return set
  }

  private static func entries(
    of elements: [Value], in form: TaggedForm, at place: Place
  ) throws(Fault) -> UserInfo {
    let elements = try untagged(elements, in: form, at: place)
    var entries: [UserInfo.Entry] = []
    for index in stride(from: 0, to: elements.count, by: 2) {
      guard case .string(let key) = elements[index] else {
        throw .expected("a key", got: elements[index].shown, at: place.index(index))
      }
      guard index + 1 < elements.count else { throw .expected("a value after the key", at: place.index(index)) }
      entries.append(.init(key: key, value: elements[index + 1]))
    }
    if let made = UserInfo(entries) { return made }
    let key = UserInfo.duplicate(in: entries) ?? .empty
    throw .expected("each key once", got: "\(quoted(key.string)) twice", at: place)
  }
}

extension Value {
  /// The value in the spelling of a message: a text as it is, anything else by its kind.
  var shown: String {
    if case .string(let text) = self { quoted(text.string) } else { kind }
  }
}
