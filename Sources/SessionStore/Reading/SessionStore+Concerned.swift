package import SceneModel

extension SessionStore {
  /// The sessions of an application that may be concerned with a key: those that show it, and those with conditions of their own that may be true for
  /// it. The result may have more sessions, but never fewer.
  ///
  /// - Parameter key: Not empty.
  /// - Returns: `nil` if there are more than `limit`.
  package func sessions(
    of application: Text, concernedWith key: Text, limit: Int
  ) throws(StoreError) -> [Session]? {
    var found: [UniqueIdentifier: Session] = [:]
    let database = try database()
    var query = try database.query(SessionStore.findingConcerned)
    query.put(application)
    query.put(key)
    while found.count <= limit, let session = try nextUnchanged(&query, database) {
      found[session.identifier] = session
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
    SELECT \(Session.columns) FROM session WHERE number IN (
      SELECT number FROM session WHERE application = ?1 AND shown_key = ?2
      UNION SELECT number FROM session WHERE identifier IN (
        SELECT session FROM condition_key WHERE application = ?1 AND key IN (?2, '')))
    """
}

extension Session {
  fileprivate var hasOwnConditions: Bool {
    !self.canActivatePredicate.isEmpty || !self.prefersToActivatePredicate.isEmpty
  }
}
