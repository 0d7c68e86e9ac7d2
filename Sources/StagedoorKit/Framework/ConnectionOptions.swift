internal import DBus
internal import FoundationEssentials
internal import SceneModel

/// The content that a scene gets when it is connected, or later.
///
/// ```swift
/// func contents(of options: ConnectionOptions) async throws -> [String] {
///   if options.attempt > 1 { print("this may have been here before: \(options.delivery?.description ?? "")") }
///   var texts: [String] = []
///   for item in options.items where item.itemProvider.hasItem(conformingTo: "text/plain") {
///     texts.append(try await item.itemProvider.loadText())
///   }
///   return texts
/// }
/// ```
public struct ConnectionOptions: Sendable {
  /// The delivery; `nil` if there is none, as for a window that is only restored.
  public let delivery: DeliveryIdentifier?
  /// The number of the attempt, from 1. Above 1 the application may have seen the delivery before.
  public let attempt: Int
  /// The activities to continue: first the activity that routed the delivery, then the others in their order.
  public let userActivities: [UserActivity]
  /// The dropped items. Their data can be loaded while one of these values exists, and for at most ten minutes after the application took the
  /// delivery. See ``ItemProvider/finishLoading()`` for a move.
  public let items: [DragItem]
  /// The activity that restores the scene.
  public internal(set) var stateRestorationActivity: UserActivity?
  /// The application that handed in the delivery, if it is known.
  public let sourceApplication: String?
  /// Where the delivery came from, in the words of the application that passed it on.
  public let origin: String?
  /// Whether the sender marked the delivery as private: show and keep nothing of it where others may read it.
  public let isPrivate: Bool
  /// `copy` or `move`, if the delivery is the drop of a drag.
  public let operation: DropOperation?
  /// The session that the user acted in.
  public let requestingSession: SessionIdentifier?
  /// How a new window should appear.
  public let presentationStyle: DeliveryOptions.PresentationStyle
  /// The role of the session.
  public let role: SessionRole
  /// The sender's permission to bring a window to the front.
  let activationToken: String?
  /// The time until which the application may take the delivery.
  let deadline: Date?
  /// The delivery, which keeps the data of the items.
  let received: ReceivedDelivery?
}

extension ConnectionOptions {
  init(json: String, of deliveries: ReceivedDeliveries) throws(StagedoorError) {
    let document = try Value(document: json)
    let attempt = (document["attempt"]?.number).map { Int($0) } ?? 1
    self.attempt = attempt
    delivery = document["delivery"]?.string.flatMap { DeliveryIdentifier($0) }
    let documents = document["userActivities"]?.elements ?? []
    let activities = try documents.map { element throws(StagedoorError) in try element.activity }.compactMap(\.self)
    userActivities = activities
    let described = document["items"]?.elements ?? []
    let withData = described.indices.filter { described[$0]["representations"] != nil }.map { UInt32($0) }
    // Without data there is nothing to release.
    let received =
      withData.isEmpty ? nil : delivery.map { deliveries.delivery($0, attempt: attempt, items: Set(withData)) }
    self.received = received
    items = described.enumerated().map { index, element in
      DragItem(
        itemProvider: ItemProvider(
          element, activities, received.map { ReceivedItem(delivery: $0, index: UInt32(index)) }))
    }
    stateRestorationActivity = try document["stateRestorationActivity"]?.activity
    sourceApplication = document["sourceApplication"]?.string
    origin = document["origin"]?.string
    isPrivate = document["private"] == .bool(true)
    operation = document["operation"]?.string.flatMap { DropOperation(rawValue: $0) }
    activationToken = document["activationToken"]?.string
    deadline = document["deadline"]?.string.flatMap { Instant(rfc3339: Text($0)) }.map { Date($0) }
    requestingSession = document["requestingSession"]?.string.flatMap { SessionIdentifier($0) }
    presentationStyle =
      document["presentationStyle"]?.string.flatMap { DeliveryOptions.PresentationStyle(rawValue: $0) } ?? .automatic
    role = document["role"]?.string.map { SessionRole(rawValue: $0) } ?? .windowApplication
  }
}

extension ItemProvider {
  /// An item as the service describes it to its host.
  fileprivate init(_ document: Value, _ activities: [UserActivity], _ item: ReceivedItem?) {
    self.init()
    suggestedName = document["suggestedName"]?.string
    for index in (document["activities"]?.elements ?? []).compactMap({ $0.number.map { Int($0) } })
    where activities.indices.contains(index) {
      registerObject(activities[index])
    }
    guard let item else { return }
    for element in document["representations"]?.elements ?? [] {
      guard let type = element["type"]?.string else { continue }
      let file = element["file"]?.string.flatMap { URL(string: $0) }
      add(type, .all, .delivered(item, file: file))
    }
  }

  /// An item before the drop, with types and names only.
  init(proposed item: [String: Variant]) {
    self.init()
    if case .string(let name)? = item["suggestedName"] { suggestedName = name }
    if let documents = item["activities"].flatMap({ try? [String]($0) }) {
      for case let activity? in documents.map({ try? UserActivity(json: $0) }) { registerObject(activity) }
    }
    for representation in item["representations"].flatMap({ try? [[String: Variant]]($0) }) ?? [] {
      guard case .string(let type)? = representation["type"] else { continue }
      add(type, .all, .loader { _ in throw StagedoorError(.notDropped, "it has not been dropped yet") })
    }
  }
}

extension Value {
  fileprivate var activity: UserActivity? {
    get throws(StagedoorError) {
      guard case .dictionary = self else { return nil }
      return try UserActivity(json: JSON.text(of: self).string)
    }
  }
}
