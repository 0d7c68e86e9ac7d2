internal import DBus
internal import FoundationEssentials
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
  /// The document, including the data that the providers load.
  func json(
    batch: PayloadOptions.Batch = .allOrNothing, visibleTo visible: Set<Visibility> = Set(Visibility.allCases)
  ) async throws(StagedoorError) -> String {
    var model = SceneModel.Payload()
    model.options = try options.model()
    model.options.batch = batch
    for (index, item) in items.enumerated() {
      model.items.append(
        try await item.itemProvider.model(visibleTo: visible, at: Place.document.key("items").index(index)))
    }
    return model.json.string
  }
}

extension ItemProvider {
  fileprivate func model(visibleTo visible: Set<Visibility>, at place: Place) async throws(StagedoorError) -> Item {
    var item = Item(suggestedName: suggestedName.map { Text($0) })
    for (index, activity) in userActivities.enumerated() where visible.contains(activity.visibility) {
      item.activities.append(try activity.model(at: place.key("activities").index(index)))
    }
    for (index, representation) in representations.enumerated() where visible.contains(representation.visibility) {
      let place = place.key("representations").index(index)
      item.representations.append(try await representation.model(at: place))
    }
    return item
  }
}

extension ItemProvider.Representation {
  fileprivate func model(at place: Place) async throws(StagedoorError) -> SceneModel.Representation {
    let type: ContentType
    do throws(Fault) {
      type = try ContentType(Text(self.type), as: .carried, at: place.key("type"))
    } catch {
      throw StagedoorError(payload: error)
    }
    let (content, openInPlace) = try await content()
    return SceneModel.Representation(
      type: type, content, openInPlace: openInPlace, visibility: SceneModel.Visibility(visibility))
  }

  private func content() async throws(StagedoorError) -> (SceneModel.Representation.Content, openInPlace: Bool) {
    switch source {
    case .data(let data): (.data([UInt8](data)), false)
    case .text(let text): (.text(Text(text)), false)
    case .file(let file, let openInPlace): (.file(Text(file.absoluteString)), openInPlace)
    case .loader(let loader): (.data([UInt8](try await ItemProvider.load(loader))), false)
    case .delivered(let item, _, _): (.data([UInt8](try await item.load(type))), false)
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
          "expected more than no time and at most \(Int(PayloadOptions.maximumDeadline)) seconds, got \(deadline)")
      }
      model.statedDeadline = deadline / .seconds(1)
    }
    model.wait = PayloadOptions.Wait(rawValue: wait.rawValue) ?? .routed
    model.activationToken = activationToken.map { Text($0) }
    model.isPrivate = isPrivate
    model.isStrict = isStrict
    return model
  }

  /// The service's default, if the sender sets nothing.
  var effectiveDeadline: Duration { deadline ?? .seconds(PayloadOptions.defaultDeadline) }
}
