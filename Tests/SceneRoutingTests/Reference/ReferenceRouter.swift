import SceneModel
import SceneRouting

/// The routing rules again, as literally as they are written: loops over lists, no table, nothing kept.
///
/// The author did not look at `decide`, so that the two can be compared.
struct ReferenceRouter {
  let world: ReferenceWorld
  let request: Request
  let types = Stage.types
  let now = WorldGenerator.now

  var options: PayloadOptions { request.payload.options }
  var items: [Item] { request.payload.items }
  var role: Text { options.role ?? PayloadOptions.defaultRole }

  func answer() -> ReferenceAnswer {
    do throws(ReferenceRefusal) {
      return try route()
    } catch {
      return ReferenceAnswer(outcome: .refused(error.reason))
    }
  }

  private func route() throws(ReferenceRefusal) -> ReferenceAnswer {
    try validate()
    if let name = options.session { return try explicitSession(name) }
    if items.isEmpty, let named = try namedApplication() {
      if isStranger(to: named) { throw ReferenceRefusal(.accessDenied) }
      return try bringToFront(named)
    }
    let (subject, key, manifest) = try findApplication()
    return try chooseSession(manifest, try chooseConfiguration(manifest, subject), subject, key)
  }

  private func findApplication() throws(ReferenceRefusal) -> (ReferenceSubject, key: Text?, Manifest) {
    let named = try namedApplication()
    let subject = try findSubject(named)
    let key = self.key(subject)
    if let named { return (subject, key, named) }
    return (subject, key, try chooseApplication(subject, key))
  }

  /// The candidates of step 8 with their tiers, the best first; `nil` if the decision does not need them.
  func listing() -> [(session: Session, tier: Candidate.Tier)]? {
    guard let (subject, key, manifest) = try? findApplication(), let key,
      let configuration = try? chooseConfiguration(manifest, subject)
    else { return nil }
    var listed = candidates(manifest, configuration, subject).map { ($0, tier($0, manifest, subject, key)) }
    listed.sort { $0.1 != $1.1 ? $0.1 < $1.1 : comes($0.0, before: $1.0) }
    return listed
  }

  // MARK: 0. Validate

  private func validate() throws(ReferenceRefusal) {
    for item in items {
      for activity in item.activities {
        if let date = activity.expirationDate, date < now { throw ReferenceRefusal(.activityExpired) }
      }
    }
  }

  // MARK: 1. Explicit session

  private func explicitSession(_ name: Text) throws(ReferenceRefusal) -> ReferenceAnswer {
    guard let identifier = SessionReference.identifier(name), let session = world.session(identifier) else {
      throw ReferenceRefusal(.noSuchSession)
    }
    guard let manifest = world.manifest(of: session.application) else { throw ReferenceRefusal(.noSuchApplication) }
    let visible = items.flatMap(\.activities).filter { isVisible($0.visibility, to: manifest) }
    guard isStranger(to: manifest) else { return existing(session, visible.first, .named) }
    if visible.isEmpty {
      let contents = items.flatMap(\.representations).filter { isVisible($0.visibility, to: manifest) }.map(\.type)
      let isTaken = contents.contains { type in manifest.contentTypes.contains { types.conforms(type, to: $0) } }
      if contents.isEmpty { throw ReferenceRefusal(.accessDenied) }
      if !isTaken { throw ReferenceRefusal(.activityTypeNotDeclared) }
      return existing(session, nil, .named)
    }
    guard let declared = visible.first(where: { manifest.activityTypes.contains($0.activityType) }) else {
      throw ReferenceRefusal(.activityTypeNotDeclared)
    }
    return existing(session, declared, .named)
  }

  private func isStranger(to manifest: Manifest) -> Bool {
    let sender = request.sender
    return sender.isSandboxed && sender.hosts != manifest.identifier && sender.application != manifest.identifier
  }

  // MARK: 2. The key

  private func key(_ subject: ReferenceSubject) -> Text? {
    switch subject {
    case .activity(let activity): activity.referenceKey
    case .content: items.first?.referenceKey(isSandboxed: request.sender.isSandboxed)
    }
  }
}

/// The part of a decision that the rules determine.
struct ReferenceAnswer: Equatable {
  enum Outcome: Equatable {
    case created, activated, restored
    case refused(Refusal.Reason)
  }

  var outcome: Outcome
  var session: UniqueIdentifier?
  /// The application of the session.
  var application: Text?
  /// The configuration of the session, which may differ from the one that step 4 chooses.
  var configuration: Text?
  var role: Text?
  /// The activity that becomes the session's current activity.
  var showing: UserActivity?
  var because: SessionReason?
}

/// Thrown when a step refuses.
struct ReferenceRefusal: Error {
  let reason: Refusal.Reason

  init(_ reason: Refusal.Reason) { self.reason = reason }
}

extension ReferenceAnswer {
  /// The answer of a decision, about a session that it makes or one that the world has.
  init(_ decision: Decision, in world: ReferenceWorld) {
    let session: Session?
    switch (decision.outcome, decision.fact) {
    case (.refused(let refusal), _):
      self.init(outcome: .refused(refusal.reason))
      return
    case (.created(let identifier), .sessionMade(let made)?):
      session = made
      self.init(outcome: .created, session: identifier, showing: made.userActivity)
    case (.activated(let identifier), .sessionActivated(_, at: _, let shown)?):
      session = world.session(identifier)
      self.init(outcome: .activated, session: identifier, showing: shown?.activity)
    case (.restored(let identifier), .sessionActivated(_, at: _, let shown)?):
      session = world.session(identifier)
      self.init(outcome: .restored, session: identifier, showing: shown?.activity)
    default:
      self.init(outcome: .created)
      return
    }
    because = decision.explanation.sessionReason
    application = session?.application
    configuration = session?.configuration
    role = session?.role
  }
}

extension Shown {
  fileprivate var activity: UserActivity? { if case .activity(let activity) = self { activity } else { nil } }
}
