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

/// What follows when decisions are applied.
@Suite struct FactLaws {
  @Test func `decisions that were made true are what the next ones go by, and undone they leave nothing behind`() throws
  {
    for seed in 0..<rounds(125) {
      var generator = WorldGenerator(seed: 300_000 + seed)
      var world = generator.world()
      var state = Case(world: world, request: generator.request(world)).state()
      let before = world
      var undos: [State.Undo] = []
      for number in 0..<12 {
        var tested = Case(world: world, request: generator.request(world))
        tested.request.newSession = UniqueIdentifier(high: 2, low: UInt64(number))
        let decision = decided(state, tested.request, at: WorldGenerator.now)
        if let broken = tested.brokenLaw(decision) {
          Issue.record("seed \(seed), request \(number): \(broken)\n\(tested)")
          return
        }
        if let fact = decision.fact {
          undos.append(state.apply(fact))
          world.apply(fact)
        }
      }
      for undo in undos.reversed() { state.revert(undo) }
      let untouched = Case(world: before, request: generator.request(before)).state()
      for _ in 0..<12 {
        let request = generator.request(before)
        let (one, other) = (
          decided(state, request, at: WorldGenerator.now), decided(untouched, request, at: WorldGenerator.now)
        )
        if !one.isSame(as: other) {
          Issue.record("seed \(seed): \(request.payload.json) is no longer\n\(other)\nbut\n\(one)")
          return
        }
      }
    }
  }

  @Test func `a hundred identical drops make at most one session`() throws {
    var made = 0
    let count = rounds(375)
    for seed in 0..<count {
      var generator = WorldGenerator(seed: 400_000 + seed)
      let world = generator.world()
      var tested = Case(world: world, request: generator.request(world))
      tested.request.payload.options.disposition = .auto
      var state = tested.state()
      let first = decided(state, tested.request, at: WorldGenerator.now)
      guard first.explanation.sessionReason == .noCandidate, first.explanation.keySource != nil,
        case let key = first.explanation.key,
        case .sessionMade(let session)? = first.fact,
        // A window that is made for a key that it cannot take is not found again by this key.
        world.conditions(of: session).can.holds(for: key, unlessSet: true)
      else { continue }
      made += 1
      for number in 0..<100 {
        tested.request.newSession = UniqueIdentifier(high: 2, low: UInt64(number))
        let decision = decided(
          state, tested.request, at: Instant(microseconds: WorldGenerator.now.microseconds + Int64(number)))
        if (number == 0) != (decision.outcome == .created(tested.request.newSession)) {
          Issue.record("seed \(seed), drop \(number): \(decision.outcome)\n\(tested)")
          return
        }
        if let fact = decision.fact { state.apply(fact) }
      }
    }
    #expect(made >= count / 15)
  }
}

extension ReferenceWorld {
  /// Applies a fact: A becomes the session's current activity at once, or else the session is known by the content that it was opened for.
  mutating func apply(_ fact: Fact) {
    switch fact {
    case .sessionMade(let session): sessions.append(session)
    case .sessionActivated(let identifier, at: let now, showing: let shown):
      guard let place = sessions.firstIndex(where: { $0.identifier == identifier }) else { return }
      sessions[place].lastActivated = now
      switch shown {
      case .activity(let activity)?: sessions[place].userActivity = activity
      case .content(let key)?: sessions[place].openedContent = key
      case nil: break
      }
    }
  }
}

@Suite struct ExplainLaws {
  @Test func `a stored decision has its document, however it is damaged`() throws {
    var tally = Tally()
    for seed in 0..<rounds(200) {
      var generator = WorldGenerator(seed: 300_000 + seed)
      let world = generator.world()
      let state = Case(world: world, request: generator.request(world)).state()
      for _ in 0..<10 {
        let decision = decided(state, generator.request(world), at: WorldGenerator.now)
        if decision.fact == nil { continue }
        tally.count(decision.outcome.name)
        let stored = decision.stored
        #expect(Decision.document(ofStored: stored) == decision.json, "seed \(seed)")
        #expect(Decision.document(ofStored: decision.json) == decision.json)
        // A shorter text is refused, and read no further than it goes.
        let end = generator.random.below(stored.count)
        _ = Decision.document(ofStored: Text(String(decoding: stored.string.utf8.prefix(end), as: UTF8.self)))
      }
    }
    tally.expect(["created", "activated", "restored"] as [Text], atLeast: 20)
  }

  @Test func `to explain a decision does not change it, and lists who was looked at`() throws {
    var tally = Tally()
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
        for candidate in candidates { tally.count(candidate.tier) }
        if !explained.isSame(as: plain, withCandidates: false) || !tested.lists(candidates, explained) {
          Issue.record("seed \(seed)\n\(tested)\n\(plain)\n\(explained)")
          return
        }
      }
    }
    tally.expect(Candidate.Tier.allCases, atLeast: 100)
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
