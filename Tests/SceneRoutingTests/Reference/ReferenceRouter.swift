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
    let (subject, manifest, configuration, found) = try findApplication()
    return try chooseSession(manifest, configuration, subject, found)
  }

  /// Steps 2 to 4.
  private func findApplication() throws(ReferenceRefusal) -> (
    ReferenceSubject, Manifest, SceneConfiguration, ReferenceFindings
  ) {
    let named = try namedApplication()
    let subject = try findSubject(named)
    var found = findings(subject.activity)
    let chosen = if let named { (named, ApplicationReason.named) } else { try chooseApplication(subject, found.key) }
    let (configuration, because) = try chooseConfiguration(chosen.0, subject)
    found.whyApplication = chosen.1
    (found.configuration, found.whyConfiguration) = (configuration.name, because)
    return (subject, chosen.0, configuration, found)
  }

  /// The candidates of step 8 with their tiers, the best first; `nil` if the decision does not need them.
  func listing() -> [(session: Session, tier: Candidate.Tier)]? {
    guard let (subject, manifest, configuration, found) = try? findApplication(), let key = found.key else {
      return nil
    }
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
    func named(with activity: UserActivity?) -> ReferenceAnswer {
      var found = findings(activity)
      (found.whyApplication, found.whyConfiguration) = (.ofSession, .ofSession)
      found.configuration = session.configuration
      return existing(session, found, .named)
    }
    guard isStranger(to: manifest) else { return named(with: visible.first) }
    if visible.isEmpty {
      let contents = items.flatMap(\.representations).filter { isVisible($0.visibility, to: manifest) }.map(\.type)
      let isTaken = contents.contains { type in manifest.contentTypes.contains { types.conforms(type, to: $0) } }
      if contents.isEmpty { throw ReferenceRefusal(.accessDenied) }
      if !isTaken { throw ReferenceRefusal(.activityTypeNotDeclared) }
      return named(with: nil)
    }
    guard let declared = visible.first(where: { manifest.activityTypes.contains($0.activityType) }) else {
      throw ReferenceRefusal(.activityTypeNotDeclared)
    }
    return named(with: declared)
  }

  private func isStranger(to manifest: Manifest) -> Bool {
    let sender = request.sender
    return sender.isSandboxed && sender.hosts != manifest.identifier && sender.application != manifest.identifier
  }

  // MARK: 2. The key

  private func findings(_ activity: UserActivity?) -> ReferenceFindings {
    var found = ReferenceFindings(activity: activity)
    if let activity {
      found.key = activity.referenceKey
      let isIdentifier = found.key == activity.targetContentIdentifier
      found.whyKey = found.key == nil ? nil : isIdentifier ? .targetContentIdentifier : .webpageURL
    } else if let (key, source) = items.first?.referenceKey(isSandboxed: request.sender.isSandboxed) {
      (found.key, found.whyKey) = (key, source)
    }
    return found
  }
}

/// What the steps before the choice of a session find out, and why.
struct ReferenceFindings: Equatable {
  /// A.
  var activity: UserActivity?
  var key: Text?
  var whyKey: KeySource?
  var whyApplication: ApplicationReason?
  var configuration: Text?
  var whyConfiguration: ConfigurationReason?

  /// What the session shows from then on.
  var shown: Shown? { activity.map { .activity($0) } ?? key.map { .content($0) } }

  func routing(_ application: Text, _ configuration: Text) -> Routing {
    Routing(
      application: application, configuration: configuration, activityType: activity?.activityType ?? .empty,
      targetContentIdentifier: (activity == nil ? key : activity?.targetContentIdentifier) ?? .empty)
  }
}

/// The part of a decision that the rules determine.
struct ReferenceAnswer: Equatable {
  enum Outcome: Equatable {
    case created, activated, restored
    case refused(Refusal.Reason)
  }

  var outcome: Outcome
  var because: SessionReason?
  var found = ReferenceFindings()
  var fact: Fact?
  var routing: Routing?
}

/// Thrown when a step refuses.
struct ReferenceRefusal: Error {
  let reason: Refusal.Reason

  init(_ reason: Refusal.Reason) { self.reason = reason }
}

extension ReferenceAnswer {
  /// The answer of a decision. Of a refusal only its reason counts.
  init(_ decision: Decision, to request: Request) {
    switch decision.outcome {
    case .refused(let refusal): outcome = .refused(refusal.reason)
    case .created: outcome = .created
    case .activated: outcome = .activated
    case .restored: outcome = .restored
    }
    (fact, routing) = (decision.fact, decision.routing)
    if case .refused = outcome { return }
    let why = decision.explanation
    because = why.sessionReason
    found = ReferenceFindings(
      activity: why.routingActivity.map { request.payload.items[$0.item].activities[$0.activity] },
      key: why.keySource == nil ? nil : why.key, whyKey: why.keySource, whyApplication: why.applicationReason,
      configuration: why.configuration, whyConfiguration: why.configurationReason)
  }
}
