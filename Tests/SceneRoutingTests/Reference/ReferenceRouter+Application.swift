import SceneModel
import SceneRouting

extension ReferenceRouter {
  // MARK: 3. The application

  func namedApplication() throws(ReferenceRefusal) -> Manifest? {
    guard let name = options.application else { return nil }
    guard let manifest = world.manifest(of: name) else { throw ReferenceRefusal(.noSuchApplication) }
    return manifest
  }

  func isVisible(_ visibility: Visibility, to manifest: Manifest) -> Bool {
    visibility == .all || request.sender.hosts == manifest.identifier
  }

  private func declares(_ manifest: Manifest, _ subject: ReferenceSubject) -> Bool {
    isVisible(subject.visibility, to: manifest) && subject.isDeclared(by: manifest)
  }

  /// A and T. If an application is named, only its declarations count.
  func findSubject(_ named: Manifest?) throws(ReferenceRefusal) -> ReferenceSubject {
    let asked = named.map { [$0] } ?? world.manifests
    let activities = items.flatMap(\.activities)
    for activity in activities where asked.contains(where: { declares($0, .activity(activity)) }) {
      return .activity(activity)
    }
    if let named, request.sender.hosts == named.identifier, let first = activities.first { return .activity(first) }
    for representation in items.flatMap(\.representations)
    where asked.contains(where: { manifest in
      declares(manifest, .content(representation))
        && (named != nil || isChosen(manifest, .content(representation))
          || rank(manifest, .content(representation)) != .none)
    }) {
      return .content(representation)
    }
    let isThere = activities.contains { activity in
      // An item that is hidden from everyone does not exist.
      if let named {
        isVisible(activity.visibility, to: named)
      } else {
        activity.visibility == .all || request.sender.hosts != nil
      }
    }
    throw ReferenceRefusal(isThere ? .activityTypeNotDeclared : .noActivity)
  }

  func chooseApplication(
    _ subject: ReferenceSubject, _ key: Text?
  ) throws(ReferenceRefusal) -> (Manifest, ApplicationReason) {
    let takers = world.manifests.filter { declares($0, subject) }
    if let requesting = takers.first(where: { $0.identifier == requestingSession?.application }) {
      return (requesting, .ofRequestingSession)
    }
    if let preferred = takers.first(where: { isChosen($0, subject) }) { return (preferred, .preferred) }
    if takers.count == 1 { return (takers[0], .onlyOne) }
    var (left, because) = (takers.filter { rank($0, subject) != .none }, ApplicationReason.highestRank)
    func leave(_ reason: ApplicationReason, where isLeft: (Manifest) -> Bool) {
      let those = left.filter(isLeft)
      if !those.isEmpty, those.count < left.count { (left, because) = (those, reason) }
    }
    leave(.noUnderstudy) { $0.understudy == nil }
    let nearest = left.compactMap { subject.distance(to: $0) }.min()
    leave(nearest == 0 ? .listsType : .listsNearestType) { subject.distance(to: $0) == nearest }
    let order: [Manifest.HandlerRank] = [.owner, .default, .alternate]
    let highest = order.first { rank in left.contains { self.rank($0, subject) == rank } }
    leave(.highestRank) { rank($0, subject) == highest }
    if left.count == 1 { return (left[0], because) }
    let preferring = left.filter { hasPreferringSession($0, subject, key) }
    if preferring.count == 1 { return (preferring[0], .hasPreferringSession) }
    if !preferring.isEmpty { left = preferring }
    let latest = left.map(lastActivated).max()
    let last = left.filter { lastActivated($0) == latest }.sorted { $0.identifier < $1.identifier }
    guard let first = last.first else { throw ReferenceRefusal(.activityTypeNotDeclared) }
    return (first, last.count == 1 ? .activatedLast : .firstByIdentifier)
  }

  private func isChosen(_ manifest: Manifest, _ subject: ReferenceSubject) -> Bool {
    manifest.identifier == requestingSession?.application
      || world.preferences.contains { $0.application == manifest.identifier && isPreference($0, for: subject) }
  }

  /// The rank that it gives to the nearest type that it lists.
  private func rank(_ manifest: Manifest, _ subject: ReferenceSubject) -> Manifest.HandlerRank {
    guard case .content = subject else { return .default }
    let nearest = subject.distance(to: manifest)
    let ranks = manifest.contentTypes.filter { subject.distance(to: $0) == nearest }.map {
      manifest.handlerRanks[$0] ?? .default
    }
    return [.owner, .default, .alternate].first { ranks.contains($0) } ?? .none
  }

  /// Q. A session that is gone is ignored.
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
    guard let key, let (configuration, _) = try? chooseConfiguration(manifest, subject) else { return false }
    return candidates(manifest, configuration, subject).contains {
      tier($0, manifest, subject, key) == .prefers
    }
  }

  /// The distant past for an application without a session.
  private func lastActivated(_ manifest: Manifest) -> Int64 {
    world.sessions(of: manifest).map(\.lastActivated.microseconds).max() ?? .min
  }

  // MARK: 4. The configuration

  func chooseConfiguration(
    _ manifest: Manifest, _ subject: ReferenceSubject?
  ) throws(ReferenceRefusal) -> (SceneConfiguration, ConfigurationReason) {
    let ofRole = manifest.configurations(of: role)
    if let name = options.configuration {
      if let named = ofRole.first(where: { $0.name == name }) { return (named, .named) }
      let isElsewhere = manifest.configurations.contains { $0.name == name }
      throw ReferenceRefusal(isElsewhere ? .roleMismatch : .noSuchConfiguration)
    }
    if let subject {
      for configuration in ofRole where subject.isNamed(by: configuration) { return (configuration, .namesType) }
      for configuration in ofRole where subject.isOfFamilyNamed(by: configuration) {
        return (configuration, .namesFamily)
      }
      for configuration in ofRole where configuration.takesWhateverComes { return (configuration, .namesNoTypes) }
    }
    guard let first = ofRole.first else { throw ReferenceRefusal(.noSuchConfiguration) }
    return (first, .firstOfRole)
  }
}

extension SceneConfiguration {
  /// Whether the configuration names no types at all.
  var takesWhateverComes: Bool { activityTypes.isEmpty && contentTypes.isEmpty }
}
