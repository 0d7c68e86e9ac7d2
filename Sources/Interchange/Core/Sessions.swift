import SceneModel
import SceneRouting

// The calls to a session's object.
extension PromptBook {
  private func require(_ identifier: UniqueIdentifier) throws(Halt) -> Session {
    if let session = try session(identifier) { return session }
    throw refused(.unknownObject, "there is no session at \(SessionReference.path(of: identifier))")
  }

  // MARK: Requests of any caller

  mutating func activate(
    _ identifier: UniqueIdentifier, _ payload: Payload, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    if caller.isSandboxed { try refuseForeign(try require(identifier), caller, "activate") }
    try deliver(payload, .empty, caller, number)
  }

  mutating func refresh(_ identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    let session = try require(identifier)
    try refuseForeign(session, caller, "refresh")
    announce(.sessionRefreshRequested, session.application, identifier)
    if session.isConnected { memory.refreshes[identifier] = true }
    answer(number, .done)
    passOnRefresh(of: session)
  }

  mutating func destroy(
    _ identifier: UniqueIdentifier, animation: Text, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let animations = ["standard", "commit", "decline"]
    guard animations.contains(animation.string) else {
      throw refused(
        .invalidArgs, "animation: expected \"standard\", \"commit\" or \"decline\", got \(quoted(animation.string))")
    }
    let session = try require(identifier)
    try refuseForeign(session, caller, "destroy")
    try discard(session, animation: animation)
    answer(number, .done)
  }

  // MARK: Requests of the host

  mutating func write(
    _ identifier: UniqueIdentifier, _ writing: SessionWriting, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let before = try require(identifier)
    try refuseOthersThanHost(of: before.application, caller)
    if case .title(let title) = writing, title.count > Limits.text {
      throw refused(.limitsExceeded, "Title: expected at most \(Limits.text) bytes, got \(title.count)")
    }
    var after = before.writing(writing)
    if before.isPrivate, !after.isPrivate, awaitsReading(before) { after = before }
    try noteContent(.session(after), of: after.application)
    announce(after.fields(writtenFrom: before, writing.property), of: after)
    forgetPicture(before, after)
    warn(of: writing.property, after)
    answer(number, .done)
  }

  /// Warns of a condition that was set, as of one in a manifest.
  private mutating func warn(of property: SessionProperty, _ session: Session) {
    // The warning may reveal what the session shows.
    if session.isPrivate || session.hasSecrets { return }
    let place: PredicateWarning.Place
    switch property {
    case .canActivatePredicate: place = .can
    case .prefersToActivatePredicate: place = .prefers
    case .title, .userActivity, .stateRestorationActivity, .userInfo: return
    }
    let configuration = memory.routing.manifest(of: session.application)?.configurations.first {
      $0.role == session.role && $0.name == session.configuration
    }
    var conditions = configuration?.conditions ?? ActivationConditions()
    if let can = try? Predicate(session.canActivatePredicate) { conditions.can = can }
    if let prefers = try? Predicate(session.prefersToActivatePredicate) { conditions.prefers = prefers }
    for warning in conditions.warnings where warning.place == place {
      log(.warning, "\(session.identifier): \(warning)")
    }
  }

  mutating func setState(
    _ identifier: UniqueIdentifier, _ state: SceneState, _ caller: Caller, _ number: CallNumber
  ) throws(Halt) {
    let before = try require(identifier)
    try refuseOthersThanHost(of: before.application, caller)
    let after: Session
    do throws(InterchangeError) { after = try before.reporting(state, at: now.time) } catch { throw .refused(error) }
    note(.session(after))
    announce([.state], of: after)
    announce(.sessionStateChanged(state), after.application, identifier)
    answer(number, .done)
    passOnRefresh(of: after)
  }

  mutating func disconnect(_ identifier: UniqueIdentifier, _ caller: Caller, _ number: CallNumber) throws(Halt) {
    let session = try require(identifier)
    try refuseOthersThanHost(of: session.application, caller)
    guard session.isConnected else { throw refused(.invalidArgs, "the session is not connected") }
    disconnect(session)
    // A host that attaches again said before that it shows the scene, and the bus is still being asked about the host.
    for (question, attaching) in memory.attaching.values where attaching.connection == caller.connection {
      memory.attaching[question]?.shown.removeAll { $0 == identifier }
    }
    try giveUpOldSessions(of: session.application)
    answer(number, .done)
  }

  // MARK: Access

  private func refuseForeign(_ session: Session, _ caller: Caller, _ what: String) throws(Halt) {
    try refuseForeign(session.application, caller, "\(what) the sessions of its own application")
  }

  /// Refuses a sandbox that does not look after its own application.
  func refuseForeign(_ application: Text, _ caller: Caller, _ what: String) throws(Halt) {
    if caller.mayTouch(application) { return }
    throw refused(.accessDenied, "a sandboxed application may \(what) only")
  }

  func refuseSandbox(_ caller: Caller, _ what: String) throws(Halt) {
    if caller.isSandboxed { throw refused(.accessDenied, "a sandboxed application may not \(what)") }
  }

  /// Refuses everyone but the host. While a registered application has no host, a shell may play it, for tests.
  func refuseOthersThanHost(of application: Text, _ caller: Caller) throws(Halt) {
    if let host = memory.hosts[application] {
      if host.connection == caller.connection { return }
    } else if memory.manifests[application]?.file.isEmpty ?? false, !caller.isSandboxed {
      return
    }
    // A sandbox need not learn whose it is.
    let owner = caller.isSandboxed && caller.application != application ? "its application" : application.string
    throw refused(.accessDenied, "only the attached host of \(owner) may do that")
  }
}
