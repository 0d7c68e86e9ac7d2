import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

@Suite struct OrderLaws {
  @Test func `the same input has the same answer, in whatever order and by whatever detours it was come to`() throws {
    for seed in 0..<rounds(150) {
      var generator = WorldGenerator(seed: 200_000 + seed)
      let world = generator.world()
      var tested = Case(world: world, request: generator.request(world))
      let straight = tested.state()
      let other = generator.stateByDetour(to: world)
      #expect(other.sessionCount == world.sessions.count)
      for _ in 0..<15 {
        tested.request = generator.request(world)
        tested.request.listsCandidates = generator.random.once(in: 2)
        let decision = decided(straight, tested.request, at: WorldGenerator.now)
        let again = decided(straight, tested.request, at: WorldGenerator.now)
        let elsewhere = decided(other, tested.request, at: WorldGenerator.now)
        if !again.isSame(as: decision) || !elsewhere.isSame(as: decision) {
          Issue.record("seed \(seed)\n\(tested)\n\(decision)\n\(again)\n\(elsewhere)")
          return
        }
      }
    }
  }
}

/// Other ways to the same state: in another order, and through other states.
extension WorldGenerator {
  mutating func stateByDetour(to world: ReferenceWorld) -> State {
    var state = State(types: Stage.types, isComplete: true)
    for _ in 0..<random.below(40) { wander(&state, world) }
    for arrive in arrivals(world).shuffled(using: &random) {
      arrive(&state)
      if random.once(in: 3) { thereAndBack(&state, world) }
    }
    return state
  }

  /// A change that has nothing to do with the target state.
  private mutating func wander(_ state: inout State, _ world: ReferenceWorld) {
    let number = UInt64(random.below(64))
    switch random.below(10) {
    case 0, 1: state.register(manifest(random.one(of: pool.applications)))
    case 2: state.unregister(random.one(of: pool.applications))
    case 3, 4, 5, 6: state.update(session(number, world))
    case 7: state.discard(identifier(number))
    case 8: state.setPreferredApplication(random.one(of: pool.applications), for: random.one(of: pool.activityTypes))
    default: state.setPreferredApplication(random.one(of: pool.applications), for: random.one(of: pool.spellings))
    }
  }

  /// Changes that a store refused.
  private mutating func thereAndBack(_ state: inout State, _ world: ReferenceWorld) {
    var undos: [State.Undo] = []
    for _ in 0..<1 + random.below(3) {
      let number = UInt64(random.below(64))
      switch random.below(4) {
      case 0: undos.append(state.discard(identifier(number)))
      case 1: undos.append(state.update(session(number, world)))
      default:
        if let fact = decided(state, request(world), at: WorldGenerator.now).fact { undos.append(state.apply(fact)) }
      }
    }
    for undo in undos.reversed() { state.revert(undo) }
  }

  /// For each thing that may exist, the change that makes it as it is in the world.
  private func arrivals(_ world: ReferenceWorld) -> [(inout State) -> Void] {
    var steps: [(inout State) -> Void] = []
    for application in pool.applications {
      let manifest = world.manifest(of: application)
      steps.append { state in
        if let manifest { state.register(manifest) } else { state.unregister(application) }
      }
    }
    for number in 0..<UInt64(64) {
      let identifier = identifier(number)
      let session = world.session(identifier)
      steps.append { state in
        if let session { state.update(session) } else { state.discard(identifier) }
      }
    }
    for type in pool.activityTypes + ["text/plain"] {
      let preferred = world.preferences.first { $0.type == type }?.application
      steps.append { $0.setPreferredApplication(preferred, for: type) }
    }
    let preference = world.preferences.first { pool.spellings.contains($0.type) }
    let spelling = preference?.type ?? pool.spellings[0]
    steps.append { $0.setPreferredApplication(preference?.application, for: spelling) }
    return steps
  }
}
