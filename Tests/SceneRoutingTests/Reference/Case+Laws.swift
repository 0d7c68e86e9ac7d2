import SceneModel
import SceneRouting

extension Case {
  func brokenLaw(_ types: TypeCatalog) -> String? {
    brokenLaw(decide(state(types), request, at: WorldGenerator.now), types)
  }

  /// What is wrong about a decision, if anything is.
  func brokenLaw(_ decision: Decision, _ types: TypeCatalog) -> String? {
    let router = ReferenceRouter(world: world, types: types, request: request, now: WorldGenerator.now)
    let (answer, wanted) = (ReferenceAnswer(decision, in: world), router.answer())
    if answer != wanted { return "it is\n\(answer)\nand by the rules\n\(wanted)" }
    return brokenFacts(decision) ?? brokenVeto(decision)
  }

  /// A refusal changes nothing. Everything else is one fact, and is told in one order.
  private func brokenFacts(_ decision: Decision) -> String? {
    let expected: (changes: Bool, effects: [String])
    switch decision.outcome {
    case .refused: expected = (false, [])
    case .created: expected = (true, ["session", "routing", "hand over"])
    case .activated, .restored:
      let hasActivity = decision.explanation.routingActivity != nil
      expected = (true, hasActivity ? ["activity", "routing", "hand over"] : ["routing", "hand over"])
    }
    let effects = decision.effects.map { effect in
      switch effect {
      case .announceSession(let session): session == decision.outcome.session ? "session" : "another session"
      case .announceActivity(let session): session == decision.outcome.session ? "activity" : "another's activity"
      case .announceRouting(let routing):
        routing.activityType == decision.explanation.routingActivity?.activityType ?? "" ? "routing" : "another routing"
      case .handOver(let session): session == decision.outcome.session ? "hand over" : "hand over to another"
      }
    }
    if (decision.fact != nil) != expected.changes { return "it has the fact \(String(describing: decision.fact))" }
    if effects != expected.effects { return "it has the effects \(effects)" }
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

  /// Who says no is never chosen by steps 8 and 9.
  private func brokenVeto(_ decision: Decision) -> String? {
    guard [.onlyInTier, .requestingSession, .firstInTier].contains(decision.explanation.sessionReason),
      decision.explanation.keySource != nil, case let key = decision.explanation.key,
      let session = decision.outcome.session.flatMap(world.session)
    else { return nil }
    let can = world.conditions(of: session).can
    return !can.isUnreadable && can.holds(for: key, unlessSet: true) ? nil : "it chose one that cannot take \(key)"
  }
}
