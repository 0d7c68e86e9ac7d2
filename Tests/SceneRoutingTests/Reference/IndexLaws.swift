import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// What the index finds among many sessions, while sessions come, change and go.
@Suite struct IndexLaws {
  @Test func `of five thousand sessions it finds the one that asking each of them finds`() throws {
    var crowd = Crowd(random: SeededRandom(seed: 5_000))
    var state = State(types: TypeCatalog(), isComplete: true)
    state.register(Crowd.manifest)
    var scan = PlainScan(keys: Crowd.askedKeys, type: Crowd.type)
    for number in 0..<5_000 {
      let session = crowd.session(UInt64(number))
      state.update(session)
      try scan.append(session)
    }
    #expect(crowd.conditions.count >= 3_000)
    #expect(state.sessionCount == 5_000)

    var tiers: [Candidate.Tier: Int] = [:]
    var (alone, among) = (0, 0)
    let lookups = rounds(500)
    for lookup in 0..<lookups {
      try crowd.change(&state, &scan, UInt64(10_000 + lookup))
      let key = crowd.random.below(Crowd.askedKeys.count)
      let request = Crowd.request(Crowd.askedKeys[key])
      let decision = decided(state, request, at: Instant(microseconds: 100))
      guard let best = scan.best(key) else {
        tiers[.out, default: 0] += 1
        try #require(decision.outcome == .created(request.newSession), "lookup \(lookup) of \(Crowd.askedKeys[key])")
        continue
      }
      tiers[best.tier, default: 0] += 1
      let wanted = "\(best.session.json), not \(decision.outcome)"
      try #require(
        decision.outcome.session == best.session.identifier, "lookup \(lookup) of \(Crowd.askedKeys[key]): \(wanted)")
      // A session that the index calls alone must be alone; one that is alone need not have been checked yet.
      if decision.explanation.sessionReason == .onlyInTier { #expect(best.isAlone, "lookup \(lookup)") }
      if decision.explanation.sessionReason == .onlyInTier { alone += 1 } else { among += 1 }
    }
    #expect(state.sessionCount == scan.sessions.count)
    for tier in Candidate.Tier.allCases { #expect(tiers[tier, default: 0] >= lookups / 20, "\(tier) in \(tiers)") }
    #expect(alone >= lookups / 20 && among >= lookups / 20, "\(alone) alone, \(among) among others")
  }

  @Test func `what came and went, and what was undone, leaves nothing to be found`() throws {
    var crowd = Crowd(random: SeededRandom(seed: 6_000))
    var state = State(types: TypeCatalog(), isComplete: true)
    state.register(Crowd.manifest)
    for round in 0..<3 {
      let sessions = (0..<700).map { crowd.session(UInt64(round * 1_000 + $0)) }
      var undos = sessions.map { state.update($0) }
      for session in sessions.shuffled(using: &crowd.random).prefix(350) {
        undos.append(state.discard(session.identifier))
        #expect(!state.contains(session.identifier))
      }
      #expect(state.sessionCount == 350)
      // Either a store refuses, or the sessions go one by one.
      if round == 1 {
        for undo in undos.reversed() { state.revert(undo) }
      } else {
        for session in sessions.shuffled(using: &crowd.random) { state.discard(session.identifier) }
      }
      #expect(state.sessionCount == 0)
      for key in Crowd.askedKeys {
        let request = Crowd.request(key)
        try #require(decided(state, request, at: Instant(microseconds: 100)).outcome == .created(request.newSession))
      }
    }
  }
}
