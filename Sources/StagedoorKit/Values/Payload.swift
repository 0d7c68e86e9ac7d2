package import DBus
internal import FoundationEssentials
package import SceneModel

/// A payload: items and options.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// var payload = Payload(items: [DragItem(UserActivity("org.example.Cats.view", targetContentIdentifier: "cat1"))])
/// payload.options.application = "org.example.Cats"
///
/// let decision = try await stagedoor.explain(payload)
/// print(decision.outcome, decision.reason, decision.message)
/// let delivery = try await stagedoor.deliver(payload)
/// print(delivery.session)
/// ```
public struct Payload: Sendable {
  /// The items. The first item with an activity of a declared type routes the payload.
  public var items: [DragItem]
  /// The options.
  public var options: DeliveryOptions

  /// Makes a payload with items; or without items, if the options name the session or application to bring to the front.
  public init(items: [DragItem] = [], _ options: DeliveryOptions = DeliveryOptions()) {
    self.items = items
    self.options = options
  }

  /// Makes a payload with one activity only.
  public init(_ activity: UserActivity, _ options: DeliveryOptions = DeliveryOptions()) {
    self.init(items: [DragItem(activity)], options)
  }
}

extension Payload {
  /// The document.
  ///
  /// - Parameter loads: Whether load handlers run, so that their data is in the document. Otherwise the data is empty, because routing needs only its
  ///   type.
  func json(
    batch: PayloadOptions.Batch = .allOrNothing, visibleTo visible: Set<Visibility> = Set(Visibility.allCases),
    loads: Bool = true
  ) async throws(StagedoorError) -> String {
    var model = SceneModel.Payload()
    model.options = try options.model()
    model.options.batch = batch
    for (index, item) in items.enumerated() {
      let place = Place.document.key("items").index(index)
      model.items.append(try await item.itemProvider.model(visibleTo: visible, loads: loads, at: place))
    }
    return model.json.string
  }

  /// Whether the items have contents that a document should not hold: promises, descriptors and bytes.
  var hasContents: Bool {
    items.contains { item in
      item.itemProvider.representations.contains { representation in
        switch representation.source {
        case .text, .file: false
        case .data, .loader, .fileLoader, .delivered: true
        }
      }
    }
  }

  /// The items as `DeliverItems` takes them. `promises` hands out the promised representations.
  func dictionaries(_ promises: Promises) async throws(StagedoorError) -> [[String: Variant]] {
    var result: [[String: Variant]] = []
    for (index, item) in items.enumerated() {
      let place = Place.document.key("items").index(index)
      result.append(try await item.itemProvider.dictionary(promises.path(ofItem: index), at: place))
    }
    return result
  }

  func optionDictionary(_ more: [String: Variant] = [:]) throws(StagedoorError) -> [String: Variant] {
    try options.model().document.optionDictionary.merging(more) { _, new in new }
  }
}

extension Value {
  /// The options of a document as a call takes them.
  package var optionDictionary: [String: Variant] {
    guard case .dictionary(let fields) = self else { return [:] }
    var result: [String: Variant] = [:]
    for entry in fields.entries {
      switch entry.value {
      case .string(let text): result[entry.key.string] = .string(text.string)
      case .bool(let flag): result[entry.key.string] = .boolean(flag)
      case .double(let number): result[entry.key.string] = .double(number)
      case .dictionary(let texts):
        result[entry.key.string] = Variant(
          [String: String](texts.entries.map { ($0.key.string, $0.value.string ?? "") }) { $1 })
      default: break
      }
    }
    return result
  }
}

extension ItemProvider {
  fileprivate func dictionary(
    _ provider: ObjectPath, at place: Place
  ) async throws(StagedoorError) -> [String: Variant] {
    var item: [String: Variant] = [:]
    if let suggestedName { item["suggestedName"] = .string(suggestedName) }
    let activities = try userActivities.enumerated().map { index, activity throws(StagedoorError) in
      try activity.model(at: place.key("activities").index(index)).json.string
    }
    if !activities.isEmpty { item["activities"] = Variant(activities) }
    var rows: [[String: Variant]] = []
    for representation in representations {
      var row: [String: Variant] = [
        "type": .string(representation.type), "visibility": .string(representation.visibility.rawValue),
      ]
      switch representation.source {
      case .data(let data): row["data"] = Variant([UInt8](data))
      case .text(let text): row["text"] = .string(text)
      case .file(let file, let openInPlace):
        row["file"] = .string(file.absoluteString)
        row["openInPlace"] = .boolean(openInPlace)
      case .loader, .fileLoader: row["provider"] = .objectPath(provider)
      case .delivered(let received, _, _): row["fd"] = .fileDescriptor(try await received.open(representation.type).0)
      }
      rows.append(row)
    }
    if !rows.isEmpty { item["representations"] = Variant(rows) }
    return item
  }

  fileprivate func model(
    visibleTo visible: Set<Visibility>, loads: Bool, at place: Place
  ) async throws(StagedoorError) -> Item {
    var item = Item(suggestedName: suggestedName.map { Text($0) })
    for (index, activity) in userActivities.enumerated() where visible.contains(activity.visibility) {
      item.activities.append(try activity.model(at: place.key("activities").index(index)))
    }
    for (index, representation) in representations.enumerated() where visible.contains(representation.visibility) {
      let place = place.key("representations").index(index)
      item.representations.append(try await representation.model(loads: loads, at: place))
    }
    return item
  }
}

extension ItemProvider.Representation {
  fileprivate func model(loads: Bool, at place: Place) async throws(StagedoorError) -> SceneModel.Representation {
    let type: ContentType
    do throws(Fault) {
      type = try ContentType(Text(self.type), as: .carried, at: place.key("type"))
    } catch {
      throw StagedoorError(payload: error)
    }
    let (content, openInPlace) = try await content(loads)
    return SceneModel.Representation(
      type: type, content, openInPlace: openInPlace, visibility: SceneModel.Visibility(visibility))
  }

  private func content(
    _ loads: Bool
  ) async throws(StagedoorError) -> (SceneModel.Representation.Content, openInPlace: Bool) {
    switch source {
    case .loader where !loads, .fileLoader where !loads, .delivered where !loads: (.data([]), false)
    case .data(let data): (.data([UInt8](data)), false)
    case .text(let text): (.text(Text(text)), false)
    case .file(let file, let openInPlace): (.file(Text(file.absoluteString)), openInPlace)
    case .loader, .fileLoader, .delivered:
      (.data([UInt8](try await ItemProvider(of: self).loadDataRepresentation(as: type))), false)
    }
  }
}

extension DeliveryOptions {
  fileprivate func model() throws(StagedoorError) -> PayloadOptions {
    var model = PayloadOptions()
    model.disposition = PayloadOptions.Disposition(rawValue: disposition.rawValue) ?? .auto
    model.session = session.map { Text($0.description) }
    model.application = application.map { Text($0) }
    model.configuration = configuration.map { Text($0) }
    model.role = role.map { Text($0.rawValue) }
    model.requestingSession = requestingSession.map { Text($0.description) }
    model.presentationStyle = PayloadOptions.PresentationStyle(rawValue: presentationStyle.rawValue) ?? .automatic
    model.token = token.map { Text($0) }
    if let deadline {
      guard deadline > .zero, deadline <= .seconds(PayloadOptions.maximumDeadline) else {
        throw .invalidPayload(
          at: Place.document.key("options").key("deadline"),
          "expected more than 0 and at most \(Int(PayloadOptions.maximumDeadline)) seconds, got \(deadline)")
      }
      model.statedDeadline = deadline / .seconds(1)
    }
    model.wait = PayloadOptions.Wait(rawValue: wait.rawValue) ?? .routed
    model.activationToken = activationToken.map { Text($0) }
    model.isPrivate = isPrivate
    model.keepPromises = keepsPromises
    model.isStrict = isStrict
    return model
  }

  /// The deadline, or the service's default.
  var effectiveDeadline: Duration { deadline ?? .seconds(PayloadOptions.defaultDeadline) }
}
