import SceneModel
import SceneRouting
import Testing

/// `StagedoorRouting: uikit`: the literal rule of Apple's documentation.
@Suite struct UIKitRoutingTests {
  private let cats = app("org.example.Cats", "view", "feed", routing: .uikit) {
    window("Cat", "view")
    window("Feeding", "feed")
    window("Default")
  }

  @Test(arguments: ["Cat", "Feeding", "Default"] as [Text])
  func `every session of the role is a candidate, and can take it unless it says otherwise`(name: Text) {
    var stage = Stage(cats)
    stage.session("it", name)
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.configuration == "Cat")
  }

  @Test func `another manifest changes the rule for the windows that are there`() {
    var stage = Stage(cats)
    stage.session("main", "Default", state: .foregroundActive)
    stage.session("own", "Default", can: "SELF == '2'")
    stage.state.register(app("org.example.Cats", "view"))
    #expect(stage.drop("view", key: "1") == .created("Default"))
    stage.discard("#1")
    stage.state.register(cats)
    #expect(stage.drop("view", key: "1") == .activated("main"))
    #expect(stage.because == .onlyInTier)
  }
}
