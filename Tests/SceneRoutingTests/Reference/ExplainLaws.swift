import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

@Suite struct ExplainLaws {
  @Test func `a stored decision has its document, however it is damaged`() throws {
    var outcomes: [Text: Int] = [:]
    for seed in 0..<rounds(200) {
      var generator = WorldGenerator(seed: 300_000 + seed)
      let world = generator.world()
      let state = Case(world: world, request: generator.request(world)).state()
      for _ in 0..<10 {
        let decision = decided(state, generator.request(world), at: WorldGenerator.now)
        if decision.fact == nil { continue }
        outcomes[decision.outcome.name, default: 0] += 1
        let stored = decision.stored
        #expect(Decision.document(ofStored: stored) == decision.json, "seed \(seed)")
        #expect(Decision.document(ofStored: decision.json) == decision.json)
        // A shorter text is refused, and read no further than it goes.
        let end = generator.random.below(stored.count)
        _ = Decision.document(ofStored: Text(String(decoding: stored.string.utf8.prefix(end), as: UTF8.self)))
      }
    }
    for outcome in ["created", "activated", "restored"] as [Text] { #expect(outcomes[outcome, default: 0] >= 20) }
  }

  @Test func `to explain a decision does not change it, and lists who was looked at`() throws {
    var tiers: [Candidate.Tier: Int] = [:]
    for seed in 0..<rounds(300) {
      var generator = WorldGenerator(seed: 100_000 + seed)
      let world = generator.world()
      var tested = Case(world: world, request: generator.request(world))
      let state = tested.state()
      for _ in 0..<15 {
        tested.request = generator.request(world)
        let plain = decided(state, tested.request, at: WorldGenerator.now)
        tested.request.listsCandidates = true
        let explained = decided(state, tested.request, at: WorldGenerator.now)
        let candidates = explained.explanation.candidates
        for candidate in candidates { tiers[candidate.tier, default: 0] += 1 }
        if !explained.isSame(as: plain, withCandidates: false) || !tested.lists(candidates, explained) {
          Issue.record("seed \(seed)\n\(tested)\n\(plain)\n\(explained)")
          return
        }
      }
    }
    for tier in Candidate.Tier.allCases { #expect(tiers[tier, default: 0] >= 100, "\(tier) in \(tiers)") }
  }
}

extension Decision {
  func isSame(as other: Decision, withCandidates: Bool = true) -> Bool {
    var (one, two) = (explanation, other.explanation)
    if !withCandidates {
      (one.candidates, two.candidates) = ([], [])
      (one.candidatesLeftOut, two.candidatesLeftOut) = (0, 0)
    }
    return outcome == other.outcome && fact == other.fact && routing == other.routing && one == two
  }
}

extension Case {
  /// Whether these are the candidates of step 8, if the decision reached it with a key: all of them, the best first.
  fileprivate func lists(_ candidates: [Candidate], _ decision: Decision) -> Bool {
    let choosing: [SessionReason] = [.onlyInTier, .requestingSession, .firstInTier, .noCandidate]
    guard decision.explanation.keySource != nil, case let key = decision.explanation.key,
      let reason = decision.explanation.sessionReason,
      choosing.contains(reason)
    else { return true }
    let router = ReferenceRouter(world: world, request: request)
    let wanted = router.listing() ?? []
    guard candidates.count == wanted.count, decision.explanation.candidatesLeftOut == 0 else { return false }
    return zip(candidates, wanted).allSatisfy { candidate, wanted in
      let (can, prefers) = world.conditions(of: wanted.session)
      let isAsked = !can.isUnreadable && !prefers.isUnreadable
      return candidate.session == wanted.session.identifier && candidate.tier == wanted.tier
        && candidate.can == (isAsked ? can.holds(for: key, unlessSet: true) : nil)
        && candidate.prefers == (isAsked ? prefers.holds(for: key, unlessSet: false) : nil)
    }
  }
}
