package import SceneModel

extension SessionStore {
  /// A session; `nil` if it does not exist, or if its row does not parse, which is reported.
  package func session(_ identifier: UniqueIdentifier) throws(StoreError) -> Session? {
    let change = tail.sessions[identifier]
    switch change {
    case .whole(let session): return session
    case .gone: return nil
    case .activated, nil: break
    }
    if let session = tail.readSessions[identifier] { return session }
    var query = try database().query(SessionStore.readingSession)
    query.put(identifier)
    guard try query.step() else { return nil }
    let bytes = query.number(at: 0)
    query.skip(1)
    guard var session = read(&query) else { return nil }
    if case .activated(let activation) = change { activation.apply(to: &session) }
    tail.rememberRead(session, bytes: Int(bytes))
    return session
  }

  private static let readingSession = "SELECT bytes, \(Session.columns) FROM session WHERE identifier = ?"

  /// Some of the sessions, oldest first; sessions of the same time by identifier.
  package struct Page {
    package fileprivate(set) var sessions: [Session] = []
    /// The place from which the list goes on; `nil` after the last session.
    package fileprivate(set) var next: SessionAge?
  }

  /// The bytes of rows after which a page ends: a session may keep some megabytes.
  private static let bytesOfPage: Int64 = 1 << 20

  /// - Parameters:
  ///   - application: `nil` for all applications.
  ///   - after: The session before the page.
  /// - Returns: `nil` if `after` does not exist.
  package func sessions(
    of application: Text? = nil, after: UniqueIdentifier? = nil, limit: Int
  ) throws(StoreError) -> Page? {
    guard let after else { return try sessions(of: application, from: .first, limit: limit) }
    guard let place = try age(of: after) else { return nil }
    return try sessions(of: application, from: place, limit: limit)
  }

  /// The same, from a place in the list. The session of that place may be gone.
  package func sessions(of application: Text?, from start: SessionAge, limit: Int) throws(StoreError) -> Page {
    var query = try database().query(
      """
      SELECT bytes, \(Session.columns) FROM session WHERE \(application == nil ? "" : "application = ? AND")
        (created, identifier) > (?, ?) ORDER BY created, identifier
      """)
    if let application { query.put(application) }
    query.put(start.created)
    if let identifier = start.identifier { query.put(identifier) } else { query.put(bytes: []) }

    var page = Page()
    var (isOver, bytes): (Bool, Int64) = (false, 0)
    var row: (session: Session, bytes: Int64)?
    var others = sessionsOfTail(of: application, after: start)[...]
    while page.sessions.count < limit, bytes < SessionStore.bytesOfPage {
      if row == nil, !isOver {
        row = try nextUnchanged(&query)
        isOver = row == nil
      }
      if let other = others.first, row.map({ SessionAge(other) < SessionAge($0.session) }) ?? true {
        page.sessions.append(others.removeFirst())
      } else if let next = row {
        page.sessions.append(next.session)
        // Of the rows that the page has: otherwise many that have changed since would end each page, and the next would begin with them again.
        bytes += next.bytes
        row = nil
      } else {
        return page
      }
    }
    page.next = page.sessions.last.map { SessionAge($0) } ?? start
    return page
  }

  /// Visits all sessions of an application, oldest first, with a page in memory at a time.
  package func forEachSession(of application: Text? = nil, _ body: (Session) -> Void) throws(StoreError) {
    var place: SessionAge? = .first
    while let from = place {
      let page = try sessions(of: application, from: from, limit: 256)
      page.sessions.forEach(body)
      place = page.next
    }
  }

  /// The sessions of an application that may be concerned with a key: those that show it, and those with conditions of their own that may be true for
  /// it. The result may have more sessions, but never fewer.
  ///
  /// - Parameter key: Not empty.
  /// - Returns: `nil` if there are more than `limit`.
  package func sessions(
    of application: Text, concernedWith key: Text, limit: Int
  ) throws(StoreError) -> [Session]? {
    var found: [UniqueIdentifier: Session] = [:]
    var query = try database().query(SessionStore.findingConcerned)
    query.put(application)
    query.put(key)
    while found.count <= limit, try query.step() {
      if let identifier = readIdentifier(&query) { found[identifier] = try session(identifier) }
    }
    for (identifier, change) in tail.sessions where found.count <= limit {
      switch change {
      case .whole(let session):
        if session.shownKey == key || session.hasOwnConditions { found[identifier] = session }
      case .activated(let activation):
        guard activation.userActivity?.key == key || activation.openedContent == key else { continue }
        found[identifier] = try session(identifier)
      case .gone: continue
      }
      if found[identifier]?.application != application { found[identifier] = nil }
    }
    return found.count > limit ? nil : Array(found.values)
  }

  private static let findingConcerned = """
    SELECT identifier FROM session WHERE application = ?1 AND shown_key = ?2
      UNION ALL SELECT session FROM condition_key WHERE application = ?1 AND key IN (?2, '')
    """

  /// The sessions whose scenes were connected at their last writing, with their applications.
  package func connectedSessions() throws(StoreError) -> [(session: UniqueIdentifier, application: Text)] {
    // The index has only these sessions, so this takes time for the windows, however many sessions there are.
    var query = try database().query(
      "SELECT identifier, application FROM session INDEXED BY session_connected WHERE flags & 1")
    var connected: [(session: UniqueIdentifier, application: Text)] = []
    while try query.step() {
      guard let identifier = readIdentifier(&query), let application = try? query.text() else { continue }
      switch tail.sessions[identifier] {
      case .whole, .gone: continue
      case .activated, nil: connected.append((identifier, application))
      }
    }
    for case .whole(let session) in tail.sessions.values where session.isConnected {
      connected.append((session.identifier, session.application))
    }
    return connected
  }

  /// The number of sessions of each application that has any.
  package func sessionCounts() throws(StoreError) -> [Text: Int] {
    var counts = try countsOfRows().sessions
    for (identifier, change) in tail.sessions {
      if case .activated = change { continue }
      if let row = try row(of: identifier) { counts[row.application, default: 0] -= 1 }
      if case .whole(let session) = change { counts[session.application, default: 0] += 1 }
    }
    return counts.filter { $0.value > 0 }
  }

  /// The bytes that the sessions of each application keep together (`Session.keptBytes`). Applications whose sessions keep nothing are left out.
  package func sessionBytes() throws(StoreError) -> [Text: Int] {
    var bytes = try countsOfRows().bytes
    for identifier in tail.sessions.keys {
      if let row = try row(of: identifier) { bytes[row.application, default: 0] -= row.bytes }
      if let session = try session(identifier) { bytes[session.application, default: 0] += session.keptBytes }
    }
    return bytes.filter { $0.value > 0 }
  }

  /// The numbers that triggers keep for each application when rows come, change and go, so that nobody has to count the rows.
  func countsOfRows() throws(StoreError) -> (sessions: [Text: Int], owed: [Text: Int], bytes: [Text: Int]) {
    var counts: (sessions: [Text: Int], owed: [Text: Int], bytes: [Text: Int]) = ([:], [:], [:])
    var query = try database().query("SELECT application, sessions, owed, bytes FROM application_count")
    while try query.step() {
      do throws(Malformed) {
        let application = try query.text()
        counts.sessions[application] = count(&query)
        counts.owed[application] = count(&query)
        counts.bytes[application] = count(&query)
      } catch {
        passOver("the count of an application", error)
      }
    }
    return counts
  }

  private func count(_ query: inout Query) -> Int? {
    do throws(Malformed) {
      return Int(try query.count(atMost: SessionStore.mostBytes))
    } catch {
      passOver("the count of an application", error)
      return nil
    }
  }

  // MARK: Rows and the tail

  private func read(_ query: inout Query) -> Session? {
    do throws(Malformed) {
      return try Session(from: &query, rules)
    } catch {
      passOver("a session", error)
      return nil
    }
  }

  private func readIdentifier(_ query: inout Query) -> UniqueIdentifier? {
    do throws(Malformed) {
      return try query.identifier()
    } catch {
      passOver("a session", error)
      return nil
    }
  }

  /// The next row that has not changed since it was written, or was only activated, and its bytes.
  private func nextUnchanged(_ query: inout Query) throws(StoreError) -> (session: Session, bytes: Int64)? {
    while try query.step() {
      let bytes = query.number(at: 0)
      query.skip(1)
      guard var session = read(&query) else { continue }
      switch tail.sessions[session.identifier] {
      case .whole, .gone: continue
      case .activated(let activation): activation.apply(to: &session)
      case nil: break
      }
      return (session, bytes)
    }
    return nil
  }

  private func sessionsOfTail(of application: Text?, after start: SessionAge) -> [Session] {
    var sessions: [Session] = []
    for case .whole(let session) in tail.sessions.values {
      if application == nil || session.application == application, start < SessionAge(session) {
        sessions.append(session)
      }
    }
    return sessions.sorted { SessionAge($0) < SessionAge($1) }
  }

  private func age(of identifier: UniqueIdentifier) throws(StoreError) -> SessionAge? {
    switch tail.sessions[identifier] {
    case .whole(let session): return SessionAge(session)
    case .gone: return nil
    case .activated, nil: break
    }
    var query = try database().query("SELECT created FROM session WHERE identifier = ?")
    query.put(identifier)
    return try query.step() ? SessionAge(created: query.number(at: 0), identifier: identifier) : nil
  }

  private func row(of identifier: UniqueIdentifier) throws(StoreError) -> (application: Text, bytes: Int)? {
    var query = try database().query("SELECT bytes, application FROM session WHERE identifier = ?")
    query.put(identifier)
    guard try query.step() else { return nil }
    // Its row does not parse, so it is no session.
    guard let bytes = try? query.count(atMost: SessionStore.mostBytes) else { return nil }
    return (try? query.text()).map { ($0, Int(bytes)) }
  }

  /// No sum of bytes in the file comes near this, and a million of them can be added up.
  static let mostBytes: Int64 = 1 << 42
}

extension Session {
  fileprivate var hasOwnConditions: Bool {
    !self.canActivatePredicate.isEmpty || !self.prefersToActivatePredicate.isEmpty
  }
}

/// A place in the list of all sessions, which remains when its session is gone.
package struct SessionAge: Comparable, Sendable {
  let created: Int64
  /// `nil` comes before all identifiers.
  let identifier: UniqueIdentifier?

  /// Before all sessions.
  package static let first = SessionAge(created: .min, identifier: nil)

  package static func < (one: Self, other: Self) -> Bool {
    if one.created != other.created { return one.created < other.created }
    guard let identifier = other.identifier else { return false }
    return one.identifier.map { $0 < identifier } ?? true
  }
}

extension SessionAge {
  package init(_ session: Session) { self.init(created: session.created.microseconds, identifier: session.identifier) }
}
