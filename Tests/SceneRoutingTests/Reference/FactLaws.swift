import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

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
