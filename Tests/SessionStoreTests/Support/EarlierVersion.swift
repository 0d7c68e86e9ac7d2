import SessionStore
import Testing

extension TemporaryDirectory {
  /// The same store in a file as an earlier version made it; if that version was killed, with everything in the write-ahead log. Before the third
  /// version deliveries do not say when they ended, and before the fourth there is no baggage.
  func asVersion(_ version: Int, killed isKilled: Bool = false) throws -> TemporaryDirectory {
    let earlier = TemporaryDirectory()
    try open(earlier, schema: Schema(steps: Array(Schema.current.steps[..<version]))).close()
    var killed = earlier
    let script = [
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 0; ATTACH '\(path)/stagedoor.db' AS later; BEGIN",
      copying("session", session + (version > 1 ? ", shown_key" : "")),
      version > 1 ? copying("condition_key", "*", to: "") : nil,
      "DELETE FROM ledger",
      """
      INSERT INTO ledger SELECT id, settled, \(version < 3 ? "(SELECT count(*) FROM later.session)," : "") 
        (SELECT count(*) FROM later.delivery), first_event, last_event FROM later.ledger
      """,
      copying("log", "*", to: ""),
      // The last byte of an entry says that the delivery has no such time.
      version < 3 ? "UPDATE log SET body = substr(body, 1, length(body) - 1) WHERE kind IN (4, 5, 10)" : nil,
      copying("delivery", delivery + (version < 3 ? "" : ", ended, documents")),
      copying("event", "*", to: ""), copying("preference", "*", to: ""), copying("owed", "*", to: ""),
      version > 3 ? copying("baggage", "*", to: "") : nil, "COMMIT",
    ].compactMap { $0 }
    tamper(earlier, script.joined(separator: "; ")) { if isKilled { killed = earlier.copy() } }
    return killed
  }

  private func copying(_ table: String, _ columns: String, to places: String? = nil) -> String {
    "INSERT INTO \(table) \(places ?? "(\(columns))") SELECT \(columns) FROM later.\(table)"
  }

  private var session: String {
    """
    number, identifier, application, created, role, configuration, state, flags, last_activated, title, user_activity,
    restoration_activity, opened_content, user_info, can_activate, prefers_to_activate, shown_by
    """
  }

  private var delivery: String {
    """
    number, identifier, application, sender, token, created, deadline, state, is_open, session, outcome, attempt,
    departures, error, message, source_application, fingerprint, is_private, routing_item, routing_activity,
    previous_activity, previous_content, previous_title, previous_private, previous_by, answer, decision, payload
    """
  }
}
