import SceneModel
import SceneRouting
import SceneTestSupport

/// A world, and a request in it.
struct Case {
  var world: ReferenceWorld
  var request: Request

  func state() -> State {
    var state = State(types: Stage.types, isComplete: true)
    for manifest in world.manifests { state.register(manifest) }
    for session in world.sessions { state.update(session) }
    for preference in world.preferences { state.setPreferredApplication(preference.application, for: preference.type) }
    return state
  }

  // MARK: - Shrinking

  /// The case with one thing less, as long as it still breaks the law.
  func shrunk(_ breaks: (Case) -> Bool) -> Case {
    var smallest = self
    while let smaller = smallest.smaller().first(where: breaks) { smallest = smaller }
    return smallest
  }

  private func smaller() -> [Case] {
    var cases: [Case] = []
    func add(_ change: (inout Case) -> Void) {
      var changed = self
      change(&changed)
      cases.append(changed)
    }
    func removeEach<Element>(of path: WritableKeyPath<Case, [Element]>) {
      for index in self[keyPath: path].indices { add { $0[keyPath: path].remove(at: index) } }
    }
    func set<Value: Equatable>(_ path: WritableKeyPath<Case, Value>, to plain: Value) {
      if self[keyPath: path] != plain { add { $0[keyPath: path] = plain } }
    }
    removeEach(of: \.world.manifests)
    for (index, manifest) in world.manifests.enumerated() {
      set(\.world.manifests[index].contentTypes, to: [])
      set(\.world.manifests[index].handlerRanks, to: [:])
      set(\.world.manifests[index].understudy, to: nil)
      removeEach(of: \.world.manifests[index].configurations)
      for (part, configuration) in manifest.configurations.enumerated() {
        let plain = SceneConfiguration(name: configuration.name, role: configuration.role)
        set(\.world.manifests[index].configurations[part], to: plain)
      }
    }
    removeEach(of: \.world.sessions)
    for index in world.sessions.indices {
      set(\.world.sessions[index].canActivatePredicate, to: "")
      set(\.world.sessions[index].prefersToActivatePredicate, to: "")
      set(\.world.sessions[index].userActivity, to: nil)
    }
    removeEach(of: \.world.preferences)
    set(\.request.payload.options.requestingSession, to: nil)
    if request.payload.items.count > 1 { removeEach(of: \.request.payload.items) }
    for index in request.payload.items.indices {
      removeEach(of: \.request.payload.items[index].activities)
      removeEach(of: \.request.payload.items[index].representations)
    }
    return cases
  }
}

// MARK: - Printing

extension Case: CustomStringConvertible {
  var description: String {
    var lines: [String] = []
    for manifest in world.manifests {
      lines.append(
        "\(manifest.identifier): \(manifest.activityTypes) \(manifest.contentTypes) \(manifest.routing)"
          + (manifest.supportsMultipleScenes ? "" : ", one scene")
          + (manifest.understudy == nil ? "" : ", an understudy")
          + " \(manifest.handlerRanks)")
      lines += manifest.configurations.map { "  \($0.shown)" }
    }
    lines += world.sessions.map { "session \($0.json)" }
    lines += world.preferences.map { "\($0.type) is preferred by \($0.application)" }
    lines.append("request \(request.payload.json) from \(request.sender)")
    return lines.joined(separator: "\n")
  }
}

extension SceneConfiguration {
  fileprivate var shown: String {
    var text = "\(role)/\(name): \(activityTypes) \(contentTypes) \(launch)"
    if let can = conditions.can { text += ", can \(can)" }
    if let prefers = conditions.prefers { text += ", prefers \(prefers)" }
    if let maximumSessions { text += ", at most \(maximumSessions)" }
    return text
  }
}

// MARK: - Laws

extension Case {
  func brokenLaw() -> String? {
    brokenLaw(decided(state(), request, at: WorldGenerator.now))
  }

  /// The law that a decision breaks, if any.
  func brokenLaw(_ decision: Decision) -> String? {
    let router = ReferenceRouter(world: world, request: request)
    let (answer, wanted) = (ReferenceAnswer(decision, in: world), router.answer())
    if answer != wanted { return "it is\n\(answer)\nand by the rules\n\(wanted)" }
    return brokenFacts(decision) ?? brokenVeto(decision)
  }

  /// A refusal changes nothing. Every other decision is one fact, and shows its routing activity.
  private func brokenFacts(_ decision: Decision) -> String? {
    let isRefused = if case .refused = decision.outcome { true } else { false }
    if (decision.fact == nil) != isRefused { return "it has the fact \(String(describing: decision.fact))" }
    let wanted = isRefused ? nil : decision.explanation.routingActivity?.activityType ?? .empty
    if decision.routing?.activityType != wanted { return "it has the routing \(String(describing: decision.routing))" }
    if !isRefused, let place = decision.explanation.routingActivity,
      request.payload.items[place.item].activities[place.activity] != ReferenceAnswer(decision, in: world).showing
    {
      return "it is routed by \(place)"
    }
    switch decision.fact {
    case .sessionMade(let session)?:
      let isRight =
        session.identifier == request.newSession && session.created == WorldGenerator.now
        && session.lastActivated == WorldGenerator.now && session.state == .unattached && !session.isConnected
        && !session.hasBeenConnected && session.isPrivate == request.payload.options.isPrivate
      return isRight ? nil : "it makes \(session.json)"
    case .sessionActivated(let session, at: let date, showing: _)?:
      return session == decision.outcome.session && date == WorldGenerator.now ? nil : "it activates \(session)"
    case nil: return nil
    }
  }

  /// Steps 8 and 9 never choose a session that refuses the key.
  private func brokenVeto(_ decision: Decision) -> String? {
    guard [.onlyInTier, .requestingSession, .firstInTier].contains(decision.explanation.sessionReason),
      decision.explanation.keySource != nil, case let key = decision.explanation.key,
      let session = decision.outcome.session.flatMap(world.session)
    else { return nil }
    let can = world.conditions(of: session).can
    return !can.isUnreadable && can.holds(for: key, unlessSet: true) ? nil : "it chose one that cannot take \(key)"
  }
}
