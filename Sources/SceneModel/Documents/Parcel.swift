/// The content of one representation, as the service keeps it for the host.
package struct Parcel: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// The content is small enough to be stored beside its delivery.
    case data([UInt8])
    /// The baggage store has the bytes, under this number of its delivery.
    case kept(Int)
    /// The baggage store holds the descriptor that came with the call, under this number of its delivery, until the service ends.
    case held(Int)
    /// A file URL: the file is opened in its place.
    case file(Text)
    /// The source hands out the content when it is asked.
    case promise(Promise)
  }

  package var content: Content
  /// `nil` if nobody knows the size before the end.
  package var size: Int64?

  package init(_ content: Content, size: Int64?) { (self.content, self.size) = (content, size) }

  /// The least size that counts for a content in a file of its own: a file takes a block and an entry of the directory.
  package static let smallestFile = 4096

  /// The bytes that the service keeps for it.
  package var keptBytes: Int {
    switch content {
    case .data(let bytes): bytes.count
    // Somebody may have changed the number in the file: sums of these fit.
    case .kept: max(Parcel.smallestFile, Int(clamping: min(size ?? 0, 1 << 40)))
    case .held, .file, .promise: 0
    }
  }

  /// The number of the content, if the baggage store has it.
  package var baggageNumber: Int? {
    switch content {
    case .kept(let number), .held(let number): number
    case .data, .file, .promise: nil
    }
  }

  package var isHeld: Bool { if case .held = content { true } else { false } }
}

/// Promised data: its source, and the item and type to ask for.
package struct Promise: Hashable, Sendable {
  /// The name of the source's connection.
  package let source: Text
  package let path: Text
  /// The source's index of the item, and the type in the source's spelling.
  package let item: Int
  package let type: Text

  package init(source: Text, path: Text, item: Int, type: Text) {
    (self.source, self.path, self.item, self.type) = (source, path, item, type)
  }

  package func renewed(by source: Text) -> Promise { Promise(source: source, path: path, item: item, type: type) }
}

/// The contents of a delivery, beside its documents, until the host releases them.
package struct Baggage: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    package var type: ContentType
    package var visibility: Visibility
    package var parcel: Parcel

    package init(type: ContentType, visibility: Visibility, _ parcel: Parcel) {
      (self.type, self.visibility, self.parcel) = (type, visibility, parcel)
    }
  }

  package let delivery: UniqueIdentifier
  /// The representations of each item, the best first.
  package var items: [[Entry]]
  /// Whether its bytes must be erased from the disk when they are freed.
  package var isPrivate: Bool
  /// The sender's application, whose next run may take up the promises; `nil` if nobody may.
  package var renewer: Text?

  package init(delivery: UniqueIdentifier, items: [[Entry]], isPrivate: Bool, renewer: Text? = nil) {
    (self.delivery, self.items, self.isPrivate, self.renewer) = (delivery, items, isPrivate, renewer)
  }

  /// The same contents, whose promises a new connection of the sender keeps.
  package func renewed(by source: Text) -> Baggage {
    var renewed = self
    for item in items.indices {
      for place in items[item].indices {
        guard case .promise(let promise) = items[item][place].parcel.content else { continue }
        renewed.items[item][place].parcel.content = .promise(promise.renewed(by: source))
      }
    }
    return renewed
  }

  /// Whether the baggage store has some of the contents, or reads a file in its place for a host.
  package var isInBaggageStore: Bool {
    items.joined().contains { entry in
      switch entry.parcel.content {
      case .kept, .held, .file: true
      case .data, .promise: false
      }
    }
  }

  package var promises: [Promise] {
    items.joined().compactMap { entry in
      if case .promise(let promise) = entry.parcel.content { promise } else { nil }
    }
  }

  package var heldDescriptors: Int { items.joined().count { $0.parcel.isHeld } }

  package var keptBytes: Int { items.reduce(0) { $0 + $1.reduce(0) { $0 + $1.parcel.keptBytes } } }
}

// MARK: - As a document

extension Baggage.Entry: Document {
  package init(_ node: some DocumentNode, _ rules: ReadingRules) throws(Fault) {
    var type: ContentType?
    var visibility = Visibility.all
    var size: Int64?
    var content: Parcel.Content?
    var source, path: Text?
    var item: Int64 = 0
    for (key, node) in try node.requireFields("a parcel") where !node.isNull {
      switch key {
      case "data":
        content = .data(try node.requireData())
      case "file": content = .file(try node.requireText())
      case "held": content = .held(Int(node.integer ?? 0))
      case "item": item = node.integer ?? 0
      case "kept": content = .kept(Int(node.integer ?? 0))
      case "path": path = try node.requireText()
      case "size": size = node.integer
      case "source": source = try node.requireText()
      case "type": type = try node.requireContentType()
      case "visibility": visibility = try node.requireChoice(Visibility.self)
      default: break
      }
    }
    guard let type else { throw node.missing("type", "a content type") }
    if let source, let path {
      content = .promise(Promise(source: source, path: path, item: Int(item), type: type.spelling))
    }
    guard let content else { throw node.missing("data", "what the parcel holds") }
    self.init(type: type, visibility: visibility, Parcel(content, size: size))
  }

  package func write(to fields: inout some DocumentFields) {
    if case .data(let data) = parcel.content { fields["data"] = Base64.text(of: data) }
    if case .file(let url) = parcel.content { fields["file"] = url }
    if case .held(let number) = parcel.content { fields["held"] = number }
    if case .promise(let promise) = parcel.content { fields["item"] = promise.item }
    if case .kept(let number) = parcel.content { fields["kept"] = number }
    if case .promise(let promise) = parcel.content { fields["path"] = promise.path }
    if let size = parcel.size { fields.set("size", .integer(size)) }
    if case .promise(let promise) = parcel.content { fields["source"] = promise.source }
    fields["type"] = type.spelling
    if visibility != .all { fields["visibility"] = visibility }
  }
}

extension Baggage {
  /// The stored form of the items: `{"items": [{"representations": […]}, …], "renewer": "org.example.Notes"}`.
  package var document: Text {
    JSONObjectWriter.text { fields in
      fields.list("items", items) { fields, entries in fields["representations"] = entries }
      if let renewer { fields["renewer"] = renewer }
    }
  }

  package init(
    delivery: UniqueIdentifier, isPrivate: Bool, document: Text, _ rules: ReadingRules
  ) throws(Fault) {
    var renewer: Text?
    let items = try JSON.read(document, atMost: .max, values: .max) { node throws(Fault) in
      var items: [[Entry]] = []
      for (key, node) in try node.requireFields("baggage") {
        if case "renewer" = key { renewer = try node.requireText() }
        guard case "items" = key else { continue }
        items = try node.list(of: "items") { node throws(Fault) in
          var entries: [Entry] = []
          for (key, node) in try node.requireFields("an item") {
            guard case "representations" = key else { continue }
            entries = try node.list(of: "representations") { node throws(Fault) in try Entry(node, rules) }
          }
          return entries
        }
      }
      return items
    }
    self.init(delivery: delivery, items: items, isPrivate: isPrivate, renewer: renewer)
  }
}
