package import DBus
package import InterchangeWire
package import SceneModel
import SceneRouting
import SessionStore

// What a session's object is asked, and told.
extension Interchange {
  func isSession(_ path: ObjectPath) -> Bool {
    guard let identifier = InterchangeNames.session(at: path) else { return false }
    if state.contains(identifier) { return true }
    // Where it cannot be read, what is asked of it says so: that there is none would be a lie.
    do { return try store.session(identifier) != nil } catch { return true }
  }

  func sessionElements() throws -> [String] {
    endTurn()
    var elements: [String] = []
    try stored { () throws(StoreError) in
      try store.forEachSession { session in
        elements.append(String(InterchangeNames.path(ofSession: session.identifier).lastElement))
      }
    }
    return elements
  }

  /// What comes before the question is stored first, so that the answer knows it.
  package func session(_ access: PropertyAccess) throws -> Session {
    endTurn()
    let session = try session(at: access.path)
    let caller = access.call.map { callers.caller(of: $0) }
    if let caller {
      try Callers.refuseForeign(session.application, caller, "read the sessions of its own application")
    }
    let isHost = caller != nil && hosts[session.application]?.owner == caller?.name
    return isHost ? session : session.asSeen
  }

  private func session(at path: ObjectPath) throws -> Session {
    if let identifier = InterchangeNames.session(at: path),
      let session = try storedSession(identifier)
    {
      return session
    }
    throw InterchangeError(.unknownObject, "there is no session at \(path)")
  }

  // MARK: What anyone may ask for

  package func activate(_ activity: Text, at path: ObjectPath, _ reply: Reply<String, String>) throws {
    try begin(reply.call)
    guard let identifier = InterchangeNames.session(at: path) else { throw unknown(path) }
    if callers.caller(of: reply.call).isSandboxed {
      endTurn()
      try refuseForeign(try session(at: path), reply.call, "activate")
    }
    var payload = Payload()
    payload.options.session = Text("\(identifier)")
    if !activity.isEmpty {
      payload.items = [Item(activities: [try readActivity(activity, as: "activity")])]
    }
    try collect(refuse: { reply.fail($0) }) { share in
      let answer = try decide(payload, fingerprint: .empty, callers.caller(of: reply.call), reply.call, &share)
      share.onceStored { _ in reply.send(answer.outcome.string, "\(answer.delivery)") }
    }
  }

  package func refresh(at path: ObjectPath, _ reply: Reply<>) throws {
    endTurn()
    let session = try session(at: path)
    try refuseForeign(session, reply.call, "refresh")
    var share = Turn.Share(refuse: { reply.fail($0) })
    announce(
      .sessionRefreshRequested, application: session.application, session: session.identifier, in: &share,
      at: settings.now())
    share.onceStored { _ in reply.send() }
    share.onceTold { me in
      if session.isConnected { me.refreshes.insert(session.identifier) }
      me.passOnRefresh(of: session)
    }
    add(share)
  }

  package func destroy(_ animation: Text, at path: ObjectPath, _ reply: Reply<>) throws {
    endTurn()
    let animations = ["standard", "commit", "decline"]
    guard animations.contains(animation.string) else {
      throw InterchangeError(
        .invalidArgs, "animation: expected \"standard\", \"commit\" or \"decline\", got \(quoted(animation.string))")
    }
    // What is brought in may be discarded with that.
    if let identifier = InterchangeNames.session(at: path) { try bringIn(identifier) }
    let session = try session(at: path)
    try refuseForeign(session, reply.call, "destroy")
    try collect(refuse: { reply.fail($0) }) { share in
      try discard(session, animation: animation, &share, settings.now())
      share.onceStored { _ in reply.send() }
    }
  }

  // MARK: What its host may do

  package func setProperty(_ property: SessionProperty, to text: Text, _ access: PropertyAccess) throws {
    endTurn()
    let before = try session(at: access.path)
    var session = before
    if let call = access.call { try refuseOthersThanHost(of: session.application, call) }
    switch property {
    case .title:
      if text.count > Limits.text {
        throw InterchangeError(.limitsExceeded, "Title: expected at most \(Limits.text) bytes, got \(text.count)")
      }
      session.title = text
    case .userActivity: session.show(try activity(text, property))
    case .stateRestorationActivity: session.stateRestorationActivity = try activity(text, property)
    case .userInfo: session.userInfo = try userInfo(text, as: property.rawValue)
    case .canActivatePredicate: session.canActivatePredicate = try predicate(text, property)
    case .prefersToActivatePredicate: session.prefersToActivatePredicate = try predicate(text, property)
    }
    if before.isPrivate, Session.hostsOwn.contains(property), !text.isEmpty { session.hasSecrets = true }
    var changed = [property.name]
    if property == .userActivity { changed.append("TargetContentIdentifier") }
    if property == .userActivity, before.isPrivate { changed.append("Title") }
    if before.isPrivate != session.isPrivate {
      changed += Session.hostsOwn.filter { !session.text(of: $0).isEmpty }.map(\.name)
    }
    try change(session, changed)
    warn(of: property, session)
  }

  /// A condition that is set is looked at as one in a manifest is.
  private func warn(of property: SessionProperty, _ session: Session) {
    // It may name what the session shows.
    if session.isPrivate || session.hasSecrets { return }
    let place: PredicateWarning.Place
    switch property {
    case .canActivatePredicate: place = .can
    case .prefersToActivatePredicate: place = .prefers
    case .title, .userActivity, .stateRestorationActivity, .userInfo: return
    }
    let configuration = state.manifest(of: session.application)?.configurations.first {
      $0.role == session.role && $0.name == session.configuration
    }
    var conditions = configuration?.conditions ?? ActivationConditions()
    if let can = try? Predicate(session.canActivatePredicate) { conditions.can = can }
    if let prefers = try? Predicate(session.prefersToActivatePredicate) { conditions.prefers = prefers }
    for warning in conditions.warnings where warning.place == place { log.warning("\(session.identifier): \(warning)") }
  }

  /// The reply to a property that is set comes from the binding as soon as this returns, so it is stored at once.
  private func change(_ session: Session, _ properties: [MemberName]) throws {
    let undo = state.update(session)
    do throws(StoreError) {
      try store.commit([.session(session)], at: settings.now())
    } catch {
      state.revert(undo)
      throw InterchangeError(.storageFailed, "it could not be stored, so it did not happen: \(error.message)")
    }
    settleWhenQuiet()
    announce(properties, of: session)
  }

  private func activity(_ text: Text, _ property: SessionProperty) throws -> UserActivity? {
    text.isEmpty ? nil : try readActivity(text, as: property.rawValue)
  }

  /// - Parameter name: what a refusal calls it.
  func userInfo(_ text: Text, as name: String) throws -> UserInfo {
    text.isEmpty
      ? UserInfo() : try read(text, as: name, "a dictionary") { text throws(Fault) in try JSON.dictionary(text) }
  }

  private func predicate(_ text: Text, _ property: SessionProperty) throws -> Text {
    if text.isEmpty { return text }
    do throws(PredicateError) {
      return try Predicate(text).source
    } catch {
      throw InterchangeError(.invalidPredicate, "\(property.rawValue): \(error)")
    }
  }

  package func setState(_ state: Text, at path: ObjectPath, _ reply: Reply<>) throws {
    endTurn()
    var session = try session(at: path)
    try refuseOthersThanHost(of: session.application, reply.call)
    guard let wanted = SceneState(rawValue: state.string), wanted != .unattached else {
      throw InterchangeError(
        .invalidArgs,
        "state: expected \"foregroundActive\", \"foregroundInactive\" or \"background\", got \(quoted(state.string))")
    }
    guard session.isConnected else {
      throw InterchangeError(.invalidArgs, "the session is not connected, so its state is \"unattached\"")
    }
    let now = settings.now()
    if wanted == .foregroundActive, session.state != wanted { session.lastActivated = now }
    session.state = wanted
    try collect(refuse: { reply.fail($0) }) { share in
      share.onRefusal(revert: self.state.update(session))
      share.set(session)
      announce(
        .sessionStateChanged(wanted), application: session.application, session: session.identifier, in: &share, at: now
      )
      let path = InterchangeNames.path(ofSession: session.identifier)
      share.onceStored { me in
        me.connection.propertyChanged("State", of: InterchangeNames.session, at: path)
        reply.send()
      }
      share.onceTold { [session] me in me.passOnRefresh(of: session) }
    }
  }

  package func disconnect(at path: ObjectPath, _ reply: Reply<>) throws {
    endTurn()
    let session = try session(at: path)
    try refuseOthersThanHost(of: session.application, reply.call)
    guard session.isConnected else {
      throw InterchangeError(.invalidArgs, "the session is not connected")
    }
    try collect(refuse: { reply.fail($0) }) { share in
      disconnect(session, &share)
      share.onceStored { _ in reply.send() }
    }
  }

  // MARK: Who may

  private func unknown(_ path: ObjectPath) -> InterchangeError {
    InterchangeError(.unknownObject, "there is no session at \(path)")
  }

  private func refuseForeign(_ session: Session, _ call: Call, _ what: String) throws(InterchangeError) {
    try Callers.refuseForeign(
      session.application, callers.caller(of: call), "\(what) the sessions of its own application")
  }

  /// While an application that was registered has no host, a shell may play it; so tests do.
  func refuseOthersThanHost(of application: Text, _ call: Call) throws(InterchangeError) {
    let caller = callers.caller(of: call)
    if let host = hosts[application] {
      if host.owner == caller.name { return }
    } else if manifestFiles[application]?.isEmpty ?? false, !caller.isSandboxed {
      return
    }
    throw InterchangeError(.accessDenied, "only the attached host of \(application) may do that")
  }
}
