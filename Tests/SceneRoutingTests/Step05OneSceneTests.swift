import SceneModel
import SceneRouting
import Testing

/// 5: an application with one scene.
@Suite struct Step05OneSceneTests {
  private let cats = app("org.example.Cats", "view", "feed", hasOneScene: true) {
    window("Default")
    window("Cat", "view")
    window("Feeding", "feed", launch: .new)
    window("Single", launch: .single)
    window("Projector", role: externalDisplay)
  }

  @Test func `its session gets it whatever the predicates say`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "cat9"), can: "FALSEPREDICATE")
    #expect(stage.drop("view", key: "cat1") == .activated("main"))
    #expect(stage.because == .onlyScene)
    #expect(stage.whyConfiguration == .namesType)
    #expect(stage.sessions["main"]?.userActivity?.key == "cat1")
  }

  @Test func `also without a key, of another configuration, in another role, or under a policy`() {
    var stage = Stage(cats)
    stage.session("main")
    #expect(stage.drop("view") == .activated("main"))
    #expect(stage.drop("view", key: "1", in: "Cat") == .activated("main"))
    #expect(stage.drop("feed", key: "1") == .activated("main"))
    #expect(stage.drop("view", key: "1", in: "Single") == .activated("main"))
    #expect(stage.drop("view", key: "1", role: externalDisplay) == .activated("main"))
    #expect(stage.because == .onlyScene)
  }

  @Test(arguments: [.auto, .existing, .existingOnly] as [PayloadOptions.Disposition])
  func `whatever is wished, but a new one`(disposition: PayloadOptions.Disposition) {
    var stage = Stage(cats)
    stage.session("main", can: "FALSEPREDICATE")
    #expect(stage.drop("view", key: "1", disposition) == .activated("main"))
    #expect(stage.because == .onlyScene)
  }

  @Test func `without a session one is made`() {
    var stage = Stage(cats)
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.because == .noSceneYet)
    stage.discard("#1")
    #expect(stage.drop("view", key: "1", .new) == .created("Cat"))
    #expect(stage.because == .dispositionNew)
  }

  @Test func `a new one beside it is refused`() {
    var stage = Stage(cats)
    stage.session("main")
    #expect(stage.drop("view", key: "1", .new) == .refused(.multipleScenesNotSupported))
    #expect(
      stage.message
        == "org.example.Cats has its one scene: UIApplicationSupportsMultipleScenes is not true, so that the "
        + "disposition \"new\" makes no other")
    #expect(stage.drop("view", key: "1", .new, in: "Single") == .refused(.multipleScenesNotSupported))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats") == .refused(.multipleScenesNotSupported))
    #expect(stage.state.sessionCount == 1)
  }

  @Test func `where an older manifest left several the first by step 9 gets it`() {
    var stage = Stage(cats)
    stage.session("behind", showing: activity("view", "1"), state: .background, activated: 9)
    stage.session("front", state: .foregroundActive, activated: 1)
    #expect(stage.drop("view", key: "1") == .activated("front"))
    #expect(stage.drop("view", key: "1", asking: "behind") == .activated("behind"))
    #expect(stage.because == .onlyScene)
  }

  @Test func `an application that supports several is not asked`() {
    var stage = Stage(app("org.example.Cats", "view"))
    stage.session("main")
    #expect(stage.drop("view", key: "1") == .created("Default"))
    #expect(stage.because == .noCandidate)
  }
}
