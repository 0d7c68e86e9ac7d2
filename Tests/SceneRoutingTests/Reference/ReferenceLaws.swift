import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

@Suite struct ReferenceLaws {
  private static let types = TypeCatalog()

  @Test(arguments: 0..<4) func `a decision is what the rules say in their own words`(part: Int) throws {
    let types = ReferenceLaws.types
    let pool = try WorldGenerator.Pool()
    var tally: [String: Int] = [:]
    var failures: [String: Int] = [:]
    for seed in part * 1000..<part * 1000 + 1000 {
      var generator = WorldGenerator(random: SeededRandom(seed: UInt64(seed)), pool: pool)
      let world = generator.world()
      let state = Case(world: world, request: generator.request(world)).state(types)
      for _ in 0..<25 {
        let one = Case(world: world, request: generator.request(world))
        let decision = decide(state, one.request, at: WorldGenerator.now)
        let answer = one.answer(types)
        tally["\(answer.outcome)", default: 0] += 1
        if let reason = decision.explanation.sessionReason { tally["\(reason)", default: 0] += 1 }
        if ReferenceAnswer(decision, in: world) != answer {
          let key = "\(answer.outcome) but \(ReferenceAnswer(decision, in: world).outcome)"
          failures[key, default: 0] += 1
          if failures[key] == 1 {
          let small = one.shrunk { other in
            let d = ReferenceAnswer(decide(other.state(types), other.request, at: WorldGenerator.now), in: other.world)
            let a = other.answer(types)
            return d != a && "\(a.outcome) but \(d.outcome)" == key
          }
          let d = decide(small.state(types), small.request, at: WorldGenerator.now)
          print("seed \(seed)\n\(small)\nreference \(small.answer(types))\ndecision \(d.outcome)\n \(d.explanation)\n\n")
          }
        }
      }
    }
    print(part, tally.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "\n"))
    print(failures)
  }
}
