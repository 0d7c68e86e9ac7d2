package import DBus
internal import InterchangeWire

// What only the command `stagedoor` needs.
extension Stagedoor {
  /// The same client, which calls the present owner of the service's name, so that no call starts the service. `nil` if nobody owns the name.
  package func withoutStarting() async -> Stagedoor? {
    guard let owner = (try? await connection.owner(of: InterchangeNames.bus)) ?? nil else { return nil }
    var same = self
    same.service = owner
    return same
  }

  /// Hands in items as the dictionaries of `DeliverItems`, which may hold descriptors.
  package func deliver(
    dictionaries items: [[String: Variant]], options: [String: Variant]
  ) async throws(StagedoorError) -> Delivery {
    let (session, outcome, delivery) = try await call(
      "DeliverItems", items, options, returning: ObjectPath.self, String.self, String.self)
    return try Delivery(session.rawValue, outcome, delivery)
  }

  /// A page of the stored events after a number; empty after the newest. A sandboxed program gets the events of its own application.
  package func storedEvents(after sequence: UInt64) async throws(StagedoorError) -> [Event] {
    var events: [Event] = []
    let rows = try await call("EventsSince", sequence, 1000 as UInt32, returning: [EventRow].self)
    for row in rows {
      let (number, name, json) = row.members
      if let event = try Event(name, json: json, number) { events.append(event) }
    }
    return events
  }
}
