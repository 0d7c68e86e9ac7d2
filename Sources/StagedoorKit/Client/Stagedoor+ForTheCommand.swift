package import DBus
internal import InterchangeWire
package import SceneModel

// Only the command `stagedoor` needs these.
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
    dictionaries items: [[String: Variant]], options: Value
  ) async throws(StagedoorError) -> Delivery {
    try await handIn("DeliverItems", items, options.dictionary)
  }

  /// The properties of a session that have a value, as a document has them.
  package func document(of session: SessionIdentifier) async throws(StagedoorError) -> UserInfo {
    var fields = UserInfo()
    for (name, variant) in try await properties(of: session) {
      let key = Text(name.prefix(1).lowercased() + name.dropFirst())
      switch (name, variant) {
      case (_, .string("")): break
      case ("UserActivity", .string(let json)), ("StateRestorationActivity", .string(let json)),
        ("UserInfo", .string(let json)):
        fields[key] = try Value(document: json)
      case (_, .string(let text)): fields[key] = .string(Text(text))
      case (_, .boolean(let flag)): fields[key] = .bool(flag)
      case (_, .uint64(let time)): fields[key] = .string(Text(Instant(microseconds: Int64(clamping: time)).rfc3339))
      default: break
      }
    }
    return fields
  }
}
