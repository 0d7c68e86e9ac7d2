import SceneModel

/// The keys under which sessions are filed, beside their rows: the key that each shows, and the keys of its own conditions. Unchanged keys are not
/// written, because they are parts of indexes.
enum SessionKeys {
  /// The filed values of a session's row, for comparison with the session.
  struct Row {
    let number: Int64
    private let showsTheSame: Bool
    private let hasTheSameConditions: Bool
    /// Whether the row has private content.
    let isPrivate: Bool

    /// `nil` if there is no row with this application and creation time.
    init?(of session: Session, _ database: Database) throws(StoreError) {
      var query = try database.query(
        """
        SELECT number, shown_key = ?, can_activate = ? AND prefers_to_activate = ?, flags FROM session
          WHERE identifier = ? AND application = ? AND created = ?
        """)
      query.put(session.shownKey)
      query.put(session.canActivatePredicate)
      query.put(session.prefersToActivatePredicate)
      query.put(session.identifier)
      query.put(session.application)
      query.put(session.created)
      guard try query.step() else { return nil }
      number = query.number(at: 0)
      showsTheSame = query.number(at: 1) != 0
      hasTheSameConditions = query.number(at: 2) != 0
      isPrivate = !SessionFlags(rawValue: query.number(at: 3)).isDisjoint(with: [.isPrivate, .hasSecrets])
    }

    func file(_ session: Session, _ database: Database) throws(StoreError) {
      if !showsTheSame { try show(session.shownKey, database, number) }
      if hasTheSameConditions { return }
      try database.run(removingConditions, session.identifier)
      try addConditions(of: session, database)
    }
  }

  static func addConditions(of session: Session, _ database: Database) throws(StoreError) {
    for key in session.conditionKeys {
      var add = try database.query("INSERT INTO condition_key (session, application, key) VALUES (?, ?, ?)")
      add.put(session.identifier)
      add.put(session.application)
      add.put(key)
      try add.run()
    }
  }

  static let removingConditions = "DELETE FROM condition_key WHERE session = ?"

  /// Files a session that was chosen. It shows the content that it got, unless it would show its restoration activity first, or unless the content is
  /// a file and the session has an activity.
  static func file(_ activation: SessionActivation, _ database: Database) throws(StoreError) {
    let (shown, filing): (Text, String)
    if let activity = activation.userActivity {
      (shown, filing) = (activity.key ?? .empty, filingActivity)
    } else if let content = activation.openedContent {
      (shown, filing) = (content, filingContent)
    } else {
      return
    }
    var query = try database.query(filing)
    query.put(shown)
    query.put(activation.session)
    try query.run()
  }

  private static let filingActivity = """
    UPDATE session SET shown_key = ?1 WHERE identifier = ?2 AND shown_key <> ?1
      AND (flags & 1 OR restoration_activity IS NULL)
    """
  private static let filingContent = filingActivity + " AND user_activity IS NULL"

  private static func show(_ key: Text, _ database: Database, _ number: Int64) throws(StoreError) {
    var query = try database.query("UPDATE session SET shown_key = ? WHERE number = ?")
    query.put(key)
    query.put(number)
    try query.run()
  }

  /// Files all rows: they were written when nothing was filed, or under other keys.
  static func fileAll(_ database: Database, _ rules: ReadingRules) throws(StoreError) {
    try database.execute("DELETE FROM condition_key")
    var query = try database.query("SELECT number, \(Session.columns) FROM session ORDER BY number")
    while try query.step() {
      let number = query.number(at: 0)
      query.skip(1)
      // Nobody finds a session that does not parse.
      guard let session = try? Session(from: &query, rules) else { continue }
      try show(session.shownKey, database, number)
      try addConditions(of: session, database)
    }
  }
}
