import SceneModel
import SceneRouting

/// The cost of a decision, by the number of sessions. Each round measures every world. Rounds alternate between forward and backward
/// order, so that a drift cancels out in the ratios.
final class Decisions {
  private typealias Hit = (request: Request, session: Int?)

  /// The number of requests that are repeated again and again.
  private static let few = 1_000

  private let count: Int
  private var worlds: [World]
  private let prefixed: [World]
  private let shared: [World]
  private var random = Numbers()

  init(_ keys: Keys, sizes: [Int], count: Int) {
    self.count = count
    worlds = sizes.map { World(keys, size: $0) }
    // A few sizes are enough to show that these costs do not grow.
    let fewer = sizes.filter { $0 <= 100_000 }
    prefixed = fewer.map { World(keys, size: $0, .prefixes) }
    shared = fewer.map { World(keys, size: $0, .shared) }
  }

  func run(rounds: Int) {
    for round in 0..<rounds {
      let isForth = round.isMultiple(of: 2)
      func each(_ worlds: [World], _ measure: (World) -> Void) {
        for world in isForth ? worlds : worlds.reversed() { measure(world) }
      }
      each(worlds) { measure("hot", hits($0), $0) }
      each(worlds) { measureUniform($0) }
      each(worlds) { world in
        measure("miss", (0..<Decisions.few).map { Hit(World.request(world.keys.key(world.size + $0)), nil) }, world)
      }
      each(worlds) { measure("keyless", [Hit(World.request(nil, .existing), $0.latest)], $0) }
      each(prefixed) { measure("prefix", hits($0, ending: "/1"), $0) }
      each(shared) { world in
        measure("shared", (0..<Decisions.few).map { Hit(World.request(Text("a photo-\($0)")), world.latest) }, world)
      }
      for place in isForth ? Array(worlds.indices) : worlds.indices.reversed() { measureTurns(&worlds[place]) }
    }
  }

  // MARK: Requests of a measure

  /// Every request is different, so it reads almost only data that was not read a moment ago.
  private func measureUniform(_ world: World) {
    report("uniform", world.size, decideAll(world.hits(count, using: &random).map { Hit($0, $1) }, world))
  }

  private func hits(_ world: World, ending: String = "") -> [Hit] {
    world.hits(Decisions.few, ending: ending, using: &random).map { Hit($0, $1) }
  }

  // MARK: Deciding

  private func measure(_ name: String, _ hits: [Hit], _ world: World) {
    let passes = max(1, count / hits.count)
    _ = decideAll(hits, world)
    report(name, world.size, decideAll(hits, passes: passes, world))
  }

  /// Nanoseconds for each decision. Each decision is compared with the session that it should find.
  private func decideAll(_ hits: [Hit], passes: Int = 1, _ world: World) -> Double {
    var wrong = 0
    let state = world.state
    let time = nanoseconds(hits.count * passes) {
      for _ in 0..<passes {
        // This reads the request in the array: a copy of it would be measured too.
        for place in hits.indices {
          let answer = decide(state, hits[place].request, at: world.now)
          if !isRight(answer, hits[place].session) { wrong += 1 }
        }
      }
    }
    precondition(wrong == 0, "\(wrong) of \(hits.count) decisions are wrong")
    return time
  }

  private func isRight(_ answer: Answer, _ session: Int?) -> Bool {
    guard case .decided(let decision) = answer else { return false }
    return switch decision.outcome {
    case .activated(let identifier): World.number(identifier) == session
    case .created: session == nil
    case .restored, .refused: false
    }
  }

  // MARK: Changes of the state

  private func measureTurns(_ world: inout World) {
    let hits = world.hits(count, using: &random)
    let facts = hits.compactMap { fact(of: $0, &world) }
    let applying = nanoseconds(facts.count) {
      for fact in facts { world.state.apply(fact) }
    }
    report("apply", world.size, applying)
    let turning = nanoseconds(count) {
      for place in hits.indices {
        if let fact = fact(of: hits[place], &world) { world.state.apply(fact) }
      }
    }
    report("turn", world.size, turning)
    world.latest = hits.last?.session
  }

  private func fact(of hit: Hit, _ world: inout World) -> Fact? {
    guard case .decided(let decision) = decide(world.state, hit.request, at: world.tick()) else { return nil }
    return decision.fact
  }
}
