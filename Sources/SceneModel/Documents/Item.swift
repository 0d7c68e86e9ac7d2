/// One thing that is handed over: its representations, and the activities for it.
package struct Item: Hashable, Sendable {
  package var suggestedName: Text?
  package var activities: [UserActivity]
  /// In the order of registration, which is the order of fidelity. Each type at most once.
  package var representations: [Representation]

  package init(suggestedName: Text? = nil, activities: [UserActivity] = [], representations: [Representation] = []) {
    self.suggestedName = suggestedName
    self.activities = activities
    self.representations = representations
  }
}

/// An item in one type.
package struct Representation: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    case data([UInt8])
    case text(Text)
    /// A file URL, in its normal form.
    case file(Text)
    /// A descriptor that came with the call, by its number there.
    case descriptor(Int)
    /// The sender's object at this path hands out the content when it is asked.
    case promise(Text)
    /// The service has taken the content out of the document. The document keeps the size, if it is known, and the URL if the content was a file or
    /// link.
    case stored(size: Int64?, url: Text?)
  }

  package var type: ContentType
  package var content: Content
  /// For a file: whether it is opened in its place, and not copied.
  package var openInPlace: Bool
  package var visibility: Visibility
  /// The size of promised data, if the sender knows it.
  package var promisedSize: Int64?

  package init(
    type: ContentType, _ content: Content, openInPlace: Bool = false, visibility: Visibility = .all,
    promisedSize: Int64? = nil
  ) {
    self.type = type
    self.content = content
    self.openInPlace = openInPlace
    self.visibility = visibility
    self.promisedSize = promisedSize
  }
}

// MARK: - As documents

extension Item: Document {
  private static let keys: [StaticString] = ["suggestedName", "activities", "representations"]

  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    self.init()
    for (key, node) in try node.requireFields("an item", knowing: Item.keys, rules.isStrict) where !node.isNull {
      switch key {
      case "suggestedName": suggestedName = try node.requireText()
      case "activities":
        activities = try node.list(of: "activities", atMost: Limits.perItem) { node throws(Fault) in
          try node.activity(rules)
        }
      case "representations": representations = try Item.representations(node, rules)
      default: break
      }
    }
  }

  /// Reads the items of a payload.
  package static func list(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) -> [Item] {
    try node.list(of: "items", atMost: Limits.items) { node throws(Fault) in try Item(node, rules) }
  }

  private static func representations(
    _ node: some DocumentNode, _ rules: ReadingRules
  ) throws(Fault) -> [Representation] {
    var seen: Set<ContentType> = []
    return try node.list(of: "representations", atMost: Limits.perItem) { node throws(Fault) in
      let representation = try Representation(node, rules)
      let type = rules.types.canonical(representation.type)
      // Since it was stored, one type may have become another name of the other.
      if !seen.insert(type).inserted, !rules.isStored {
        let got = quoted(representation.type.spelling.string)
        throw .expected("each type once in an item", got: got, at: node.place.key("type"))
      }
      return representation
    }
  }

  package func write(to fields: inout some DocumentFields) {
    fields["activities"] = activities
    fields["representations"] = representations
    fields["suggestedName"] = suggestedName
  }
}

extension Representation: Document {
  private static let keys: [StaticString] = ["type", "data", "text", "file", "openInPlace", "visibility"]
  /// The keys that dictionaries have in addition.
  private static let keysOfCall: [StaticString] = keys + ["fd", "provider", "size"]

  package init<Node: DocumentNode>(_ node: Node, _ rules: ReadingRules) throws(Fault) {
    var type: ContentType?
    var contents: [Content] = []
    var openInPlace = false
    var visibility = Visibility.all
    var (size, url): (Int64??, Text?) = (nil, nil)
    var promisedSize: Int64?
    let keys = Node.isOfCall ? Representation.keysOfCall : Representation.keys
    let fields = try node.requireFields("a representation", knowing: keys, rules.isStrict)
    for (key, node) in fields where !node.isNull {
      switch key {
      case "type": type = try node.requireContentType()
      case "data": contents.append(.data(try node.requireData()))
      case "text":
        guard let text = node.text else { throw node.fault("text") }
        contents.append(.text(text))
      case "file": contents.append(.file(try node.requireFileURL()))
      case "openInPlace": openInPlace = try node.requireBool()
      case "visibility": visibility = try node.requireChoice(Visibility.self)
      case "size" where rules.isStored: size = .some(node.integer.flatMap { $0 < 0 ? nil : $0 })
      case "size" where Node.isOfCall:
        guard let bytes = node.integer, bytes >= 0 else { throw node.fault("a number of bytes from 0 to \(Int64.max)") }
        promisedSize = bytes
      case "url" where rules.isStored: url = try node.requireText()
      case "fd" where Node.isOfCall:
        guard let number = node.descriptor() else { throw node.fault("a file descriptor (h)") }
        contents.append(.descriptor(number))
      case "provider" where Node.isOfCall: contents.append(.promise(try node.requireObjectPath()))
      case "fd", "provider":
        let reason = "expected data, text or file; only the dictionaries of DeliverItems take descriptors and promises"
        throw Fault(at: node.place, reason)
      default: break
      }
    }
    guard let type else { throw node.missing("type", "a MIME type or a uniform type identifier", among: keys) }
    if let size { contents = [.stored(size: size, url: url)] }
    guard let content = contents.first, contents.count == 1 else {
      let expected =
        Node.isOfCall
        ? "one of \"data\", \"text\", \"file\", \"fd\" and \"provider\"" : "one of \"data\", \"text\" and \"file\""
      throw .expected(expected, got: contents.isEmpty ? "none" : "\(contents.count)", at: node.place)
    }
    if promisedSize != nil {
      guard case .promise = content else {
        throw .expected("a size beside a provider only", got: "one", at: node.place.key("size"))
      }
    }
    self.init(
      type: type, content, openInPlace: openInPlace, visibility: visibility, promisedSize: promisedSize)
  }

  package func write(to fields: inout some DocumentFields) {
    if case .data(let data) = content { fields["data"] = Base64.text(of: data) }
    if case .descriptor(let number) = content { fields["fd"] = number }
    if case .file(let url) = content { fields["file"] = url }
    if openInPlace { fields["openInPlace"] = true }
    if case .promise(let path) = content { fields["provider"] = path }
    if case .stored(let size, _) = content { fields.set("size", .integer(size ?? -1)) }
    if let promisedSize { fields.set("size", .integer(promisedSize)) }
    if case .text(let text) = content { fields["text"] = text }
    fields["type"] = type.spelling
    if case .stored(_, let url) = content { fields["url"] = url }
    if visibility != .all { fields["visibility"] = visibility }
  }
}

extension Representation.Content {
  /// The bytes that came in the document itself.
  package var inlineBytes: Int {
    switch self {
    case .data(let data): data.count
    case .text(let text): text.count
    case .file, .descriptor, .promise, .stored: 0
    }
  }
}

// MARK: - Files and links

extension Representation {
  package var isFile: Bool {
    switch content {
    case .file: true
    case .stored(_, let url): url != nil && !type.isLink
    default: false
    }
  }

  /// The URL of the file, or the first link of a list, in its normal form.
  package var url: Text? {
    switch content {
    case .file(let url): url
    case .stored(_, let url): url
    case .text(let text): type.isLink ? text.withBytes(Representation.firstURL) : nil
    case .data(let data): type.isLink ? data.withUnsafeBytes(Representation.firstURL) : nil
    case .descriptor, .promise: nil
    }
  }

  /// The first line that is neither blank nor a comment. The following lines are not read.
  private static func firstURL(of list: UnsafeRawBufferPointer) -> Text? {
    let isBlank: (UInt8) -> Bool = { $0 <= UInt8(ascii: " ") }
    let isEnd: (UInt8) -> Bool = { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") || $0 == 0 }
    var rest = list[...]
    while let first = rest.firstIndex(where: { !isBlank($0) }) {
      rest = rest[first...]
      let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
      var line = rest[..<end]
      while let last = line.last, isBlank(last) { line = line.dropLast() }
      rest = rest[end...]
      if line.first == UInt8(ascii: "#") { continue }
      guard line.count <= Limits.text, let text = String(validating: line, as: UTF8.self) else { return nil }
      return URLText.isValid(Text(text)) ? URLText.normal(Text(text)) : nil
    }
    return nil
  }
}

extension DocumentNode {
  /// The type of a representation, which is not a wildcard.
  func requireContentType() throws(Fault) -> ContentType {
    try ContentType(try requireText("a content type such as image/png or public.png"), as: .carried, at: place)
  }

  fileprivate func requireFileURL() throws(Fault) -> Text {
    let expected = "a file URL such as file:///home/user/Beach.png"
    let url = try requireText(expected)
    guard FileURL.isValid(url) else { throw fault(expected, ofURL: url) }
    return URLText.normal(url)
  }
}

/// A drag in the form that one caller may see before the drop.
package struct DragView: Hashable, Sendable {
  /// The items as this caller may see them, without their contents.
  package var items: [Item]
  package var allowedOperations: [PayloadOptions.Operation]
  /// "dragging", "dropped", "cancelled" or "ended".
  package var state: Text
  /// How the drag ended: "copy", "move" or "cancel"; "" before.
  package var operation: Text

  package init(items: [Item], allowedOperations: [PayloadOptions.Operation], state: Text, operation: Text) {
    (self.items, self.allowedOperations, self.state, self.operation) = (items, allowedOperations, state, operation)
  }
}
