import SceneModel
import SceneRouting
import Testing

/// A payload that names an application and hands over nothing.
@Suite struct ApplicationOnlyTests {
  private let cats = app("org.example.Cats", "view") {
    window("Default")
    window("Cat", "view")
  }

  @Test func `the session that was activated last comes to the front, as it is`() {
    var stage = Stage(cats)
    stage.session("front", state: .foregroundActive, activated: 1)
    stage.session("latest", "Cat", showing: activity("view", "1"), can: "FALSEPREDICATE", activated: 9)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("latest"))
    #expect(stage.because == .latest)
    #expect(stage.whyApplication == .named)
    #expect(stage.key == nil)
    #expect(stage.sessions["latest"]?.userActivity?.key == "1")
    #expect(stage.drop(items: [], .existing, to: "org.example.Cats") == .activated("latest"))
    #expect(stage.drop(items: [], .existingOnly, to: "org.example.Cats") == .activated("latest"))
  }

  @Test func `where there is none one of the default configuration is made`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .created("Default"))
    #expect(stage.because == .noCandidate)
    #expect(stage.whyConfiguration == .firstOfRole)
    #expect(stage.sessions["#1"]?.userActivity == nil)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("#1"))
  }

  @Test func `where none may be made it is refused`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: [], .existingOnly, to: "org.example.Cats") == .refused(.noMatchingSession))
    #expect(
      stage.message == #"org.example.Cats has no session yet, and with the disposition "existingOnly" none is made"#)
    #expect(stage.drop(items: [], to: "org.example.Dogs") == .refused(.noSuchApplication))
  }

  @Test func `who names nothing and hands over nothing is told what to add`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: []) == .refused(.noActivity))
    #expect(
      stage.message
        == "there is nothing in it: add an activity or an item, or name a session or an application")
  }
}
