import SceneModel
import SceneRouting
import Testing

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

  @Test func `single makes one only where there is none`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("one", "1"), prefers: "TRUEPREDICATE")
    #expect(stage.drop("one", key: "1") == .created("One"))
    #expect(stage.because == .policySingleNoneYet)
    #expect(stage.drop("one", key: "2") == .activated("#1"))
    stage.discard("#1")
    #expect(stage.drop("one", key: "1", .new) == .created("One"))
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

  @Test func `where an older manifest left several the first by step 9 takes it`() {
    var stage = Stage(cats)
    stage.session("behind", "One", showing: activity("one", "1"), state: .background, activated: 9)
    stage.session("front", "One", state: .foregroundInactive, activated: 1)
    #expect(stage.drop("one", key: "1") == .activated("front"))
    #expect(stage.because == .policySingle)
    #expect(stage.drop("one", key: "1", asking: "behind") == .activated("behind"))
    #expect(stage.drop("one", key: "1", .new) == .refused(.requestDenied))
  }

  @Test func `a policy holds for its own configuration only`() {
    var stage = Stage(cats)
    stage.session("one", "One", showing: activity("view", "1"))
    stage.session("each", "Each", showing: activity("view", "1"))
    #expect(stage.drop("view", key: "1") == .created("Default"))
    #expect(stage.drop("view", key: "1", in: "One") == .activated("one"))
    #expect(stage.because == .policySingle)
    #expect(stage.drop("view", key: "1", in: "Each") == .created("Each"))
  }
}
