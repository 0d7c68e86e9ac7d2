import DBus
import DBusTestSupport
import FoundationEssentials
import Glibc
import SceneModel
import Testing

/// A store that an earlier version left.
@Suite struct MigrationTests {
  /// Turns the file into one that the first version would have written.
  private static let downgrade = """
    import sqlite3, sys
    store = sqlite3.connect(sys.argv[1], isolation_level=None)
    store.executescript(\"""
      DROP TRIGGER session_added; DROP TRIGGER session_changed; DROP TRIGGER session_removed; DROP TRIGGER owed_added;
      DROP TRIGGER owed_removed;
      DROP TRIGGER application_left; DROP TABLE application_count; DROP TABLE delivery; DROP TABLE baggage;
      CREATE TABLE delivery (
        number INTEGER PRIMARY KEY, identifier BLOB NOT NULL UNIQUE, application TEXT NOT NULL, sender TEXT NOT NULL,
        token TEXT, created INTEGER NOT NULL, deadline INTEGER NOT NULL, state TEXT NOT NULL, is_open INTEGER NOT NULL,
        session BLOB, outcome TEXT NOT NULL, attempt INTEGER NOT NULL, departures INTEGER NOT NULL, error TEXT,
        message TEXT, source_application TEXT NOT NULL, fingerprint TEXT NOT NULL, is_private INTEGER NOT NULL,
        routing_item INTEGER, routing_activity INTEGER, previous_activity TEXT, previous_content TEXT NOT NULL,
        previous_title TEXT NOT NULL, previous_private INTEGER NOT NULL, previous_by BLOB, answer TEXT NOT NULL,
        decision TEXT NOT NULL, payload TEXT NOT NULL) STRICT;
      CREATE INDEX delivery_by_token ON delivery (token, sender) WHERE token IS NOT NULL;
      CREATE INDEX delivery_by_sender ON delivery (sender, number) WHERE token IS NOT NULL;
      CREATE INDEX delivery_open ON delivery (application) WHERE is_open;
      CREATE INDEX delivery_open_by_session ON delivery (session) WHERE is_open;
      ALTER TABLE ledger ADD COLUMN sessions INTEGER NOT NULL DEFAULT 6001;
      DROP TABLE condition_key; DROP INDEX session_by_key;
      ALTER TABLE session DROP COLUMN shown_key; ALTER TABLE session DROP COLUMN bytes; PRAGMA user_version = 1; VACUUM\""")
    """

  private static let version = """
    import sqlite3, sys
    print(sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version").fetchone()[0])
    """

  @Test func `a service that is killed while it brings a store up to date has lost nothing`() async throws {
    try await withHouse(installing: Manifests.cats) { house in
      var lions = Session.cat(6001)
      lions.canActivatePredicate = "SELF == 'lion' OR SELF == 'puma'"
      try house.leave((1...6000).map { .cat($0) } + [lions])
      let store = "\(house.state)/stagedoor.db"
      _ = try await house.command("/usr/bin/python3", "-c", Self.downgrade, store).output()
      var versions: [String] = []
      // Kill the service as soon as the file is open and has a log; and as soon as the log has content.
      for length in [0, 1] {
        try await house.gone()
        try await house.daemon().whileRunning { daemon in
          try await withLimit(usualLimit, "a log of \(length) bytes") {
            var status = stat()
            while stat("\(store)-wal", &status) != 0 || status.st_size < length {
              try await ContinuousClock().sleep(for: .milliseconds(1))
            }
          }
          daemon.signal(SIGKILL)
          #expect(try await daemon.ended() == .signalled(SIGKILL))
        }
        // Look at a copy, since looking at a store merges its log.
        let copy = "\(house.state)-\(length)"
        try FileManager.default.copyItem(atPath: house.state, toPath: copy)
        versions.append(
          try await house.command("/usr/bin/python3", "-c", Self.version, "\(copy)/stagedoor.db").output())
      }
      #expect(versions.contains("1"), "killed before all was done: \(versions)")
      try await house.serving { daemon in
        let caller = House.Caller(house)
        #expect(try await caller.drop("lion") == [Session.path(ofCat: 6001), "activated"])
        #expect(try await caller.drop("cat5999") == [Session.path(ofCat: 5999), "activated"])
        let (chosen, count) = try await caller.candidates("cat77")
        #expect((chosen, count) == (Session.path(ofCat: 77), 6001))
        #expect(!daemon.standardError.contains("broken"), "\(daemon.standardError)")
        daemon.signal(SIGTERM)
        #expect(try await daemon.ended() == .exited(0))
      }
      #expect(try await house.command("/usr/bin/python3", "-c", Self.version, store).output() == "7")
    }
  }
}
