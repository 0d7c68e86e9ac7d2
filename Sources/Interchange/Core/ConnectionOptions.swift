import SceneModel

/// The connection options, which a host gets with a session: see `docs/hosts.md`.
struct ConnectionOptions {
  private let fields: UserInfo

  /// - Parameters:
  ///   - isOwnProcess: Whether the host is the connection that sent the delivery.
  ///   - operation: The operation of the drop, if the delivery comes from a drag.
  init(
    _ delivery: StoredDelivery, _ payload: Payload, _ session: Session, _ host: Host, isOwnProcess: Bool,
    operation: PayloadOptions.Operation?
  ) {
    var fields: UserInfo = [
      "delivery": .string(Text("\(delivery.identifier)")), "attempt": .integer(delivery.progress.attempt),
      "role": .string(session.role), "deadline": .string(Text(delivery.deadline.rfc3339)),
    ]
    if delivery.isPrivate { fields["private"] = true }
    fields["activationToken"] = payload.options.activationToken.map(Value.string)
    fields["operation"] = (operation?.rawValue).map { .string(Text($0)) }
    fields["origin"] = payload.options.origin.map(Value.string)
    var visible: Set<Visibility> = [.all]
    if delivery.sourceApplication == session.application { visible.insert(.application) }
    if isOwnProcess { visible.insert(.ownProcess) }
    var contents = Contents(payload, routing: delivery.routing, visible: visible, isSandboxed: host.isSandboxed)
    contents.collect()
    fields["userActivities"] = .array(contents.activities.map(\.document))
    if !contents.items.isEmpty { fields["items"] = .array(contents.items) }
    fields["stateRestorationActivity"] = session.isConnected ? nil : session.stateRestorationActivity?.document
    if !delivery.sourceApplication.isEmpty { fields["sourceApplication"] = .string(delivery.sourceApplication) }
    if let named = payload.options.requestingSession, let requesting = SessionReference.identifier(named) {
      fields["requestingSession"] = .string(Text("\(requesting)"))
    }
    if payload.options.presentationStyle != .automatic {
      fields["presentationStyle"] = .string(Text(payload.options.presentationStyle.rawValue))
    }
    self.fields = fields
  }

  var json: Text { JSON.text(of: .dictionary(fields)) }
}

/// The activities and items of a payload, as far as the host may see them.
private struct Contents {
  let payload: Payload
  let routing: RoutingPlace?
  let visible: Set<Visibility>
  let isSandboxed: Bool
  private(set) var activities: [UserActivity] = []
  private(set) var items: [Value] = []

  init(_ payload: Payload, routing: RoutingPlace?, visible: Set<Visibility>, isSandboxed: Bool) {
    self.payload = payload
    self.routing = routing
    self.visible = visible
    self.isSandboxed = isSandboxed
  }

  /// Collects the activities, with the routing activity first and the others in the order of the payload.
  mutating func collect() {
    var places: [[Int64]] = payload.items.map { _ in [] }
    func isRouting(_ item: Int, _ activity: Int) -> Bool {
      routing.map { $0.item == Int64(item) && $0.activity == Int64(activity) } ?? false
    }
    for isFirst in [true, false] {
      for (item, content) in payload.items.enumerated() {
        for (number, activity) in content.activities.enumerated() where isRouting(item, number) == isFirst {
          guard visible.contains(activity.visibility) else { continue }
          places[item].append(Int64(activities.count))
          activities.append(activity)
        }
      }
    }
    // A payload of one activity has no item.
    if payload.items == payload.items.first.map({ [Item(activities: $0.activities)] }) { return }
    items = zip(payload.items, places).map { document(of: $0, $1) }
  }

  private func document(of item: Item, _ activities: [Int64]) -> Value {
    var fields = UserInfo()
    fields["suggestedName"] = item.suggestedName.map(Value.string)
    if !activities.isEmpty { fields["activities"] = .array(activities.sorted().map(Value.integer)) }
    let representations = item.representations.filter { visible.contains($0.visibility) }.map(document)
    if !representations.isEmpty { fields["representations"] = .array(representations) }
    return .dictionary(fields)
  }

  private func document(of representation: Representation) -> Value {
    var fields: UserInfo = ["type": .string(representation.type.spelling)]
    switch representation.content {
    case .stored(let size, let url):
      if let size { fields["size"] = .integer(size) }
      if representation.isFile, representation.openInPlace, !isSandboxed {
        fields["file"] = url.map(Value.string)
        fields["openInPlace"] = true
      }
    // An earlier version stored contents in the document.
    case .data(let data): fields["size"] = .integer(Int64(data.count))
    case .text(let text): fields["size"] = .integer(Int64(text.count))
    case .file, .descriptor, .promise: break
    }
    return .dictionary(fields)
  }
}
