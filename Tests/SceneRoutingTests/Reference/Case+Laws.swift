import SceneModel
import SceneRouting

extension Case {
  func brokenLaw(_ types: TypeCatalog) -> String? {
    brokenLaw(decided(state(types), request, at: WorldGenerator.now), types)
  }

  /// The law that a decision breaks, if any.
  func brokenLaw(_ decision: Decision, _ types: TypeCatalog) -> String? {
    let router = ReferenceRouter(world: world, types: types, request: request, now: WorldGenerator.now)
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
