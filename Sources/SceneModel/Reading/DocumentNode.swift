/// One value of a document that is being read, in JSON, a property list or a dictionary of a call.
///
/// The meaning of a document is written once, in terms of this protocol; the form of the document does not matter there. A node returns `nil` for a
/// kind of value that it is not, and `fault` then gives the expected value and the place.
package protocol DocumentNode {
  associatedtype Key: DocumentKey
  associatedtype Fields: Sequence<(key: Key, node: Self)>
  associatedtype Elements: Sequence<Self>

  var isNull: Bool { get }
  var text: Text? { get }
  var bool: Bool? { get }
  /// Also `nil` for an integer of more than 64 bits.
  var integer: Int64? { get }
  /// Also `nil` for a number beyond a double.
  var double: Double? { get }
  var elements: Elements? { get }
  var fields: Fields? { get }
  /// The value in the form of a `userInfo`, tags included.
  func value() throws(Fault) -> Value

  /// Whether this is a dictionary of a call instead of a document: it also has descriptors and objects, data are bytes, and an activity is a document
  /// in a text.
  static var isOfCall: Bool { get }
  /// The bytes, in the spelling of this form.
  var data: [UInt8]? { get }
  /// The number of a file descriptor among those that the call's items use.
  func descriptor() -> Int?
  var objectPath: Text? { get }
  func activity(_ rules: ReadingRules) throws(Fault) -> UserActivity

  /// Needed only for a fault.
  var place: Place { get }
  /// A few words about the value.
  var shown: String { get }
}

/// The key of a field. It is compared with the keys that a reader knows, and becomes a text only if it is another.
package protocol DocumentKey {
  var text: Text { get }
  func isEqual(to known: StaticString) -> Bool
}

/// So that a reader can `switch` over a key.
@inline(__always)
func ~= (known: StaticString, key: some DocumentKey) -> Bool { key.isEqual(to: known) }

extension DocumentNode {
  package static var isOfCall: Bool { false }
  package var data: [UInt8]? { text.flatMap { Base64.decode($0) } }
  package func descriptor() -> Int? { nil }
  package var objectPath: Text? { nil }
  package func activity(_ rules: ReadingRules) throws(Fault) -> UserActivity { try UserActivity(self, rules) }
}

package struct TextKey: DocumentKey {
  package let text: Text

  package init(_ text: Text) { self.text = text }

  package func isEqual(to known: StaticString) -> Bool {
    text.count == known.utf8CodeUnitCount
      && text.withBytes { Text.areEqual($0, UnsafeRawBufferPointer(start: known.utf8Start, count: $0.count)) }
  }
}

// MARK: - Required values

extension DocumentNode {
  func fault(_ expected: String) -> Fault { .expected(expected, got: shown, at: place) }

  func requireFields(_ expected: String = "a dictionary") throws(Fault) -> Fields {
    guard let fields else { throw fault(expected) }
    return fields
  }

  /// The fields of a document with these keys. The reader skips other keys, so that newer senders work with older services, unless the sender wants a
  /// fault.
  func requireFields(
    _ expected: String, knowing keys: [StaticString], _ isStrict: Bool
  ) throws(Fault) -> Fields {
    let fields = try requireFields(expected)
    if isStrict { try refuseUnknown(besides: keys) }
    return fields
  }

  func refuseUnknown(besides keys: [StaticString]) throws(Fault) {
    for (key, node) in try requireFields() where !keys.contains(where: { $0 ~= key }) {
      let known = keys.map { "\($0)" }.listed("or")
      throw .expected("\(known), since the options say strict", got: quoted(key.text.string), at: node.place)
    }
  }

  /// Reads each element in the same way.
  func list<Element>(
    of expected: String, atMost limit: Int = Limits.values, _ read: (Self) throws(Fault) -> Element
  ) throws(Fault) -> [Element] {
    guard let elements else { throw fault("a list of \(expected)") }
    var result: [Element] = []
    result.reserveCapacity(min(elements.underestimatedCount, limit))
    for element in elements {
      if result.count == limit { throw Fault(.limit, at: place, "expected at most \(limit) \(expected)") }
      result.append(try read(element))
    }
    return result
  }

  func requireBool() throws(Fault) -> Bool {
    guard let bool else { throw fault("true or false") }
    return bool
  }

  /// Text that may travel as text on the bus, where a NUL ends it.
  func requireText(_ expected: String = "text", atMost limit: Int = Limits.text) throws(Fault) -> Text {
    guard let text else { throw fault(expected) }
    if text.count > limit { throw .tooLong(text.count, limit: limit, at: place) }
    if text.withBytes({ $0.contains(0) }) { throw .expected("text without NUL", at: place) }
    return text
  }

  func requireData() throws(Fault) -> [UInt8] {
    guard let data else { throw fault(Self.isOfCall ? "bytes (ay)" : "data in base64") }
    return data
  }

  /// A path on the sender's connection.
  func requireObjectPath(atMost limit: Int = Limits.text) throws(Fault) -> Text {
    guard let objectPath else { throw fault("an object path (o)") }
    if objectPath.count > limit { throw .tooLong(objectPath.count, limit: limit, at: place) }
    return objectPath
  }

  /// A session's identifier as text, or its path, which a dictionary may give as text or as a path.
  func requireSession() throws(Fault) -> Text {
    if objectPath != nil { return try requireObjectPath(atMost: Limits.name) }
    return try requireName("a session's identifier or path")
  }

  /// Text that is not empty.
  func requireName(_ expected: String, atMost limit: Int = Limits.name) throws(Fault) -> Text {
    let text = try requireText(expected, atMost: limit)
    if text.isEmpty { throw fault(expected) }
    return text
  }

  func requireDate() throws(Fault) -> Instant {
    guard let instant = text.flatMap({ Instant(rfc3339: $0) }) else {
      throw fault("an RFC 3339 date, such as 2026-12-31T00:00:00Z")
    }
    return instant
  }

  /// The dictionary of a `userInfo`.
  func requireDictionary() throws(Fault) -> UserInfo {
    let dictionary = try dictionary()
    try dictionary.refuseDepth(at: place)
    return dictionary
  }

  /// The dictionary, at any depth.
  func dictionary() throws(Fault) -> UserInfo {
    _ = try requireFields()
    guard case .dictionary(let dictionary) = try value() else {
      throw fault("a dictionary, in $literal where its only key begins with $")
    }
    return dictionary
  }

  /// A dictionary of texts, as on the bus.
  func requireStrings() throws(Fault) -> UserInfo {
    var strings: [UserInfo.Entry] = []
    for (key, node) in try requireFields("a dictionary of texts") {
      strings.append(UserInfo.Entry(key: key.text, value: .string(try node.requireText(atMost: Limits.payload))))
    }
    guard let dictionary = UserInfo(strings) else { throw fault("each key once") }
    return dictionary
  }

  func requireIdentifier() throws(Fault) -> UniqueIdentifier {
    guard let identifier = text.flatMap({ UniqueIdentifier($0) }) else { throw fault("a UUID") }
    return identifier
  }

  func requireURL() throws(Fault) -> Text {
    let expected = "an absolute URL such as https://example.org/photos/7"
    let text = try requireText(expected)
    guard URLText.isValid(text) else { throw fault(expected, ofURL: text) }
    return text
  }

  func fault(_ expected: String, ofURL text: Text) -> Fault {
    .expected(expected, got: shown + URLText.hint(for: text), at: place)
  }

  func requireChoice<Choice: CaseIterable & RawRepresentable<String>>(_: Choice.Type) throws(Fault) -> Choice {
    guard let choice = text.flatMap({ Choice(rawValue: $0.string) }) else {
      throw fault(Choice.allCases.map { quoted($0.rawValue) }.listed("or"))
    }
    return choice
  }

  /// The fault for a required field that is absent. A key that is none of `keys` is named: perhaps it is the field, misspelt.
  func missing(_ key: Text, _ expected: String, among keys: [StaticString] = []) -> Fault {
    .expected(expected, got: "nothing" + (keys.isEmpty ? "" : besideUnknown(among: keys)), at: place.key(key))
  }

  /// ", beside the unknown key …"; "" if each key is one of `keys`.
  func besideUnknown(among keys: [StaticString]) -> String {
    let unknown = fields?.first { field in !keys.contains { $0 ~= field.key } }?.key.text.string
    return unknown.map { ", beside the unknown key \(quoted($0))" } ?? ""
  }
}

extension [String] {
  /// "a", "a or b", "a, b or c".
  package func listed(_ conjunction: String) -> String {
    guard let last, count > 1 else { return first ?? "" }
    return dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
  }
}
