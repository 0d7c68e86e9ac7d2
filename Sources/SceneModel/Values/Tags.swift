import XML

/// Tags, by which a document writes the values that its form cannot express: a dictionary whose only key begins with `$`.
///
/// | tag | holds | stands for |
/// |---|---|---|
/// | `$date` | text of RFC 3339 | a date |
/// | `$data` | base64 | data |
/// | `$uuid`, `$url` | text | a UUID, a URL, as they are spelled |
/// | `$set` | an array | a set |
/// | `$literal` | a dictionary | that dictionary, where its only key begins with `$` itself |
/// | `$null` | true | null, in a property list |
/// | `$text` | data | text in UTF-8 that XML cannot hold, in a property list |
/// | `$entries` | an array | a dictionary, its keys and values by turns, where XML cannot hold a key |
package enum TaggedForm: Hashable, Sendable {
  case json
  case propertyList(PropertyList.Format)
}

/// The tags by their names.
enum Tag {
  static let date: Text = "$date"
  static let data: Text = "$data"
  static let uuid: Text = "$uuid"
  static let url: Text = "$url"
  static let set: Text = "$set"
  static let literal: Text = "$literal"
  static let null: Text = "$null"
  static let text: Text = "$text"
  static let entries: Text = "$entries"

  static let mark: Text = "$"
}

// MARK: - Values without tags

extension TaggedForm {
  var hasNull: Bool { self == .json }
  var hasData: Bool { self != .json }

  func has(_ date: Instant) -> Bool {
    switch self {
    case .json: false
    case .propertyList(.xml): date.microseconds % Instant.microsecondsInSecond == 0
    case .propertyList(.binary): date.secondsSince2001.flatMap(Instant.init(secondsSince2001:)) == date
    }
  }

  func has(_ text: Text) -> Bool {
    switch self {
    case .json, .propertyList(.binary): true
    case .propertyList(.xml): text.string.unicodeScalars.allSatisfy(XMLText.isAllowed)
    }
  }
}

// MARK: - Writing

extension Value {
  /// The value in the form's own values, and tags. A set is sorted, so that it is always written in the same way.
  package func tagged(in form: TaggedForm) -> Value {
    switch self {
    case .null: form.hasNull ? self : [Tag.null: true]
    case .bool, .integer, .double: self
    case .string(let text): form.has(text) ? self : [Tag.text: .data(Array(text.string.utf8))]
    case .data(let bytes): form.hasData ? self : [Tag.data: .string(Base64.text(of: bytes))]
    case .date(let date): form.has(date) ? self : [Tag.date: .string(Text(date.rfc3339))]
    case .uuid(let text): [Tag.uuid: .string(text)]
    case .url(let text): [Tag.url: .string(text)]
    case .array(let elements): .array(elements.map { $0.tagged(in: form) })
    case .set(let elements): [Tag.set: .array(elements.map { $0.tagged(in: form) }.inOrder)]
    case .dictionary(let entries): Value.tagged(entries, in: form)
    }
  }

  private static func tagged(_ entries: UserInfo, in form: TaggedForm) -> Value {
    let tagged = entries.mapValues { $0.value.tagged(in: form) }
    if !entries.entries.allSatisfy({ form.has($0.key) }) {
      return [Tag.entries: .array(tagged.entries.flatMap { [Value.string($0.key).tagged(in: form), $0.value] })]
    }
    return entries.onlyTag == nil ? .dictionary(tagged) : [Tag.literal: .dictionary(tagged)]
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
    case .set(let elements): 2 + (elements.lazy.map(\.levels).max() ?? 0)
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
