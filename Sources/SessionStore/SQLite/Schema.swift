import SceneModel

/// The format of the file, and its earlier versions.
package struct Schema: Sendable {
  /// The migrations: step n makes a file of version n + 1 from one of version n, and the first makes one from an empty file. A released step never
  /// changes.
  package let steps: [String]
  /// Makes at once, from an empty file, what all steps make: each new step changes it too.
  private let whole: String?

  package init(steps: [String], whole: String? = nil) { (self.steps, self.whole) = (steps, whole) }

  package static let current = Schema(
    steps: [first, second, third, fourth, fifth, sixth, seventh, eighth, ninth], whole: present)

  /// The first version that files sessions under the keys of `Session.shownKey` and `Session.conditionKeys` as they are now. A change of these needs
  /// another step, and this number follows.
  private static let keysVersion: Int64 = 2

  /// The first version in which a delivery has the digest of its document instead of a second copy.
  private static let digestsVersion: Int64 = 3

  var version: Int64 { Int64(steps.count) }

  /// "StgD": the identifier for the program `file` and for us.
  static let application: Int64 = 0x5374_6744

  /// In bytes. This is SQLite's default, stated here because the length of the log is computed from it.
  static let pageSize: Int64 = 4096

  /// Brings a file to this version, in one transaction.
  func migrate(_ database: Database, from version: Int64, _ rules: ReadingRules) throws(StoreError) {
    // A table that is made anew releases its old pages, and some of them have private content.
    try database.overwriteDeleted(version > 0)
    try database.transaction { () throws(StoreError) in
      if version == 0, let whole {
        try database.execute(whole)
      } else {
        for step in steps[Int(version)...] { try database.execute(step) }
      }
      if version > 0, version < Schema.digestsVersion, self.version >= Schema.digestsVersion {
        try Schema.digestFingerprints(database, rules)
      }
      if version > 0, version < Schema.keysVersion, self.version >= Schema.keysVersion {
        try SessionKeys.fileAll(database, rules)
      }
      try database.execute("PRAGMA application_id = \(Schema.application); PRAGMA user_version = \(self.version)")
    }
    try database.overwriteDeleted(false)
  }
}

extension Schema {
  /// `log` has the acknowledged entries. The entries of a commit share a row, which has the position of the last one. Everything else agrees with the
  /// log up to `ledger.settled`, and is written in batches.
  ///
  /// A session's row stays where it was made, so sessions of one time lie together, and an activation touches an index only if the session shows
  /// something else afterwards. The number of a delivery is the position of its first entry in the log. The migrations below say why the other columns
  /// and indexes are there. Nobody reads `ledger.deliveries` any more.
  private static let present = """
    CREATE TABLE ledger (
      id INTEGER PRIMARY KEY CHECK (id = 1), settled INTEGER NOT NULL, deliveries INTEGER NOT NULL,
      first_event INTEGER NOT NULL, last_event INTEGER NOT NULL
    ) STRICT;
    INSERT INTO ledger VALUES (1, 0, 0, 1, 0);

    CREATE TABLE log (position INTEGER PRIMARY KEY, kind INTEGER NOT NULL, body BLOB NOT NULL) STRICT;

    CREATE TABLE session (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, created INTEGER NOT NULL,
      role TEXT NOT NULL, configuration TEXT NOT NULL, state TEXT NOT NULL, flags INTEGER NOT NULL,
      last_activated INTEGER NOT NULL, shown_by BLOB, shown_key TEXT NOT NULL DEFAULT '',
      bytes INTEGER NOT NULL AS (
        length(CAST(title AS BLOB)) + length(CAST(can_activate AS BLOB)) + length(CAST(prefers_to_activate AS BLOB))
          + length(CAST(opened_content AS BLOB)) + ifnull(length(CAST(user_info AS BLOB)), 0)
          + ifnull(length(CAST(user_activity AS BLOB)), 0) + ifnull(length(CAST(restoration_activity AS BLOB)), 0)
      ) STORED,
      title TEXT NOT NULL, can_activate TEXT NOT NULL, prefers_to_activate TEXT NOT NULL, opened_content TEXT NOT NULL,
      user_info TEXT, user_activity TEXT, restoration_activity TEXT
    ) STRICT;
    CREATE INDEX session_by_age ON session (created, identifier);
    CREATE INDEX session_by_application ON session (application, created, identifier);
    CREATE INDEX session_connected ON session (identifier) WHERE flags & 1;
    CREATE INDEX session_by_key ON session (application, shown_key);
    CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
      INSERT INTO application_count (application, sessions, bytes) VALUES (new.application, 1, new.bytes)
        ON CONFLICT (application) DO UPDATE SET sessions = sessions + 1, bytes = bytes + new.bytes;
    END;
    CREATE TRIGGER session_changed AFTER UPDATE OF title, can_activate, prefers_to_activate, opened_content, user_info,
      user_activity, restoration_activity ON session WHEN new.bytes <> old.bytes BEGIN
      UPDATE application_count SET bytes = bytes + new.bytes - old.bytes WHERE application = new.application;
    END;
    CREATE TRIGGER session_removed AFTER DELETE ON session BEGIN
      UPDATE application_count SET sessions = sessions - 1, bytes = bytes - old.bytes
        WHERE application = old.application;
    END;

    CREATE TABLE application_count (
      application TEXT PRIMARY KEY, sessions INTEGER NOT NULL DEFAULT 0, owed INTEGER NOT NULL DEFAULT 0,
      bytes INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER application_left AFTER UPDATE ON application_count WHEN new.sessions <= 0 AND new.owed <= 0 BEGIN
      DELETE FROM application_count WHERE application = new.application;
    END;

    CREATE TABLE condition_key (
      session BLOB NOT NULL, application TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX condition_by_key ON condition_key (application, key);

    CREATE TABLE delivery (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, sender TEXT NOT NULL,
      token TEXT, created INTEGER NOT NULL, deadline INTEGER NOT NULL, state TEXT NOT NULL, is_open INTEGER NOT NULL,
      session BLOB, outcome TEXT NOT NULL, attempt INTEGER NOT NULL, departures INTEGER NOT NULL, error TEXT,
      message TEXT, ended INTEGER, documents INTEGER NOT NULL, source_application TEXT NOT NULL, fingerprint TEXT NOT NULL,
      is_private INTEGER NOT NULL, routing_item INTEGER, routing_activity INTEGER, previous_private INTEGER NOT NULL,
      previous_by BLOB, previous_title TEXT NOT NULL, previous_content TEXT NOT NULL, previous_activity TEXT,
      answer TEXT NOT NULL, decision TEXT NOT NULL, payload TEXT NOT NULL
    ) STRICT;
    CREATE INDEX delivery_by_token ON delivery (token, sender) WHERE token IS NOT NULL;
    CREATE INDEX delivery_by_sender ON delivery (sender, number) WHERE token IS NOT NULL;
    CREATE INDEX delivery_open ON delivery (application) WHERE is_open;
    CREATE INDEX delivery_over ON delivery (ifnull(ended, created)) WHERE NOT is_open;
    CREATE INDEX delivery_unspent ON delivery (iif(state = 'handled', deadline, -9223372036854775808))
      WHERE NOT is_open AND documents = 2;
    CREATE INDEX delivery_standing ON delivery (previous_by) WHERE previous_by IS NOT NULL AND documents > 0;

    CREATE TABLE event (
      sequence INTEGER PRIMARY KEY, name TEXT NOT NULL, application TEXT NOT NULL, arguments TEXT NOT NULL,
      instant INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE preference (type TEXT PRIMARY KEY, application TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE owed (
      application TEXT NOT NULL, session BLOB NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (application, session)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER owed_added AFTER INSERT ON owed BEGIN
      INSERT INTO application_count (application, owed) VALUES (new.application, 1)
        ON CONFLICT (application) DO UPDATE SET owed = owed + 1;
    END;
    CREATE TRIGGER owed_removed AFTER DELETE ON owed BEGIN
      UPDATE application_count SET owed = owed - 1 WHERE application = old.application;
    END;

    CREATE TABLE baggage (
      number INTEGER PRIMARY KEY, delivery BLOB NOT NULL UNIQUE, is_private INTEGER NOT NULL, bytes INTEGER NOT NULL,
      document TEXT NOT NULL
    ) STRICT;
    """
}

// MARK: The migrations

extension Schema {
  /// The first version.
  private static let first = """
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

  /// The keys by which a session is found without the others of its application: the key that it shows, and the keys of its own conditions, with ""
  /// if these may be true for any key. And an index of the deliveries that are over, of which history forgets the oldest.
  private static let second = """
    ALTER TABLE session ADD COLUMN shown_key TEXT NOT NULL DEFAULT '';
    CREATE TABLE condition_key (
      session BLOB NOT NULL, application TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX session_by_key ON session (application, shown_key);
    CREATE INDEX condition_by_key ON condition_key (application, key);
    CREATE INDEX delivery_over ON delivery (number) WHERE NOT is_open;
    """

  /// The time of a delivery's end, and which documents it has (`KeptDocuments`). The table is made anew so that these columns stand before the
  /// documents: SQLite walks through all pages of a value to reach the column behind it. Deliveries that are spent already are copied without their
  /// payloads; the newest delivery gives a time that has passed.
  ///
  /// Also the numbers of sessions and discarded sessions of each application: triggers count them, so no writer of a row can forget to.
  private static let third = """
    CREATE TABLE new_delivery (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, sender TEXT NOT NULL,
      token TEXT, created INTEGER NOT NULL, deadline INTEGER NOT NULL, state TEXT NOT NULL, is_open INTEGER NOT NULL,
      session BLOB, outcome TEXT NOT NULL, attempt INTEGER NOT NULL, departures INTEGER NOT NULL, error TEXT,
      message TEXT, ended INTEGER, documents INTEGER NOT NULL, source_application TEXT NOT NULL, fingerprint TEXT NOT NULL,
      is_private INTEGER NOT NULL, routing_item INTEGER, routing_activity INTEGER, previous_private INTEGER NOT NULL,
      previous_by BLOB, previous_title TEXT NOT NULL, previous_content TEXT NOT NULL, previous_activity TEXT,
      answer TEXT NOT NULL, decision TEXT NOT NULL, payload TEXT NOT NULL
    ) STRICT;
    INSERT INTO new_delivery
      SELECT number, identifier, application, sender, token, created, deadline, state, is_open, session, outcome, attempt,
        departures, error, message, NULL, 2, source_application, fingerprint, is_private, routing_item, routing_activity,
        previous_private, previous_by, previous_title, previous_content, previous_activity, answer, decision,
        iif(is_open OR state = 'handled' AND deadline >= (SELECT max(created) FROM delivery), payload, '')
      FROM delivery;
    DROP TABLE delivery;
    ALTER TABLE new_delivery RENAME TO delivery;
    CREATE INDEX delivery_by_token ON delivery (token, sender) WHERE token IS NOT NULL;
    CREATE INDEX delivery_by_sender ON delivery (sender, number) WHERE token IS NOT NULL;
    CREATE INDEX delivery_open ON delivery (application) WHERE is_open;
    CREATE INDEX delivery_open_by_session ON delivery (session) WHERE is_open;
    CREATE INDEX delivery_over ON delivery (number) WHERE NOT is_open;
    CREATE INDEX delivery_unspent ON delivery (iif(state = 'handled', deadline, -9223372036854775808))
      WHERE NOT is_open AND documents = 2;
    CREATE INDEX delivery_standing ON delivery (previous_by) WHERE previous_by IS NOT NULL AND documents > 0;

    ALTER TABLE ledger DROP COLUMN sessions;
    CREATE TABLE application_count (
      application TEXT PRIMARY KEY, sessions INTEGER NOT NULL DEFAULT 0, owed INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    INSERT INTO application_count (application, sessions) SELECT application, count(*) FROM session GROUP BY application;
    INSERT INTO application_count (application, owed) SELECT application, count(*) FROM owed WHERE true GROUP BY application
      ON CONFLICT (application) DO UPDATE SET owed = excluded.owed;
    CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
      INSERT INTO application_count (application, sessions) VALUES (new.application, 1)
        ON CONFLICT (application) DO UPDATE SET sessions = sessions + 1;
    END;
    CREATE TRIGGER session_removed AFTER DELETE ON session BEGIN
      UPDATE application_count SET sessions = sessions - 1 WHERE application = old.application;
    END;
    CREATE TRIGGER owed_added AFTER INSERT ON owed BEGIN
      INSERT INTO application_count (application, owed) VALUES (new.application, 1)
        ON CONFLICT (application) DO UPDATE SET owed = owed + 1;
    END;
    CREATE TRIGGER owed_removed AFTER DELETE ON owed BEGIN
      UPDATE application_count SET owed = owed - 1 WHERE application = old.application;
    END;
    CREATE TRIGGER application_left AFTER UPDATE ON application_count WHEN new.sessions <= 0 AND new.owed <= 0 BEGIN
      DELETE FROM application_count WHERE application = new.application;
    END;
    """

  /// The contents of deliveries. `bytes` stands before the document, so that a start can add up the sizes without reading the documents.
  private static let fourth = """
    CREATE TABLE baggage (
      number INTEGER PRIMARY KEY, delivery BLOB NOT NULL UNIQUE, is_private INTEGER NOT NULL, bytes INTEGER NOT NULL,
      document TEXT NOT NULL
    ) STRICT;
    """

  /// The bytes that each session keeps (`Session.keptBytes`), and their sum for each application. SQLite computes the first, and triggers keep the
  /// second, so no writer of a row can forget to. The table is made anew so that the column stands before the documents, as do the others that are
  /// read without them.
  private static let fifth = """
    CREATE TABLE new_session (
      number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, created INTEGER NOT NULL,
      role TEXT NOT NULL, configuration TEXT NOT NULL, state TEXT NOT NULL, flags INTEGER NOT NULL,
      last_activated INTEGER NOT NULL, shown_by BLOB, shown_key TEXT NOT NULL DEFAULT '',
      bytes INTEGER NOT NULL AS (
        length(CAST(title AS BLOB)) + length(CAST(can_activate AS BLOB)) + length(CAST(prefers_to_activate AS BLOB))
          + length(CAST(opened_content AS BLOB)) + ifnull(length(CAST(user_info AS BLOB)), 0)
          + ifnull(length(CAST(user_activity AS BLOB)), 0) + ifnull(length(CAST(restoration_activity AS BLOB)), 0)
      ) STORED,
      title TEXT NOT NULL, can_activate TEXT NOT NULL, prefers_to_activate TEXT NOT NULL, opened_content TEXT NOT NULL,
      user_info TEXT, user_activity TEXT, restoration_activity TEXT
    ) STRICT;
    INSERT INTO new_session (
        number, identifier, application, created, role, configuration, state, flags, last_activated, shown_by, shown_key,
        title, can_activate, prefers_to_activate, opened_content, user_info, user_activity, restoration_activity)
      SELECT number, identifier, application, created, role, configuration, state, flags, last_activated, shown_by,
        shown_key, title, can_activate, prefers_to_activate, opened_content, user_info, user_activity,
        restoration_activity
      FROM session;
    DROP TABLE session;
    ALTER TABLE new_session RENAME TO session;
    CREATE INDEX session_by_age ON session (created, identifier);
    CREATE INDEX session_by_application ON session (application, created, identifier);
    CREATE INDEX session_connected ON session (identifier) WHERE flags & 1;
    CREATE INDEX session_by_key ON session (application, shown_key);

    ALTER TABLE application_count ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE application_count
      SET bytes = (SELECT ifnull(sum(bytes), 0) FROM session WHERE session.application = application_count.application);
    CREATE TRIGGER session_added AFTER INSERT ON session BEGIN
      INSERT INTO application_count (application, sessions, bytes) VALUES (new.application, 1, new.bytes)
        ON CONFLICT (application) DO UPDATE SET sessions = sessions + 1, bytes = bytes + new.bytes;
    END;
    CREATE TRIGGER session_changed AFTER UPDATE ON session WHEN new.bytes <> old.bytes BEGIN
      UPDATE application_count SET bytes = bytes + new.bytes - old.bytes WHERE application = new.application;
    END;
    CREATE TRIGGER session_removed AFTER DELETE ON session BEGIN
      UPDATE application_count SET sessions = sessions - 1, bytes = bytes - old.bytes
        WHERE application = old.application;
    END;
    """

  /// Nobody looks for the open deliveries of one session in the rows. Nor does anybody count all deliveries; but to drop the ledger's column, SQLite would
  /// read the whole schema anew.
  private static let sixth = "DROP INDEX delivery_open_by_session"

  /// A row of the log may have several entries, which an earlier version cannot read.
  private static let seventh = ""

  /// Most activations change nothing that counts. A trigger costs each of them as much as the change itself.
  private static let eighth = """
    DROP TRIGGER session_changed;
    CREATE TRIGGER session_changed AFTER UPDATE OF title, can_activate, prefers_to_activate, opened_content, user_info,
      user_activity, restoration_activity ON session WHEN new.bytes <> old.bytes BEGIN
      UPDATE application_count SET bytes = bytes + new.bytes - old.bytes WHERE application = new.application;
    END;
    """

  /// History forgets deliveries in the order of their ends: some wait for days.
  private static let ninth = """
    DROP INDEX delivery_over;
    CREATE INDEX delivery_over ON delivery (ifnull(ended, created)) WHERE NOT is_open;
    """
}

extension Schema {
  /// In the rows and in the entries of the log.
  fileprivate static func digestFingerprints(_ database: Database, _ rules: ReadingRules) throws(StoreError) {
    var rows = try database.query("SELECT number, fingerprint FROM delivery WHERE fingerprint <> ''")
    while try rows.step() {
      let number = rows.number(at: 0)
      rows.skip(1)
      // Every reader skips a row that does not parse.
      guard let fingerprint = try? rows.text() else { continue }
      var change = try database.query("UPDATE delivery SET fingerprint = ? WHERE number = ?")
      change.put(Digest(of: fingerprint).hex)
      change.put(number)
      try change.run()
    }
    var entries = try database.query("SELECT position, body FROM log WHERE kind = \(Record.Kind.delivery.rawValue)")
    while try entries.step() {
      let position = entries.number(at: 0)
      entries.skip(1)
      guard let body = try? entries.bytes(),
        case .delivery(var delivery) = try? Record(Record.Kind.delivery.rawValue, body, rules),
        !delivery.fingerprint.isEmpty
      else { continue }
      delivery.fingerprint = Digest(of: delivery.fingerprint).hex
      var writer = LogBodyWriter()
      Record.delivery(delivery).put(into: &writer)
      var change = try database.query("UPDATE log SET body = ? WHERE position = ?")
      change.put(bytes: writer.bytes)
      change.put(position)
      try change.run()
    }
  }
}
