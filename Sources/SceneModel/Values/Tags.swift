/// Tags, by which JSON writes the values that it has no words for: a dictionary whose only key begins with `$`.
///
/// | tag | holds | stands for |
/// |---|---|---|
/// | `$date` | text of RFC 3339 | a date |
/// | `$data` | base64 | data |
/// | `$uuid`, `$url` | text | a UUID, a URL, as they are spelled |
/// | `$set` | an array | a set |
/// | `$literal` | a dictionary | that dictionary, where its only key begins with `$` itself |
enum Tag {
  static let date: Text = "$date"
  static let data: Text = "$data"
  static let uuid: Text = "$uuid"
  static let url: Text = "$url"
  static let set: Text = "$set"
  static let literal: Text = "$literal"

  static let mark: Text = "$"
}

// MARK: - Writing

extension Value {
  /// The value in JSON's own values, and tags.
  package var tagged: Value {
    switch self {
    case .null, .bool, .integer, .double, .string: return self
    case .data(let bytes): return [Tag.data: .string(Base64.text(of: bytes))]
    case .date(let date): return [Tag.date: .string(Text(date.rfc3339))]
    case .uuid(let text): return [Tag.uuid: .string(text)]
    case .url(let text): return [Tag.url: .string(text)]
    case .array(let elements): return .array(elements.map(\.tagged))
    case .set(let set): return [Tag.set: .array(set.elements.map(\.tagged))]
    case .dictionary(let entries):
      let tagged = Value.dictionary(entries.mapValues { $0.value.tagged })
      return entries.onlyTag == nil ? tagged : [Tag.literal: tagged]
    }
  }
}

// MARK: - Depth

extension Value {
  /// The number of levels as JSON.
  fileprivate var levels: Int {
    switch self {
    case .null, .bool, .integer, .double, .string: 0
    case .data, .date, .uuid, .url: 1
    case .array(let elements): 1 + (elements.lazy.map(\.levels).max() ?? 0)
    case .set(let set): 2 + (set.elements.lazy.map(\.levels).max() ?? 0)
    case .dictionary(let entries): entries.levels
    }
  }
}

extension UserInfo {
  fileprivate var levels: Int { (onlyTag == nil ? 1 : 2) + (entries.lazy.map(\.value.levels).max() ?? 0) }

  /// Refuses values that a document could not hold; keys and values count alike there.
  package func refuseSize(at place: Place) throws(Fault) {
    if 2 * count > Limits.values {
      throw Fault(.limit, at: place, "expected at most \(Limits.values / 2) entries, got \(count)")
    }
    var bytes = 0
    for entry in entries {
      bytes += entry.key.count
      if case .string(let text) = entry.value { bytes += text.count }
      if bytes > Limits.payload {
        throw Fault(.limit, at: place, "expected at most \(Limits.payload) bytes of text")
      }
    }
  }

  func refuseDepth(at place: Place) throws(Fault) {
    if levels <= Limits.userInfoDepth { return }
    throw Fault(.limit, at: place, "expected at most \(Limits.userInfoDepth) levels of nesting, got \(levels)")
  }

  /// The entry that makes the dictionary look like a tag.
  var onlyTag: Entry? { entries.first.flatMap { count == 1 && $0.key.hasPrefix(Tag.mark) ? $0 : nil } }
}
