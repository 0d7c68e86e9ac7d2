import SceneModel
import SceneRouting
import Testing

/// 8: a payload without a key.
@Suite struct Step08WithoutKeyTests {
  private let cats = app("org.example.Cats", "view", takes: ["image/*"]) {
    window("Default")
    window("Cat", "view")
  }

  @Test func `auto makes a session each time`() {
    var stage = Stage(cats)
    stage.session("it", "Cat", showing: activity("view"), can: "TRUEPREDICATE", prefers: "TRUEPREDICATE")
    for _ in 0..<2 {
      #expect(stage.drop("view", asking: "it") == .created("Cat"))
      #expect(stage.because == .withoutKeyNew)
    }
  }

  @Test(arguments: [.existing, .existingOnly] as [PayloadOptions.Disposition])
  func `existing ones are taken by step 9, no predicate asked`(disposition: PayloadOptions.Disposition) {
    var stage = Stage(cats)
    stage.session("behind", "Cat", prefers: "TRUEPREDICATE", state: .background, activated: 9)
    stage.session("front", "Cat", can: "FALSEPREDICATE", state: .foregroundActive, activated: 1)
    #expect(stage.drop("view", disposition) == .activated("front"))
    #expect(stage.because == .withoutKey)
    #expect(stage.drop("view", disposition, asking: "behind") == .activated("behind"))
    #expect(stage.because == .withoutKey)
  }

  @Test func `only sessions of step 4's configuration count`() {
    var stage = Stage(cats)
    stage.session("main", "Default", can: "TRUEPREDICATE", state: .foregroundActive)
    #expect(stage.drop("view", .existingOnly, asking: "main") == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"there is no session of the configuration "Cat" of org.example.Cats, and with the disposition "#
        + #""existingOnly" none is made"#)
    #expect(stage.drop("view", .existing) == .created("Cat"))
    #expect(stage.because == .withoutKeyNew)
    #expect(stage.drop("view", .existing, in: "Default") == .activated("main"))
  }

  @Test func `an empty key is none`() {
    var stage = Stage(cats)
    stage.session("it", "Cat", can: "SELF == ''")
    #expect(stage.drop("view", key: "") == .created("Cat"))
    #expect(stage.because == .withoutKeyNew)
    #expect(stage.drop("view", key: "", .existing, asking: "it") == .activated("it"))
    #expect(stage.because == .withoutKey)
  }
}
