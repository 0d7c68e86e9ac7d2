internal import DBus
public import FoundationEssentials
internal import InterchangeWire
internal import SceneModel

extension Stagedoor {
  /// All sessions, or those of one application, the oldest first.
  public func sessions(of application: String? = nil) async throws(StagedoorError) -> [SceneSession] {
    try SceneSession.reading(try await sessionsByPath(of: application)).inOrder
  }

  /// A page of the list of sessions, the oldest first, however many there are.
  ///
  /// ```swift
  /// let stagedoor = try await Stagedoor.connect()
  /// var last: SessionIdentifier?
  /// repeat {
  ///   let page = try await stagedoor.sessionList(after: last, limit: 1000)
  ///   for window in page { print(window.session) }
  ///   last = page.last?.session
  /// } while last != nil
  /// ```
  ///
  /// - Parameters:
  ///   - application: Only the sessions of this application.
  ///   - last: The last session of the previous page. If this session has gone meanwhile, the call throws ``StagedoorError/Code/noSuchSession``.
  ///   - limit: The greatest number of sessions; 0 for as many as fit into a message.
  public func sessionList(
    of application: String? = nil, after last: SessionIdentifier? = nil, limit: UInt32 = 0
  ) async throws(StagedoorError) -> [SessionSummary] {
    let rows = try await call(
      "ListSessions", application ?? "", last?.description ?? "", limit, returning: [SessionRow].self)
    return try rows.map { row throws(StagedoorError) in
      let (path, application, configuration, state, target, title, lastActivated) = row.members
      guard let session = SessionIdentifier(path.rawValue), let state = ActivationState(rawValue: state) else {
        throw .unexpectedReply("not a session: \(path), \(state)")
      }
      return SessionSummary(
        session: session, application: application, configuration: configuration, activationState: state,
        targetContentIdentifier: target, title: title, lastActivated: lastActivated)
    }
  }

  /// One session. Throws ``StagedoorError/Code/noSuchSession`` if the session does not exist, or no longer exists.
  public func session(_ identifier: SessionIdentifier) async throws(StagedoorError) -> SceneSession {
    try SceneSession(at: identifier.path, try await properties(of: identifier))
  }

  /// Brings a session to the front, and continues `activity` there if there is one.
  @discardableResult
  public func activate(
    _ session: SessionIdentifier, userActivity: UserActivity? = nil
  ) async throws(StagedoorError) -> Delivery {
    let (outcome, delivery) = try await call(
      "Activate", try userActivity?.json() ?? "", session: session, returning: String.self, String.self)
    return try Delivery(session.description, outcome, delivery)
  }

  /// Asks a scene to bring its content up to date. The service may carry out the request later, and several requests as one.
  public func refresh(_ session: SessionIdentifier) async throws(StagedoorError) {
    try await call("Refresh", session: session)
  }

  /// Ends a session for good, and closes its window.
  public func destroy(
    _ session: SessionIdentifier, animation: DismissalAnimation = .standard
  ) async throws(StagedoorError) {
    try await call("Destroy", animation.rawValue, session: session)
  }

  /// Makes a new session of an application, of the named configuration or of its first.
  @discardableResult
  public func newSession(
    of application: String, configuration: String = ""
  ) async throws(StagedoorError) -> Delivery {
    do throws(StagedoorError) {
      return try await handIn(
        "NewSession", configuration, at: InterchangeNames.path(ofApplication: Text(application)),
        in: InterchangeNames.application)
    } catch  where error.code == .unknownObject {
      throw StagedoorError(.noSuchApplication, "there is no application \(quoted(application))")
    }
  }

  /// Makes a call whose errors name the session by its identifier, because its path means nothing to people.
  func call<each Argument: BusValue, each Value: BusValue>(
    _ member: MemberName, _ arguments: repeat each Argument, session: SessionIdentifier,
    in interface: InterfaceName = InterchangeNames.session, returning types: repeat (each Value).Type
  ) async throws(StagedoorError) -> (repeat each Value) {
    do throws(StagedoorError) {
      return try await call(
        member, repeat each arguments, at: session.path, in: interface, returning: repeat each types)
    } catch  where error.code == .unknownObject {
      throw StagedoorError(.noSuchSession, "there is no session \(session), or no longer")
    }
  }
}

extension SceneSession {
  /// The oldest first.
  static func areInOrder(_ one: SceneSession, _ other: SceneSession) -> Bool {
    one.created != other.created ? one.created < other.created : one.identifier < other.identifier
  }
}

extension Dictionary where Value == SceneSession {
  /// The sessions, the oldest first.
  var inOrder: [SceneSession] { values.sorted(by: SceneSession.areInOrder) }
}

// MARK: - The form on the bus

extension Stagedoor {
  typealias Properties = [String: Variant]

  func properties(of session: SessionIdentifier) async throws(StagedoorError) -> Properties {
    try await call(
      "GetAll", InterchangeNames.session.rawValue, session: session, in: Self.properties, returning: Properties.self)
  }

  /// Reads the properties of all sessions in one call, or of one session at a time if they do not fit into a message.
  func sessionsByPath(of application: String?) async throws(StagedoorError) -> [ObjectPath: Properties] {
    do throws(StagedoorError) {
      let objects = try await call(
        "GetManagedObjects", in: "org.freedesktop.DBus.ObjectManager",
        returning: [ObjectPath: [String: Properties]].self)
      let sessions = objects.compactMapValues { $0[InterchangeNames.session.rawValue] }
      return sessions.filter { $0.value.belongs(to: application) }
    } catch  where error.code == .limitsExceeded {
      return try await sessionsOneByOne(of: application)
    }
  }

  private func sessionsOneByOne(of application: String?) async throws(StagedoorError) -> [ObjectPath: Properties] {
    var sessions: [ObjectPath: Properties] = [:]
    for try await page in sessionPages(of: application) {
      for session in page.map(\.session) {
        do throws(StagedoorError) {
          sessions[session.path] = try await properties(of: session)
        } catch  where error.code == .noSuchSession {
          // The session was destroyed after the list was read.
        }
      }
    }
    return sessions
  }
}

extension [String: Variant] {
  func belongs(to application: String?) -> Bool { application.map { self["Application"] == .string($0) } ?? true }
}

// MARK: - Pictures of windows

extension Stagedoor {
  /// Gives the service a picture of a window, for window switchers: at most 1 MiB. Only the host of the session may do that.
  public func setSnapshot(
    _ picture: Data, as type: String, of session: SessionIdentifier
  ) async throws(StagedoorError) {
    try await call("SetSnapshot", type, try OwnedFileDescriptor.memoryFile(picture), session: session)
  }

  /// The picture of a window, with its type. Throws ``StagedoorError/Code/noSuchItem`` if the window's host has given none.
  public func snapshot(of session: SessionIdentifier) async throws(StagedoorError) -> (type: String, picture: Data) {
    let (type, file) = try await call(
      "OpenSnapshot", session: session, returning: String.self, OwnedFileDescriptor.self)
    let picture = try await EventLoop.forLoading { loop throws(StagedoorError) in
      try await file.readToEnd(on: loop, ItemProgress())
    }
    return (type, picture)
  }
}
