import SceneModel
import SceneRouting

extension ReferenceRouter {
  /// Steps 5 to 10.
  func chooseSession(
    _ manifest: Manifest, _ configuration: SceneConfiguration, _ subject: ReferenceSubject, _ found: ReferenceFindings
  ) throws(ReferenceRefusal) -> ReferenceAnswer {
    let ofConfiguration = sessions(of: manifest, configuration)
    func make(_ because: SessionReason) throws(ReferenceRefusal) -> ReferenceAnswer {
      try made(manifest, configuration, found, because)
    }
    func take(_ session: Session, _ because: SessionReason) -> ReferenceAnswer { existing(session, found, because) }

    // 5. One scene only
    if !manifest.supportsMultipleScenes {
      let isNew = options.disposition == .new
      guard let only = first(of: world.sessions(of: manifest)) else {
        return try make(isNew ? .dispositionNew : .noSceneYet)
      }
      if isNew { throw ReferenceRefusal(.multipleScenesNotSupported) }
      return take(only, .onlyScene)
    }

    // 6. The configuration's policy
    switch configuration.launch {
    case .new: return try make(.policyNew)
    case .single:
      guard let single = first(of: ofConfiguration) else { return try make(.policySingleNoneYet) }
      if options.disposition == .new { throw ReferenceRefusal(.requestDenied) }
      return take(single, .policySingle)
    case .automatic: break
    }

    // 7. Disposition `new`
    if options.disposition == .new { return try make(.dispositionNew) }

    // 8. Candidates
    guard let key = found.key else {
      guard options.disposition != .auto, let found = first(of: ofConfiguration) else {
        return try make(.withoutKeyNew)
      }
      return take(found, .withoutKey)
    }
    let candidates = candidates(manifest, configuration, subject)

    // 9. The highest tier that is not empty
    for wanted in [Candidate.Tier.prefers, .can] {
      let inTier = candidates.filter { tier($0, manifest, subject, key) == wanted }
      guard let best = first(of: inTier) else { continue }
      if best.identifier == requestingSession?.identifier { return take(best, .requestingSession) }
      return take(best, inTier.count == 1 ? .onlyInTier : .firstInTier)
    }

    // 10. Nothing chosen
    return try make(.noCandidate)
  }

  /// A payload without items that names an application.
  func bringToFront(_ manifest: Manifest) throws(ReferenceRefusal) -> ReferenceAnswer {
    let (configuration, because) = try chooseConfiguration(manifest, nil)
    let found = ReferenceFindings(
      whyApplication: .named, configuration: configuration.name, whyConfiguration: because)
    let all = world.sessions(of: manifest)
    if options.disposition == .new {
      if !manifest.supportsMultipleScenes, !all.isEmpty { throw ReferenceRefusal(.multipleScenesNotSupported) }
      if configuration.launch == .single, !sessions(of: manifest, configuration).isEmpty {
        throw ReferenceRefusal(.requestDenied)
      }
      return try made(manifest, configuration, found, .dispositionNew)
    }
    let considered = all.filter { session in
      session.role == role && (options.configuration == nil || session.configuration == configuration.name)
    }
    let latest = considered.map(\.lastActivated).max()
    guard let front = first(of: considered.filter { $0.lastActivated == latest }) else {
      // 5. No second scene if there may be only one
      if !manifest.supportsMultipleScenes, let only = first(of: all) { return existing(only, found, .onlyScene) }
      return try made(manifest, configuration, found, .noCandidate)
    }
    return existing(front, found, .latest)
  }

  // MARK: 8. Candidates

  func candidates(
    _ manifest: Manifest, _ configuration: SceneConfiguration, _ subject: ReferenceSubject
  ) -> [Session] {
    if options.configuration != nil { return sessions(of: manifest, configuration) }
    return world.sessions(of: manifest).filter { session in
      guard session.role == role else { return false }
      if manifest.routing == .uikit || session.configuration == configuration.name { return true }
      return manifest.configurations(of: role).contains { other in
        other.name == session.configuration
          && (subject.isNamed(by: other) || subject.isOfFamilyNamed(by: other)
            || other.takesWhateverComes)
      }
    }
  }

  func tier(_ session: Session, _ manifest: Manifest, _ subject: ReferenceSubject, _ key: Text) -> Candidate.Tier {
    let (can, prefers) = world.conditions(of: session)
    // A stored predicate that no longer parses takes its session out of keyed routing.
    if can.isUnreadable || prefers.isUnreadable { return .out }
    if !can.holds(for: key, unlessSet: true) { return .out }
    if prefers.holds(for: key, unlessSet: false) { return .prefers }
    if manifest.routing == .uikit { return .can }
    if shows(session, subject, key) { return .prefers }
    return can.isSet ? .can : .out
  }

  private func shows(_ session: Session, _ subject: ReferenceSubject, _ key: Text) -> Bool {
    let shown = session.isConnected ? session.userActivity : session.stateRestorationActivity ?? session.userActivity
    // If no activity has a key, the session shows the content that it was opened for.
    let shownKey = shown.map(\.referenceKey) ?? session.openedContent
    guard shownKey == key else { return false }
    return subject.activity.map { $0.activityType == shown?.activityType } ?? true
  }

  private func sessions(of manifest: Manifest, _ configuration: SceneConfiguration) -> [Session] {
    world.sessions(of: manifest).filter { $0.role == configuration.role && $0.configuration == configuration.name }
  }

  // MARK: 9. The order among them

  private func first(of sessions: [Session]) -> Session? {
    var best: Session?
    for session in sessions {
      if let other = best, !comes(session, before: other) { continue }
      best = session
    }
    return best
  }

  func comes(_ one: Session, before other: Session) -> Bool {
    let requesting = requestingSession?.identifier
    if one.identifier == requesting || other.identifier == requesting { return one.identifier == requesting }
    if one.state != other.state {
      let order: [SceneState] = [.foregroundActive, .foregroundInactive, .background, .unattached]
      return order.first { $0 == one.state || $0 == other.state } == one.state
    }
    if one.lastActivated != other.lastActivated { return one.lastActivated > other.lastActivated }
    if one.created != other.created { return one.created < other.created }
    return "\(one.identifier)".utf8.lexicographicallyPrecedes("\(other.identifier)".utf8)
  }

  // MARK: 10. A new or an existing session

  private func made(
    _ manifest: Manifest, _ configuration: SceneConfiguration, _ found: ReferenceFindings, _ because: SessionReason
  ) throws(ReferenceRefusal) -> ReferenceAnswer {
    if options.disposition == .existingOnly { throw ReferenceRefusal(.noMatchingSession) }
    if let limit = configuration.maximumSessions, sessions(of: manifest, configuration).count >= limit {
      throw ReferenceRefusal(.requestDenied)
    }
    let session = Session(
      identifier: request.newSession, application: manifest.identifier, role: configuration.role,
      configuration: configuration.name, created: now, userActivity: found.activity,
      openedContent: found.activity == nil ? found.key ?? .empty : .empty, isPrivate: options.isPrivate)
    return ReferenceAnswer(
      outcome: .created, because: because, found: found, fact: .sessionMade(session),
      routing: found.routing(manifest.identifier, configuration.name))
  }

  func existing(_ session: Session, _ found: ReferenceFindings, _ because: SessionReason) -> ReferenceAnswer {
    ReferenceAnswer(
      outcome: !session.isConnected && session.hasBeenConnected ? .restored : .activated, because: because,
      found: found, fact: .sessionActivated(session.identifier, at: now, showing: found.shown),
      routing: found.routing(session.application, session.configuration))
  }
}
