import SceneModel
import SceneRouting

/// The routing rules again, as literally as they are written: loops over lists, no table, nothing kept.
///
/// The author did not look at `decide`, so that the two can be compared.
struct ReferenceRouter {
  let world: ReferenceWorld
  let types: TypeCatalog
  let request: Request
  let now: Instant

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
    case .content: items.first?.referenceKey(types, isSandboxed: request.sender.isSandboxed)
    }
  }
}
