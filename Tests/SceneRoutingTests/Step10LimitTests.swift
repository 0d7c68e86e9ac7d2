import SceneModel
import SceneRouting
import Testing

/// 10: if no session was chosen, a new one is made, up to the limit.
@Suite struct Step10LimitTests {
  private let cats = app("org.example.Cats", "view") {
    window("Default")
    window("Cat", "view", atMost: 2)
  }

  @Test func `what nobody takes gets a session that shows it`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "9"))
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.because == .noCandidate)
    let made = stage.sessions["#1"]
    #expect(made?.application == "org.example.Cats")
    #expect(made?.role == PayloadOptions.defaultRole)
    #expect(made?.userActivity == activity("view", "1"))
    #expect(made?.created == moment(1000))
    #expect(made?.lastActivated == moment(1000))
    #expect(made?.state == .unattached)
    #expect(made?.isConnected == false)
    #expect(made?.hasBeenConnected == false)
  }

  @Test func `beyond the limit it is denied`() {
    var stage = Stage(cats)
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.drop("view", key: "2") == .created("Cat"))
    #expect(stage.drop("view", key: "3") == .refused(.requestDenied))
    #expect(
      stage.message
        == #"StagedoorMaximumSessions of the configuration "Cat" of org.example.Cats is 2, and it has 2"#)
    #expect(stage.drop("view", key: "3", .new) == .refused(.requestDenied))
    #expect(stage.drop("view", .auto) == .refused(.requestDenied))
    #expect(stage.drop("view", key: "2") == .activated("#2"))
  }

  @Test func `sessions that a larger limit left are counted`() {
    var stage = Stage(cats)
    for name in ["a", "b", "c"] { stage.session(name, "Cat") }
    #expect(stage.drop("view", key: "1") == .refused(.requestDenied))
    #expect(stage.message?.contains("is 2, and it has 3") == true)
  }

  @Test func `a private delivery makes a private session`() {
    var stage = Stage(cats)
    var payload = Payload(activity("view", "1"))
    payload.options.isPrivate = true
    #expect(stage.drop(payload) == .created("Cat"))
    #expect(stage.sessions["#1"]?.isPrivate == true)
    #expect(stage.drop("view", key: "2") == .created("Cat"))
    #expect(stage.sessions["#2"]?.isPrivate == false)
  }
}
