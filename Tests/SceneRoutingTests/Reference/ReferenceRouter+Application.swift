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

  func chooseApplication(_ subject: ReferenceSubject, _ key: Text?) throws(ReferenceRefusal) -> Manifest {
    let takers = world.manifests.filter { declares($0, subject) }
    if let requesting = takers.first(where: { $0.identifier == requestingSession?.application }) { return requesting }
    if let preferred = takers.first(where: { isChosen($0, subject) }) { return preferred }
    var declaring = takers.filter { rank($0, subject) != .none }
    if declaring.contains(where: { $0.understudy == nil }) { declaring.removeAll { $0.understudy != nil } }
    let nearest = declaring.compactMap { subject.distance(to: $0) }.min()
    declaring.removeAll { subject.distance(to: $0) != nearest }
    let order: [Manifest.HandlerRank] = [.owner, .default, .alternate]
    if let highest = order.first(where: { rank in declaring.contains { self.rank($0, subject) == rank } }) {
      declaring.removeAll { rank($0, subject) != highest }
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

  /// Whether the requesting session or a preference chooses it.
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
    guard let key, let configuration = try? chooseConfiguration(manifest, subject) else { return false }
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
  ) throws(ReferenceRefusal) -> SceneConfiguration {
    let ofRole = manifest.configurations(of: role)
    if let name = options.configuration {
      if let named = ofRole.first(where: { $0.name == name }) { return named }
      let isElsewhere = manifest.configurations.contains { $0.name == name }
      throw ReferenceRefusal(isElsewhere ? .roleMismatch : .noSuchConfiguration)
    }
    if let subject {
      for configuration in ofRole where subject.isNamed(by: configuration) { return configuration }
      for configuration in ofRole where subject.isOfFamilyNamed(by: configuration) { return configuration }
      for configuration in ofRole where configuration.takesWhateverComes { return configuration }
    }
    guard let first = ofRole.first else { throw ReferenceRefusal(.noSuchConfiguration) }
    return first
  }
}

extension SceneConfiguration {
  /// Whether the configuration names no types at all.
  var takesWhateverComes: Bool { activityTypes.isEmpty && contentTypes.isEmpty }
}
