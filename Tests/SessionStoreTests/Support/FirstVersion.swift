import SessionStore
import Testing

extension TemporaryDirectory {
  /// The same store in a file as the first version made it; where that was killed, with all that it has in the write-ahead log.
  func asFirstVersion(killed isKilled: Bool = false) throws -> TemporaryDirectory {
    let first = TemporaryDirectory()
    try open(first, schema: Schema(steps: [Schema.current.steps[0]])).close()
    let session =
      "number, identifier, application, created, role, configuration, state, flags, last_activated, title, user_activity, "
      + "restoration_activity, opened_content, user_info, can_activate, prefers_to_activate, shown_by"
    var killed = first
    tamper(
      first,
      """
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 0; ATTACH '\(path)/stagedoor.db' AS later;
      BEGIN; DELETE FROM ledger; INSERT INTO session SELECT \(session) FROM later.session
      """
        + ["ledger", "log", "delivery", "event", "preference", "owed"].map {
          "; INSERT INTO \($0) SELECT * FROM later.\($0)"
        }.joined() + "; COMMIT"
    ) { if isKilled { killed = first.copy() } }
    return killed
  }
}
