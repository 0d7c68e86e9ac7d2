import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

/// A state that learns of sessions as decisions ask for them, beside a state that knows all sessions.
@Suite struct LearningLaws {
  /// 4 × 160 × 20 requests.
  private static let worlds = 160
  private static let requestsPerWorld = 20

  @Test(arguments: 0..<rounds(1))
  func `a state that learns on demand decides as one that knows everything`(part: Int) throws {
    var tally = Tally()
    for seed in part * Self.worlds..<(part + 1) * Self.worlds {
      var generator = WorldGenerator(seed: 300_000 + seed)
      let kind = WorldGenerator.Kind(seed)
      let world = generator.world(kind)
      var tested = Case(world: world, request: generator.request(world))
      let all = tested.state()
      for _ in 0..<Self.requestsPerWorld {
        tested.request = generator.request(world)
        tested.request.listsCandidates = generator.random.once(in: 10)
        let wanted = decided(all, tested.request, at: WorldGenerator.now)
        var learner = Learner(tested.world)
        let found = learner.decision(tested.request)
        tally.count(learner.needs, wanted)
        if found.isSame(as: wanted), found.steps == wanted.steps,
          kind != .onePlain || !learner.needsTooMuch(tested.request)
        {
          continue
        }
        Issue.record("seed \(seed): after \(learner.needs) it is\n\(found)\nand with all\n\(wanted)\n\(tested)")
        return
      }
    }
    let outcomes = ["created", "activated", "restored", "refused"]
    tally.expect(["nothing", "one", "all", "keyed, of several"] + outcomes.map { "keyed: \($0)" }, atLeast: 5)
  }

  @Test func `what was learnt stays true while sessions come, change, go, and are put back`() throws {
    for seed in 0..<rounds(63) {
      var generator = WorldGenerator(seed: 500_000 + seed)
      var learner = Learner(generator.world(WorldGenerator.Kind(seed)))
      for step in 0..<40 {
        learner.change(&generator, step)
        let tested = Case(world: learner.world, request: generator.request(learner.world))
        let wanted = decided(tested.state(), tested.request, at: WorldGenerator.now)
        let found = learner.decision(tested.request)
        if found.isSame(as: wanted) { continue }
        Issue.record("seed \(seed), step \(step): it is\n\(found)\nand with all\n\(wanted)\n\(tested)")
        return
      }
    }
  }
}

/// A state that learns, and the store that it learns from.
private struct Learner {
  /// The truth: the content of the store, and the changes that are not refused.
  private(set) var world: ReferenceWorld
  private var state: State
  private(set) var needs: [Need] = []

  init(_ world: ReferenceWorld) {
    self.world = world
    state = State(types: Stage.types)
    for manifest in world.manifests { state.register(manifest) }
    for preference in world.preferences { state.setPreferredApplication(preference.application, for: preference.type) }
  }

  mutating func decision(_ request: Request) -> Decision {
    needs = []
    while true {
      switch decide(state, request, at: WorldGenerator.now) {
      case .decided(let decision): return decision
      case .needs(let need):
        precondition(!needs.contains(need), "\(need) was answered, and is needed again")
        needs.append(need)
        state.learn(world.sessions.filter { need.includes($0) }, answering: need)
        precondition(state.knows(need), "\(need) was answered, and is not known")
      }
    }
  }

  /// Whether a decision in a plain world asked for all sessions of an application without a reason.
  func needsTooMuch(_ request: Request) -> Bool {
    let asksForAll = needs.contains { if case .allSessions = $0 { true } else { false } }
    let hasKey = request.payload.items.contains { item in
      item.activities.contains { !($0.targetContentIdentifier ?? $0.webpageURL ?? .empty).isEmpty }
    }
    let isKeyed = request.payload.items.count == 1 && request.payload.items[0].activities.count == 1 && hasKey
    return asksForAll && isKeyed && !request.listsCandidates && request.payload.items[0].representations.isEmpty
  }

  // MARK: Concurrent changes

  mutating func change(_ generator: inout WorldGenerator, _ step: Int) {
    let session = generator.session(UInt64(generator.random.below(64)), world)
    switch generator.random.below(6) {
    case 0: put(session)
    case 1: discard(session.identifier)
    // The store refuses: the state goes back, and the store is unchanged. Meanwhile other requests were decided.
    case 2:
      guard world.session(session.identifier).map({ $0.application == session.application }) ?? true else { return }
      let before = world
      let undo = state.update(session)
      put(session, inState: false)
      let request = generator.request(world)
      _ = decision(request)
      world = before
      state.revert(undo)
    case 3:
      let undo = state.discard(session.identifier)
      let before = world
      discard(session.identifier)
      let request = generator.request(world)
      _ = decision(request)
      world = before
      state.revert(undo)
    case 4:
      let application = generator.random.one(of: world.manifests).identifier
      state.learn(world.sessions.filter { $0.application == application }, answering: .allSessions(of: application))
    default:
      var request = generator.request(world)
      request.newSession = UniqueIdentifier(high: 2, low: UInt64(step))
      guard let fact = decision(request).fact else { return }
      state.apply(fact)
      world.apply(fact)
    }
  }

  private mutating func put(_ session: Session, inState: Bool = true) {
    // A session does not change its application.
    if let old = world.session(session.identifier), old.application != session.application { return }
    world.sessions.removeAll { $0.identifier == session.identifier }
    world.sessions.append(session)
    if inState { state.update(session) }
  }

  private mutating func discard(_ identifier: UniqueIdentifier) {
    world.sessions.removeAll { $0.identifier == identifier }
    state.discard(identifier)
  }
}

extension Need {
  /// Whether a store's answer includes this session.
  fileprivate func includes(_ session: Session) -> Bool {
    switch self {
    case .session(let identifier): session.identifier == identifier
    case .allSessions(of: let application): session.application == application
    case .sessions(of: let application, concernedWith: let key):
      session.application == application
        && (session.shownKey == key || session.conditionKeys.contains { $0.isEmpty || $0 == key })
    }
  }
}

extension WorldGenerator {
  /// The content of a world's manifests. In plain manifests, nothing makes all sessions matter.
  fileprivate enum Kind: CaseIterable {
    case any, onePlain, severalPlain

    init(_ seed: Int) { self = Kind.allCases[seed % Kind.allCases.count] }
  }

  fileprivate mutating func world(_ kind: Kind) -> ReferenceWorld {
    var world = world()
    if kind == .any { return world }
    if kind == .onePlain { world.manifests.removeSubrange(1...) }
    for place in world.manifests.indices { world.manifests[place].makePlain() }
    return world
  }
}

extension Manifest {
  fileprivate mutating func makePlain() {
    supportsMultipleScenes = true
    routing = .seated
    understudy = nil
    for place in configurations.indices {
      configurations[place].conditions = ActivationConditions()
      configurations[place].launch = .automatic
      configurations[place].maximumSessions = nil
    }
  }
}

extension Tally {
  /// Which kinds of need occurred.
  fileprivate mutating func count(_ needs: [Need], _ decision: Decision) {
    if needs.isEmpty { count("nothing") }
    var (keyed, all) = (0, 0)
    for need in needs {
      switch need {
      case .session: count("one")
      case .sessions: keyed += 1
      case .allSessions: all += 1
      }
    }
    if keyed > 0, all == 0 { count("keyed: \(decision.outcome.name)") }
    if keyed > 1, all == 0 { count("keyed, of several") }
    if all > 0 { count("all") }
  }
}
