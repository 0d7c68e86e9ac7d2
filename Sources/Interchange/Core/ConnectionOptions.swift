import SceneModel

/// The connection options, which a host gets with a session: see `docs/hosts.md`.
struct ConnectionOptions {
  private let delivery: StoredDelivery
  private let options: PayloadOptions
  private let session: Session
  private let contents: Contents

  /// - Parameter isOwnProcess: Whether the host is the connection that sent the delivery.
  init(_ delivery: StoredDelivery, _ payload: Payload, _ session: Session, _ host: Host, isOwnProcess: Bool) {
    (self.delivery, options, self.session) = (delivery, payload.options, session)
    contents = Contents(
      payload, routing: delivery.routing, visible: delivery.visible(isOwnProcess: isOwnProcess),
      isSandboxed: host.isSandboxed)
  }

  var json: Text {
    JSONObjectWriter.text { fields in
      fields["activationToken"] = options.activationToken
      fields["attempt"] = Int(delivery.progress.attempt)
      fields["deadline"] = Text(delivery.deadline.rfc3339)
      fields["delivery"] = delivery.identifier
      fields["items"] = contents.items
      fields["operation"] = options.operation
      fields["origin"] = options.origin
      fields["presentationStyle"] = options.presentationStyle == .automatic ? nil : options.presentationStyle
      fields["private"] = delivery.isPrivate ? true : nil
      fields["requestingSession"] = options.requestingSession.flatMap { SessionReference.identifier($0) }
      fields["role"] = session.role
      fields["sourceApplication"] = delivery.sourceApplication.isEmpty ? nil : delivery.sourceApplication
      fields["stateRestorationActivity"] = session.isConnected ? nil : session.stateRestorationActivity
      fields.list("userActivities", contents.activities) { $1.write(to: &$0) }
    }
  }
}

extension StoredDelivery {
  /// The parts that the host of its application may see.
  func visible(isOwnProcess: Bool) -> Set<Visibility> {
    var visible: Set<Visibility> = [.all]
    if self.sourceApplication == self.application { visible.insert(.application) }
    if isOwnProcess { visible.insert(.ownProcess) }
    return visible
  }
}

/// The activities and items of a payload, as far as the host may see them.
private struct Contents {
  /// The routing activity first, and the others in the order of the payload.
  private(set) var activities: [UserActivity] = []
  private(set) var items: [SeenItem] = []

  init(_ payload: Payload, routing: RoutingPlace?, visible: Set<Visibility>, isSandboxed: Bool) {
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
    if let only = payload.items.first, payload.items.count == 1, only.suggestedName == nil, only.representations.isEmpty
    {
      return
    }
    items = zip(payload.items, places).map { item, activities in
      SeenItem(
        name: item.suggestedName, activities: activities.sorted(),
        representations: item.representations.filter { visible.contains($0.visibility) }.map {
          SeenRepresentation(representation: $0, isSandboxed: isSandboxed)
        })
    }
  }
}

private struct SeenItem: DocumentWriting {
  let name: Text?
  /// Their places in the list of all activities.
  let activities: [Int64]
  let representations: [SeenRepresentation]

  func write(to fields: inout some DocumentFields) {
    if !activities.isEmpty { fields.set("activities", .array(activities.map(Value.integer))) }
    fields["representations"] = representations
    fields["suggestedName"] = name
  }
}

private struct SeenRepresentation: DocumentWriting {
  let representation: Representation
  let isSandboxed: Bool

  func write(to fields: inout some DocumentFields) {
    switch representation.content {
    case .stored(let size, let url):
      if representation.isFile, representation.openInPlace, !isSandboxed {
        fields["file"] = url
        fields["openInPlace"] = true
      }
      fields["size"] = size.map { Int($0) }
    // An earlier version stored contents in the document.
    case .data(let data): fields["size"] = data.count
    case .text(let text): fields["size"] = text.count
    case .file, .descriptor, .promise: break
    }
    fields["type"] = representation.type.spelling
  }
}
