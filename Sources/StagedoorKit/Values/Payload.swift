internal import DBus
internal import FoundationEssentials
internal import InterchangeWire
internal import SceneModel

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
  /// Makes the content of a representation of an item that has none at hand: of a promise, or of a dropped item.
  private typealias Fetch = (ItemProvider.Representation, _ item: Int) async throws(StagedoorError) ->
    SceneModel.Representation.Content

  /// The document.
  ///
  /// - Parameter loads: Whether load handlers run, so that their data is in the document. Otherwise the data is empty, because routing needs only its
  ///   type.
  func json(
    batch: PayloadOptions.Batch = .allOrNothing, visibleTo visible: Set<Visibility> = Set(Visibility.allCases),
    loads: Bool = true
  ) async throws(StagedoorError) -> String {
    var model = try await model(visibleTo: visible) { representation, _ async throws(StagedoorError) in
      if !loads { return .data([]) }
      return .data([UInt8](try await ItemProvider(of: representation).loadDataRepresentation(as: representation.type)))
    }
    model.options.batch = batch
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

  /// The items and options as `DeliverItems` takes them. `promises` hands out the promised representations.
  func dictionaries(
    _ promises: Promises
  ) async throws(StagedoorError) -> (items: [[String: Variant]], options: [String: Variant]) {
    var descriptors: [OwnedFileDescriptor] = []
    let model = try await model { representation, item async throws(StagedoorError) in
      guard let received = representation.source.received, !promises.contains(representation, of: item)
      else { return .promise(Text(promises.path(ofItem: item).rawValue)) }
      let (descriptor, size) = try await received.open(representation.type)
      // A pipe ends with its delivery, or when nobody reads it for a while. What can be opened again is promised; a pipe of unknown size may be the
      // source's own, and open once only.
      if size != nil, !descriptor.isRegularFile {
        promises.add(representation, toItem: item)
        return .promise(Text(promises.path(ofItem: item).rawValue))
      }
      descriptors.append(descriptor)
      return .descriptor(descriptors.count - 1)
    }
    return model.dictionaries(descriptors)
  }

  private func model(
    visibleTo visible: Set<Visibility> = Set(Visibility.allCases), _ fetch: Fetch
  ) async throws(StagedoorError) -> SceneModel.Payload {
    var model = SceneModel.Payload()
    model.options = try options.model()
    for (number, provider) in items.map(\.itemProvider).enumerated() {
      let place = Place.document.key("items").index(number)
      var item = Item(suggestedName: provider.suggestedName.map { Text($0) })
      for (index, activity) in provider.userActivities.enumerated() where visible.contains(activity.visibility) {
        item.activities.append(try activity.model(at: place.key("activities").index(index)))
      }
      for (index, representation) in provider.representations.enumerated()
      where visible.contains(representation.visibility) {
        let type: ContentType
        do throws(Fault) {
          let place = place.key("representations").index(index).key("type")
          type = try ContentType(Text(representation.type), as: .carried, at: place)
        } catch {
          throw StagedoorError(payload: error)
        }
        let content: SceneModel.Representation.Content
        var openInPlace = false
        switch representation.source {
        case .data(let data): content = .data([UInt8](data))
        case .text(let text): content = .text(Text(text))
        case .file(let file, let isInPlace): (content, openInPlace) = (.file(Text(file.absoluteString)), isInPlace)
        case .loader, .fileLoader, .delivered: content = try await fetch(representation, number)
        }
        item.representations.append(
          SceneModel.Representation(
            type: type, content, openInPlace: openInPlace, visibility: SceneModel.Visibility(representation.visibility))
        )
      }
      model.items.append(item)
    }
    return model
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
}
