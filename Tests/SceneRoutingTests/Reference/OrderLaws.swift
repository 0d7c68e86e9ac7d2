import SceneModel
import SceneRouting
import SceneTestSupport
import Testing

@Suite struct OrderLaws {
  @Test func `the same input has the same answer, in whatever order and by whatever detours it was come to`() throws {
    let types = TypeCatalog()
    let pool = try WorldGenerator.Pool()
    for seed in 0..<rounds(150) {
      var generator = WorldGenerator(random: SeededRandom(seed: UInt64(200_000 + seed)), pool: pool)
      let world = generator.world()
      var tested = Case(world: world, request: generator.request(world))
      let straight = tested.state(types)
      let other = generator.stateByDetour(to: world, types)
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
