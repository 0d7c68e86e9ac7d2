import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// Compares decisions with the literal rules, in many small worlds. If a law breaks, the test prints the world, made as small as possible.
@Suite struct ReferenceLaws {
  /// 900 × 25 requests for each part.
  private static let worlds = 900
  private static let requestsPerWorld = 25

  @Test(arguments: 0..<rounds(1)) func `a decision is what the rules say in their own words`(part: Int) throws {
    var tally = Tally()
    for seed in part * Self.worlds..<(part + 1) * Self.worlds {
      var generator = WorldGenerator(seed: seed)
      let world = generator.world()
      var tested = Case(world: world, request: generator.request(world))
      let state = tested.state()
      for _ in 0..<Self.requestsPerWorld {
        tested.request = generator.request(world)
        let decision = decided(state, tested.request, at: WorldGenerator.now)
        tally.count(decision)
        if tested.brokenLaw(decision) != nil {
          let small = tested.shrunk { $0.brokenLaw() != nil }
          Issue.record("seed \(seed): \(small.brokenLaw() ?? "")\n\(small)")
          return
        }
      }
    }
    tally.expectEverything()
  }
}

/// The results of the requests, so that the test notices if a generator misses something.
private struct Tally {
  private var outcomes: [Text: Int] = [:]
  private var refusals: [Refusal.Reason: Int] = [:]
  private var reasons: [SessionReason: Int] = [:]
  private var applicationReasons: [ApplicationReason: Int] = [:]

  private static let allReasons: [SessionReason] = [
    .named, .onlyScene, .noSceneYet, .policyNew, .policySingle, .policySingleNoneYet, .dispositionNew, .onlyInTier,
    .requestingSession, .firstInTier, .withoutKey, .withoutKeyNew, .latest, .noCandidate,
  ]

  mutating func count(_ decision: Decision) {
    outcomes[decision.outcome.name, default: 0] += 1
    if case .refused(let refusal) = decision.outcome { refusals[refusal.reason, default: 0] += 1 }
    if let reason = decision.explanation.sessionReason { reasons[reason, default: 0] += 1 }
    if let reason = decision.explanation.applicationReason { applicationReasons[reason, default: 0] += 1 }
  }

  func expectEverything() {
    for name: Text in ["created", "activated", "restored", "refused"] {
      #expect(outcomes[name, default: 0] >= 500, "\(name) in \(outcomes)")
    }
    // A request that is too much for one decision is too much for a law.
    for reason in Refusal.Reason.allCases where reason != .limitsExceeded {
      #expect(refusals[reason, default: 0] >= 30, "\(reason) in \(refusals)")
    }
    for reason in ApplicationReason.allCases {
      #expect(applicationReasons[reason, default: 0] >= 30, "\(reason) in \(applicationReasons)")
    }
    for reason in Self.allReasons { #expect(reasons[reason, default: 0] >= 30, "\(reason) in \(reasons)") }
  }
}
