import SceneModel
import SceneRouting

/// The routing rules once more, in the words in which they are written: loops over lists, no table, nothing kept.
///
/// It was written without a look at how `decide` does it, so that one can be held against the other.
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
    if items.isEmpty, let named = try namedApplication() { return try bringToFront(named) }
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

  /// The candidates of step 8 with their tiers, the best first; `nil` where nobody asks for them.
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
    guard request.sender.isSandboxed, !visible.isEmpty else { return existing(session, visible.first, .named) }
    guard let declared = visible.first(where: { manifest.activityTypes.contains($0.activityType) }) else {
      throw ReferenceRefusal(.activityTypeNotDeclared)
    }
    return existing(session, declared, .named)
  }

  // MARK: 2. The key

  private func key(_ subject: ReferenceSubject) -> Text? {
    switch subject {
    case .activity(let activity): activity.referenceKey
    case .content: items.first?.referenceKey(types)
    }
  }

  // MARK: 3. The application

  private func namedApplication() throws(ReferenceRefusal) -> Manifest? {
    guard let name = options.application else { return nil }
    guard let manifest = world.manifest(of: name) else { throw ReferenceRefusal(.noSuchApplication) }
    return manifest
  }

  func isVisible(_ visibility: Visibility, to manifest: Manifest) -> Bool {
    visibility == .all || request.sender.hosts == manifest.identifier
  }

  private func declares(_ manifest: Manifest, _ subject: ReferenceSubject) -> Bool {
    isVisible(subject.visibility, to: manifest) && subject.isDeclared(by: manifest, types)
  }

  /// A and T. Where an application is named, only what that one declares counts.
  private func findSubject(_ named: Manifest?) throws(ReferenceRefusal) -> ReferenceSubject {
    let asked = named.map { [$0] } ?? world.manifests
    let activities = items.flatMap(\.activities)
    for activity in activities where asked.contains(where: { declares($0, .activity(activity)) }) {
      return .activity(activity)
    }
    if let named, request.sender.hosts == named.identifier, let first = activities.first { return .activity(first) }
    for representation in items.flatMap(\.representations)
    where asked.contains(where: { declares($0, .content(representation)) }) {
      return .content(representation)
    }
    let isThere = activities.contains { activity in
      // What is hidden from everybody is not there.
      if let named { isVisible(activity.visibility, to: named) } else { activity.visibility == .all || request.sender.hosts != nil }
    }
    throw ReferenceRefusal(isThere ? .activityTypeNotDeclared : .noActivity)
  }

  private func chooseApplication(_ subject: ReferenceSubject, _ key: Text?) throws(ReferenceRefusal) -> Manifest {
    let declaring = world.manifests.filter { declares($0, subject) }
    func among(_ application: Text?) -> Manifest? { declaring.first { $0.identifier == application } }

    if let requesting = among(requestingSession?.application) { return requesting }
    for preference in world.preferences where isPreference(preference, for: subject) {
      if let preferred = among(preference.application) { return preferred }
    }
    if declaring.count == 1, let only = declaring.first { return only }
    let preferring = declaring.filter { hasPreferringSession($0, subject, key) }
    var best: Manifest?
    for manifest in preferring.isEmpty ? declaring : preferring {
      guard let other = best else {
        best = manifest
        continue
      }
      let (one, two) = (lastActivated(manifest), lastActivated(other))
      if one != two ? one > two : manifest.identifier < other.identifier { best = manifest }
    }
    guard let best else { throw ReferenceRefusal(.activityTypeNotDeclared) }
    return best
  }

  /// Q. One that is gone is ignored.
  var requestingSession: Session? {
    options.requestingSession.flatMap { SessionReference.identifier($0) }.flatMap { world.session($0) }
  }

  private func isPreference(_ preference: ReferencePreference, for subject: ReferenceSubject) -> Bool {
    switch subject {
    case .activity(let activity): preference.type == activity.activityType
    case .content(let representation):
      ContentType(preference.type).map { types.canonical($0) == types.canonical(representation.type) } ?? false
    }
  }

  private func hasPreferringSession(_ manifest: Manifest, _ subject: ReferenceSubject, _ key: Text?) -> Bool {
    guard let key, let configuration = try? chooseConfiguration(manifest, subject) else { return false }
    return candidates(manifest, configuration, subject).contains {
      tier($0, manifest, subject, key) == .prefers
    }
  }

  /// Before all time where it has no session.
  private func lastActivated(_ manifest: Manifest) -> Int64 {
    world.sessions(of: manifest).map(\.lastActivated.microseconds).max() ?? .min
  }

  // MARK: 4. The configuration

  func chooseConfiguration(
    _ manifest: Manifest, _ subject: ReferenceSubject?
  ) throws(ReferenceRefusal) -> SceneConfiguration {
    let ofRole = manifest.configurations(of: role)
    if let name = options.configuration {
      if let named = ofRole.first(where: { $0.name == name }) { return named }
      let isElsewhere = manifest.configurations.contains { $0.name == name }
      throw ReferenceRefusal(isElsewhere ? .roleMismatch : .noSuchConfiguration)
    }
    if let subject {
      for configuration in ofRole where subject.isNamed(by: configuration, types) { return configuration }
      for configuration in ofRole where subject.isOfFamilyNamed(by: configuration, types) { return configuration }
      for configuration in ofRole where configuration.takesWhateverComes { return configuration }
    }
    guard let first = ofRole.first else { throw ReferenceRefusal(.noSuchConfiguration) }
    return first
  }
}

extension SceneConfiguration {
  /// It names no types at all.
  var takesWhateverComes: Bool { activityTypes.isEmpty && contentTypes.isEmpty }
}
