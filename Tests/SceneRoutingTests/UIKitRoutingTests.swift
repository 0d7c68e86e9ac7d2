import SceneModel
import SceneRouting
import Testing

/// `StagedoorRouting: uikit`: the literal rule of Apple's documentation.
@Suite struct UIKitRoutingTests {
  private let cats = app("org.example.Cats", "view", "feed", routing: .uikit) {
    window("Cat", "view")
    window("Feeding", "feed")
    window("Default")
    window("Closed", "feed", can: "FALSEPREDICATE")
    window("Projector", role: externalDisplay)
  }

  @Test(arguments: ["Cat", "Feeding", "Default"] as [Text])
  func `every session of the role is a candidate, and can take it unless it says otherwise`(name: Text) {
    var stage = Stage(cats)
    stage.session("it", name)
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.configuration == "Cat")
  }

  @Test func `one that says otherwise does not take it`() {
    var stage = Stage(cats)
    stage.session("host said so", "Cat", can: "SELF == '2'")
    stage.session("manifest said so", "Closed")
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.because == .noCandidate)
    stage.change("manifest said so") { $0.canActivatePredicate = "TRUEPREDICATE" }
    stage.discard("#1")
    #expect(stage.drop("view", key: "1") == .activated("manifest said so"))
  }

  @Test func `what a session shows is not asked`() {
    var stage = Stage(cats)
    stage.session("shows", "Cat", showing: activity("view", "1"), state: .background, activated: 1)
    stage.session("front", "Feeding", state: .foregroundActive)
    #expect(stage.drop("view", key: "1") == .activated("front"))
    #expect(stage.because == .firstInTier)
  }

  @Test func `one that prefers it comes first all the same`() {
    var stage = Stage(cats)
    stage.session("prefers", "Feeding", prefers: "SELF == '1'", state: .unattached)
    stage.session("front", "Cat", state: .foregroundActive)
    #expect(stage.drop("view", key: "1") == .activated("prefers"))
    #expect(stage.because == .onlyInTier)
  }

  @Test func `another role is not looked at`() {
    var stage = Stage(cats)
    stage.session("beamer", "Projector", role: externalDisplay)
    #expect(stage.drop("view", key: "1") == .created("Cat"))
  }

  @Test func `of a configuration that is named only its own are`() {
    var stage = Stage(cats)
    stage.session("front", "Default", state: .foregroundActive)
    #expect(stage.drop("view", key: "1", in: "Cat") == .created("Cat"))
    #expect(stage.because == .noCandidate)
  }

  @Test func `a new one is made where that is wished`() {
    var stage = Stage(cats)
    stage.session("front", "Cat", state: .foregroundActive)
    #expect(stage.drop("view", key: "1", .new) == .created("Cat"))
    #expect(stage.because == .dispositionNew)
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
