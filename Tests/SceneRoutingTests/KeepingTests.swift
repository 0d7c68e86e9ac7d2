import SceneModel
import SceneRouting
import Testing

/// Which sessions an application loses when it has more sessions without a scene than it keeps.
@Suite struct KeepingTests {
  private func stage(keeping count: Int) -> Stage {
    var manifest = app("org.example.Cats", "view") {
      window("One")
      window("Two")
    }
    manifest.keptSessions = count
    var stage = Stage(manifest)
    for (name, configuration, activated) in [("a", "One", 3), ("b", "Two", 1), ("c", "One", 2), ("d", "Two", 4)] {
      stage.session(name, Text(configuration), state: .unattached, activated: Int64(activated)) {
        $0.isConnected = false
      }
    }
    stage.session("shown", "One", activated: 0)
    return stage
  }

  private func givenUp(_ stage: Stage, atMost limit: Int = 100, waiting: [String] = []) -> [String] {
    stage.state.sessionsToGiveUp(of: "org.example.Cats", atMost: limit) { Set(waiting.map(stage.identifier)) }
      .map { stage.name(of: $0) }
  }

  @Test func `the sessions that were activated longest ago go, and none that has a scene`() {
    #expect(givenUp(stage(keeping: 4)) == [])
    #expect(givenUp(stage(keeping: 3)) == ["b"])
    #expect(givenUp(stage(keeping: 1)) == ["b", "c", "a"])
    #expect(givenUp(stage(keeping: 0)) == ["b", "c", "a", "d"])
    #expect(givenUp(stage(keeping: 0), atMost: 2) == ["b", "c"])
  }

  @Test func `a session that something is on its way to stays, and does not count`() {
    #expect(givenUp(stage(keeping: 3), waiting: ["b"]) == [])
    #expect(givenUp(stage(keeping: 2), waiting: ["b"]) == ["c"])
    #expect(givenUp(stage(keeping: 0), waiting: ["b", "d"]) == ["c", "a"])
    #expect(givenUp(stage(keeping: 0), waiting: ["a", "b", "c", "d"]) == [])
  }

  @Test func `an application without a manifest gives up nothing`() {
    var stage = stage(keeping: 0)
    stage.state.unregister("org.example.Cats")
    #expect(givenUp(stage) == [])
  }
}
