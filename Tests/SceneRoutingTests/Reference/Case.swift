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
    for index in world.manifests.indices {
      add { $0.world.manifests.remove(at: index) }
      if !world.manifests[index].contentTypes.isEmpty { add { $0.world.manifests[index].contentTypes = [] } }
      if !world.manifests[index].handlerRanks.isEmpty { add { $0.world.manifests[index].handlerRanks = [:] } }
      if world.manifests[index].understudy != nil { add { $0.world.manifests[index].understudy = nil } }
      for part in world.manifests[index].configurations.indices {
        add { $0.world.manifests[index].configurations.remove(at: part) }
        let plain = SceneConfiguration(
          name: world.manifests[index].configurations[part].name, role: world.manifests[index].configurations[part].role
        )
        if world.manifests[index].configurations[part] != plain {
          add { $0.world.manifests[index].configurations[part] = plain }
        }
      }
    }
    for index in world.sessions.indices {
      add { $0.world.sessions.remove(at: index) }
      if !world.sessions[index].canActivatePredicate.isEmpty {
        add { $0.world.sessions[index].canActivatePredicate = "" }
      }
      if !world.sessions[index].prefersToActivatePredicate.isEmpty {
        add { $0.world.sessions[index].prefersToActivatePredicate = "" }
      }
      if world.sessions[index].userActivity != nil { add { $0.world.sessions[index].userActivity = nil } }
    }
    for index in world.preferences.indices { add { $0.world.preferences.remove(at: index) } }
    if request.payload.options.requestingSession != nil { add { $0.request.payload.options.requestingSession = nil } }
    for index in request.payload.items.indices {
      if request.payload.items.count > 1 { add { $0.request.payload.items.remove(at: index) } }
      for part in request.payload.items[index].activities.indices {
        add { $0.request.payload.items[index].activities.remove(at: part) }
      }
      for part in request.payload.items[index].representations.indices {
        add { $0.request.payload.items[index].representations.remove(at: part) }
      }
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

  /// A refusal changes nothing. Every other decision is one fact.
  private func brokenFacts(_ decision: Decision) -> String? {
    let isRefused = if case .refused = decision.outcome { true } else { false }
    if (decision.fact == nil) != isRefused { return "it has the fact \(String(describing: decision.fact))" }
    let wanted = isRefused ? nil : decision.explanation.routingActivity?.activityType ?? .empty
    if decision.routing?.activityType != wanted { return "it has the routing \(String(describing: decision.routing))" }
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
