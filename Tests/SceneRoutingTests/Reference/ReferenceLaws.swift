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
        tally.count(decision.outcome.name)
        tally.count(decision.outcome.refusedBecause)
        tally.count(decision.explanation.sessionReason)
        tally.count(decision.explanation.applicationReason)
        tally.count(decision.explanation.configurationReason)
        tally.count(decision.explanation.keySource)
        if tested.brokenLaw(decision) != nil {
          let small = tested.shrunk { $0.brokenLaw() != nil }
          Issue.record("seed \(seed): \(small.brokenLaw() ?? "")\n\(small)")
          return
        }
      }
    }
    tally.expect(["created", "activated", "restored", "refused"] as [Text], atLeast: 500)
    // A request that is too much for one decision is too much for a law.
    tally.expect(Refusal.Reason.allCases.filter { $0 != .limitsExceeded }, atLeast: 30)
    tally.expect(SessionReason.allCases, atLeast: 30)
    tally.expect(ApplicationReason.allCases, atLeast: 30)
    tally.expect(ConfigurationReason.allCases, atLeast: 30)
    tally.expect(KeySource.allCases, atLeast: 30)
  }
}

/// How often each thing occurred, so that a test notices if a generator misses one.
struct Tally {
  private var counts: [AnyHashable: Int] = [:]

  mutating func count(_ thing: (some Hashable)?) { if let thing { counts[thing, default: 0] += 1 } }

  func expect(_ things: some Sequence<some Hashable>, atLeast count: Int) {
    for thing in things { #expect(counts[thing, default: 0] >= count, "\(thing) in \(counts)") }
  }
}
