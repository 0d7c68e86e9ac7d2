internal import DBus
internal import InterchangeWire

extension Stagedoor {
  /// All sessions, now and after each change: a new session, an ended one, or another state.
  /// The sequence continues when the service comes back.
  public func liveSessions(of application: String? = nil) async throws(StagedoorError) -> SessionSequence {
    try await liveSessions(of: application, from: sessionFeed())
  }

  /// The signals from which ``liveSessions(of:from:)`` continues.
  func sessionFeed() async throws(StagedoorError) -> ServiceFeed {
    try await ServiceFeed(connection, MatchRule(sender: InterchangeNames.bus, pathNamespace: InterchangeNames.root))
  }

  func liveSessions(of application: String?, from feed: ServiceFeed) async throws(StagedoorError) -> SessionSequence {
    let first = try SceneSession.reading(try await sessionsByPath(of: application))
    return SessionSequence(stagedoor: self, feed: feed, application: application, first: first)
  }
}

/// All sessions, after each change. See ``Stagedoor/liveSessions(of:)``. The sequence can be iterated once.
///
/// ```swift
/// let stagedoor = try await Stagedoor.connect()
/// let sessions = try await stagedoor.liveSessions()
/// let shown = try await sessions.first { sessions in sessions.contains { $0.isConnected } }
/// print(shown?.count ?? 0)
/// ```
public struct SessionSequence: AsyncSequence, Sendable {
  /// All sessions, the oldest first.
  public typealias Element = [SceneSession]
  /// The reason why the sequence cannot continue.
  public typealias Failure = StagedoorError

  let stagedoor: Stagedoor
  let feed: ServiceFeed
  let application: String?
  let first: [ObjectPath: SceneSession]

  /// Begins with the present sessions.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

  /// Returns the sessions, now and after each change.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// var moments = try await stagedoor.liveSessions().makeAsyncIterator()
  /// if let now = try await moments.next() { print(now.count) }
  /// ```
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let sequence: SessionSequence
    fileprivate(set) var sessions: [ObjectPath: SceneSession] = [:]
    fileprivate var hasBegun = false
    /// The number of signals that were lost because nobody took them.
    fileprivate var dropped = 0
    /// Whether changes may have been missed, so that the sessions are read again.
    fileprivate var mustRead = false

    /// A change of ``sessions``: of one, which takes the same time however many there are, or of any.
    enum Change {
      case one(ObjectPath)
      case any
    }

    /// Waits for a change; `nil` if the waiting task was cancelled.
    public mutating func next() async throws(StagedoorError) -> [SceneSession]? {
      try await nextChange() == nil ? nil : sessions.inOrder
    }

    mutating func nextChange() async throws(StagedoorError) -> Change? {
      if !hasBegun {
        hasBegun = true
        sessions = sequence.first
        return .any
      }
      while true {
        if Task.isCancelled { return nil }
        if mustRead {
          let before = sessions
          try await readAgain()
          if sessions != before { return .any }
        } else {
          switch try await sequence.feed.next() {
          case nil: return nil
          case .owner(let owner): mustRead = owner != nil
          case .signal(let signal):
            let lost = sequence.feed.signals.dropped
            mustRead = lost > dropped
            dropped = lost
            if !mustRead, let changed = try await apply(signal) { return .one(changed) }
          }
        }
      }
    }

    /// Waits for a change; `nil` if the waiting task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(StagedoorError) -> [SceneSession]? {
      try await next()
    }

    private mutating func readAgain() async throws(StagedoorError) {
      do throws(StagedoorError) {
        sessions = try SceneSession.reading(try await sequence.stagedoor.sessionsByPath(of: sequence.application))
        mustRead = false
      } catch  where error.saysServiceLeft || error.code == .taskCancelled {
        // The feed reports the next owner; after a cancellation the next task asks.
        mustRead = error.code == .taskCancelled
      }
    }

    // Signals that came before the answer may be applied twice; the result is the same.
    private mutating func apply(_ signal: ReceivedSignal) async throws(StagedoorError) -> ObjectPath? {
      var path = signal.path
      var before: SceneSession?
      do throws(CodingError) {
        switch signal.member {
        case "InterfacesAdded":
          let (added, interfaces) = try signal.values(as: ObjectPath.self, [String: Stagedoor.Properties].self)
          guard let properties = interfaces[InterchangeNames.session.rawValue],
            properties.belongs(to: sequence.application)
          else { return nil }
          (path, before) = (added, sessions[added])
          sessions[path] = try? SceneSession(at: path, properties)
        case "InterfacesRemoved":
          let (removed, interfaces) = try signal.values(as: ObjectPath.self, [String].self)
          guard interfaces.contains(InterchangeNames.session.rawValue) else { return nil }
          (path, before) = (removed, sessions.removeValue(forKey: removed))
        case "PropertiesChanged":
          let (interface, changed, hidden) = try signal.values(
            as: String.self, Stagedoor.Properties.self, [String].self)
          before = sessions[path]
          guard interface == InterchangeNames.session.rawValue, before != nil else { return nil }
          try? sessions[path]?.update(changed)
          if !hidden.isEmpty { await look(at: path) }
        default: return nil
        }
      } catch {
        throw .unexpectedReply("\(signal.member): \(error)")
      }
      return sessions[path] == before ? nil : path
    }

    /// The signal hides the changed values from others, but this caller may be allowed to read them.
    private mutating func look(at path: ObjectPath) async {
      guard let session = SessionIdentifier(path.rawValue) else { return }
      do throws(StagedoorError) {
        let properties = try await sequence.stagedoor.properties(of: session)
        try? sessions[path]?.update(properties)
      } catch {
        // After any other error there is nothing to see, or the feed has news.
        mustRead = error.code == .taskCancelled || error.code == .timedOut
      }
    }
  }
}

extension SceneSession {
  static func reading(
    _ all: [ObjectPath: Stagedoor.Properties]
  ) throws(StagedoorError) -> [ObjectPath: SceneSession] {
    var sessions: [ObjectPath: SceneSession] = [:]
    for (path, properties) in all { sessions[path] = try SceneSession(at: path, properties) }
    return sessions
  }
}
