import SceneModel
import SceneRouting
import Testing

/// `existingOnly` never makes a session: if a rule would make one, there is no matching session.
@Suite struct ExistingOnlyTests {
  private let cats = app("org.example.Cats", "view", "each", "one", "few", takes: ["image/*"]) {
    window("Default")
    window("Each", "each", launch: .new)
    window("One", "one", launch: .single)
    window("Few", "few", atMost: 1)
  }

  @Test(
    arguments: [
      ("view", "1"), ("view", nil), ("each", "1"), ("each", nil), ("one", "1"), ("one", nil), ("few", "1"),
      ("few", nil),
    ] as [(Text, Text?)])
  func `where a rule would make one it is refused`(type: Text, key: Text?) {
    var stage = Stage(cats)
    #expect(stage.drop(type, key: key, .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.message?.hasSuffix(#", and with the disposition "existingOnly" none is made"#) == true)
    #expect(stage.because == nil)
    #expect(stage.state.sessionCount == 0)
    // The same drop with another disposition makes one.
    guard case .created = stage.drop(type, key: key, .existing) else {
      Issue.record("\(type) \(key ?? "") makes none anyhow")
      return
    }
  }

  @Test func `beside a window that does not take it it is refused too`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "9"), state: .foregroundActive)
    #expect(stage.drop("view", key: "1", .existingOnly, asking: "main") == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"no session of org.example.Cats takes "1", and with the disposition "existingOnly" none is made"#)
  }
}
