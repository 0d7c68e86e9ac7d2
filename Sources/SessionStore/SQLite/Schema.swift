import SceneModel

/// What the file looks like, and how it came to look so.
package struct Schema: Sendable {
  /// What makes a file of version n into one of version n + 1; the first makes an empty one. A step that was released
  /// is never changed.
  package let steps: [Step]

  package init(steps: [Step]) { self.steps = steps }

  package static let current = Schema(steps: [first, second])

  /// Most are statements; what has to be read before it can be written anew takes more.
  package struct Step: Sendable, ExpressibleByStringLiteral {
    let run: @Sendable (Database, ReadingRules) throws(StoreError) -> Void

    init(_ run: @escaping @Sendable (Database, ReadingRules) throws(StoreError) -> Void) { self.run = run }

    package init(stringLiteral statements: String) {
      run = { database, _ throws(StoreError) in try database.execute(statements) }
    }
  }

  var version: Int64 { Int64(steps.count) }

  /// "StgD": what `file` and we know it by.
  static let application: Int64 = 0x5374_6744

  /// Bytes. It is SQLite's default, and stated since the length of its log is reckoned from it.
  static let pageSize: Int64 = 4096

  /// Brings a file to this version, in one transaction.
  func migrate(_ database: Database, from version: Int64, _ rules: ReadingRules) throws(StoreError) {
    try database.transaction { () throws(StoreError) in
      for step in steps[Int(version)...] { try step.run(database, rules) }
      try database.execute("PRAGMA application_id = \(Schema.application); PRAGMA user_version = \(self.version)")
    }
  }
}

extension Schema {
  /// `log` is what was acknowledged; everything else has what the log says up to `ledger.settled`, and is written in
  /// batches.
  ///
  /// A session's row stays where it was made, so that those of one time lie together, and activating it touches no
  /// index. A delivery's number is the position of its first entry in the log.
  private static let first: Step = """
    CREATE TABLE ledger (
      id INTEGER PRIMARY KEY CHECK (id = 1), settled INTEGER NOT NULL, sessions INTEGER NOT NULL,
      deliveries INTEGER NOT NULL, first_event INTEGER NOT NULL, last_event INTEGER NOT NULL
    ) STRICT;
    INSERT INTO ledger VALUES (1, 0, 0, 0, 1, 0);

    CREATE TABLE log (position INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

    CREATE TABLE session (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, created INTEGER NOT NULL,
      role TEXT NOT NULL, configuration TEXT NOT NULL, state TEXT NOT NULL, flags INTEGER NOT NULL,
      last_activated INTEGER NOT NULL, title TEXT NOT NULL, user_activity TEXT, restoration_activity TEXT,
      opened_content TEXT NOT NULL, user_info TEXT, can_activate TEXT NOT NULL, prefers_to_activate TEXT NOT NULL,
      shown_by BLOB
    ) STRICT;
    CREATE INDEX session_by_age ON session (created, identifier);
    CREATE INDEX session_by_application ON session (application, created, identifier);
    CREATE INDEX session_connected ON session (identifier) WHERE flags & 1;

    CREATE TABLE delivery (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, sender TEXT NOT NULL,
      token TEXT, created INTEGER NOT NULL, deadline INTEGER NOT NULL, state TEXT NOT NULL, is_open INTEGER NOT NULL,
      session BLOB, outcome TEXT NOT NULL, attempt INTEGER NOT NULL, departures INTEGER NOT NULL, error TEXT,
      message TEXT, source_application TEXT NOT NULL, fingerprint TEXT NOT NULL, is_private INTEGER NOT NULL,
      routing_item INTEGER, routing_activity INTEGER, previous_activity TEXT, previous_content TEXT NOT NULL,
      previous_title TEXT NOT NULL, previous_private INTEGER NOT NULL, previous_by BLOB, answer TEXT NOT NULL, decision TEXT NOT NULL, payload TEXT NOT NULL
    ) STRICT;
    CREATE INDEX delivery_by_token ON delivery (token, sender) WHERE token IS NOT NULL;
    CREATE INDEX delivery_by_sender ON delivery (sender, number) WHERE token IS NOT NULL;
    CREATE INDEX delivery_open ON delivery (application) WHERE is_open;
    CREATE INDEX delivery_open_by_session ON delivery (session) WHERE is_open;

    CREATE TABLE event (
      sequence INTEGER PRIMARY KEY, name TEXT NOT NULL, application TEXT NOT NULL, arguments TEXT NOT NULL,
      instant INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE preference (type TEXT PRIMARY KEY, application TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE owed (
      application TEXT NOT NULL, session BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (application, session)
    ) STRICT, WITHOUT ROWID;
    """

  /// What a session may be concerned with, so that it is found without the others of its application: the key that it shows, and the keys of
  /// its own conditions, "" among them where these may hold for any. And the deliveries that are over, of which history forgets the oldest.
  private static let second = Step { database, rules throws(StoreError) in
    try database.execute(
      """
      ALTER TABLE session ADD COLUMN shown_key TEXT NOT NULL DEFAULT '';
      CREATE TABLE condition_key (
        session BLOB NOT NULL, application TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (session, key)
      ) STRICT, WITHOUT ROWID;
      """)
    try SessionKeys.fileAll(database, rules)
    // Once they are filed, so that what comes in no order is sorted and not searched for.
    try database.execute(
      """
      CREATE INDEX session_by_key ON session (application, shown_key);
      CREATE INDEX condition_by_key ON condition_key (application, key);
      CREATE INDEX delivery_over ON delivery (number) WHERE NOT is_open;
      """)
  }
}
