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
    try await handIn("DeliverItems", items, options)
  }

  /// The session's properties with their names on the bus, each as text.
  package func sessionProperties(_ session: SessionIdentifier) async throws(StagedoorError) -> [String: String] {
    try await properties(ofSession: session.path).mapValues { value in
      switch value {
      case .string(let text): text
      case .boolean(let flag): flag ? "true" : "false"
      case .uint64(let number): "\(number)"
      default: ""
      }
    }
  }

  /// A page of the stored events after a number; empty after the newest. A sandboxed program gets the events of its own application.
  package func storedEvents(after sequence: UInt64) async throws(StagedoorError) -> [Event] {
    var events: [Event] = []
    for row in try await self.events(after: sequence) {
      let (number, name, json) = row.members
      if let event = try Event(name, json: json, number) { events.append(event) }
    }
    return events
  }
}
