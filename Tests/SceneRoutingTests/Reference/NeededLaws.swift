import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// A service that has just begun decides before it has read all of its sessions.
@Suite struct NeededLaws {
  /// 4 × 250 × 20 requests.
  private static let worlds = 250
  private static let requestsPerWorld = 20

  @Test(arguments: 0..<4)
  func `with the sessions that are needed a decision is what it is with all`(part: Int) throws {
    let types = TypeCatalog()
    let pool = try WorldGenerator.Pool()
    var tally: [String: Int] = [:]
    for seed in part * Self.worlds..<(part + 1) * Self.worlds {
      var generator = WorldGenerator(random: SeededRandom(seed: UInt64(300_000 + seed)), pool: pool)
      let world = generator.world(plain: seed % 2 == 0)
      var tested = Case(world: world, request: generator.request(world))
      let state = tested.state(types)
      for _ in 0..<Self.requestsPerWorld {
        tested.request = generator.request(world)
        tested.request.listsCandidates = generator.random.once(in: 10)
        tally[tested.kindOfNeed(state), default: 0] += 1
        if tested.brokenNeed(state, types) != nil {
          let small = tested.shrunk { $0.brokenNeed($0.state(types), types) != nil }
          Issue.record("seed \(seed): \(small.brokenNeed(small.state(types), types) ?? "")\n\(small)")
          return
        }
      }
    }
    for kind in [
      "named", "all", "concerned: created", "concerned: activated", "concerned: restored", "concerned: refused",
      "concerned: one of several",
    ] {
      #expect(tally[kind, default: 0] >= 20, "\(kind) in \(tally)")
    }
  }
}

extension WorldGenerator {
  /// - Parameter plain: whether each type has one application, and no manifest says anything by which all sessions matter.
  fileprivate mutating func world(plain: Bool) -> ReferenceWorld {
    var world = world()
    guard plain else { return world }
    let manifest = world.manifests[0]
    world.manifests = [manifest]
    world.manifests[0].supportsMultipleScenes = true
    world.manifests[0].routing = .seated
    for place in manifest.configurations.indices {
      world.manifests[0].configurations[place].conditions = ActivationConditions()
      world.manifests[0].configurations[place].launch = .automatic
      world.manifests[0].configurations[place].maximumSessions = nil
    }
    return world
  }
}

extension Case {
  fileprivate func brokenNeed(_ all: State, _ types: TypeCatalog) -> String? {
    let whole = decide(all, request, at: WorldGenerator.now)
    let need = all.sessionsNeeded(for: request)
    var less = self
    less.world.sessions.removeAll { !need.contains($0) }
    let part = decide(less.state(types), request, at: WorldGenerator.now)
    if part.isSame(as: whole), part.steps == whole.steps { return nil }
    return "with \(need) it is\n\(part)\nand with all\n\(whole)"
  }

  fileprivate func kindOfNeed(_ state: State) -> String {
    let need = state.sessionsNeeded(for: request)
    switch need {
    case .named: return "named"
    case .all: return "all"
    case .concerned(let application, _, _):
      let decision = decide(state, request, at: WorldGenerator.now)
      let others = world.sessions.contains { $0.application == application && !need.contains($0) }
      if others, decision.explanation.sessionReason == .firstInTier { return "concerned: one of several" }
      return "concerned: \(decision.outcome.name)"
    }
  }
}

extension SessionsNeeded {
  fileprivate func contains(_ session: Session) -> Bool {
    switch self {
    case .named(let identifier): session.identifier == identifier
    case .all(let applications): applications.contains(session.application)
    case .concerned(let application, let key, let requesting):
      session.identifier == requesting
        || session.application == application
          && (session.shownKey == key || session.conditionKeys.contains { $0.isEmpty || $0 == key })
    }
  }
}
