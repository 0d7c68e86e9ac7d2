import SceneModel
import SceneRouting
import Testing

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

  @Test func `it is of the configuration of step 4, or of the one that is named`() {
    var stage = Stage(
      app("org.example.Cats", "view") {
        window("Default")
        window("Cat", "view")
      })
    #expect(stage.drop("view", key: "1", .new) == .created("Cat"))
    #expect(stage.drop("view", key: "1", .new, in: "Default") == .created("Default"))
    #expect(stage.because == .dispositionNew)
  }
}
