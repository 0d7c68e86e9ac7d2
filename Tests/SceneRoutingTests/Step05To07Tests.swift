import SceneModel
import SceneRouting
import Testing

/// 5: an application with one scene.
@Suite struct Step05OneSceneTests {
  private let cats = app("org.example.Cats", "view", hasOneScene: true) {
    window("Default")
    window("Cat", "view")
    window("Single", launch: .single)
  }

  @Test func `its session gets it whatever the predicates say`() {
    var stage = Stage(cats)
    #expect(stage.drop("view", key: "cat1") == .created("Cat"))
    #expect(stage.because == .noSceneYet)
    stage.discard("#1")
    stage.session("main", showing: activity("view", "cat9"), can: "FALSEPREDICATE")
    #expect(stage.drop("view", key: "cat1") == .activated("main"))
    #expect(stage.because == .onlyScene)
    #expect(stage.whyConfiguration == .namesType)
    #expect(stage.sessions["main"]?.userActivity?.key == "cat1")
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
}

/// 6: the configuration's policy beats the sender's wish.
@Suite struct Step06PolicyTests {
  private let cats = app("org.example.Cats", "each", "one", "view") {
    window("Default")
    window("Each", "each", launch: .new)
    window("One", "one", launch: .single, can: "SELF != 'never'")
  }

  // MARK: new

  @Test(arguments: [.auto, .existing, .new] as [PayloadOptions.Disposition])
  func `new makes a session each time`(disposition: PayloadOptions.Disposition) {
    var stage = Stage(cats)
    stage.session("each", "Each", showing: activity("each", "1"), prefers: "TRUEPREDICATE")
    for _ in 0..<3 {
      #expect(stage.drop("each", key: "1", disposition) == .created("Each"))
      #expect(stage.because == .policyNew)
    }
    #expect(stage.drop("each", disposition) == .created("Each"))
  }

  @Test func `new where only existing ones will do is refused`() {
    var stage = Stage(cats)
    stage.session("each", "Each", showing: activity("each", "1"))
    #expect(stage.drop("each", key: "1", .existingOnly) == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"the configuration "Each" of org.example.Cats takes each thing in a new session, and with the "#
        + #"disposition "existingOnly" none is made"#)
  }

  // MARK: single

  @Test(arguments: [.auto, .existing, .existingOnly] as [PayloadOptions.Disposition])
  func `single takes its session, predicates unasked`(disposition: PayloadOptions.Disposition) {
    var stage = Stage(cats)
    stage.session("main", prefers: "TRUEPREDICATE", state: .foregroundActive)
    stage.session("one", "One")
    for key in ["1", "never", nil] as [Text?] {
      #expect(stage.drop("one", key: key, disposition) == .activated("one"))
      #expect(stage.because == .policySingle)
    }
  }

  @Test func `a second single one is denied`() {
    var stage = Stage(cats)
    stage.session("one", "One")
    #expect(stage.drop("one", key: "2", .new) == .refused(.requestDenied))
    #expect(
      stage.message
        == #"the configuration "One" of org.example.Cats has its one session: StagedoorLaunch is "single", so that "#
        + #"the disposition "new" makes no other"#)
  }
}

/// 7: a sender that wants a new session gets one.
@Suite struct Step07NewTests {
  @Test func `what was dragged to the edge is not caught by a window that would take anything`() {
    var stage = Stage(app("org.example.Cats", "view"))
    stage.session(
      "greedy", showing: activity("view", "1"), can: "TRUEPREDICATE", prefers: "TRUEPREDICATE",
      state: .foregroundActive)
    #expect(stage.drop("view", key: "1", .new, asking: "greedy") == .created("Default"))
    #expect(stage.because == .dispositionNew)
    #expect(stage.drop("view", .new) == .created("Default"))
    #expect(stage.because == .dispositionNew)
    #expect(stage.state.sessionCount == 3)
  }
}
