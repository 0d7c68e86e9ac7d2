import SceneModel
import SceneRouting
import Testing

/// A payload that names an application and hands over nothing.
@Suite struct ApplicationOnlyTests {
  private let cats = app("org.example.Cats", "view") {
    window("Default")
    window("Cat", "view", atMost: 2)
    window("Single", launch: .single)
    window("Projector", role: externalDisplay)
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

  @Test func `of several that were activated at the same moment the first by step 9`() {
    var stage = Stage(cats)
    stage.session("behind", state: .background, activated: 9, number: 1)
    stage.session("front", "Cat", state: .foregroundInactive, activated: 9, number: 2)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("front"))
    #expect(stage.because == .latest)
  }

  @Test func `where there is none one of the default configuration is made`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .created("Default"))
    #expect(stage.because == .noCandidate)
    #expect(stage.whyConfiguration == .firstOfRole)
    #expect(stage.sessions["#1"]?.userActivity == nil)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("#1"))
  }

  @Test func `of the configuration that is named, if one is`() {
    var stage = Stage(cats)
    stage.session("main", activated: 9)
    #expect(stage.drop(items: [], to: "org.example.Cats", in: "Cat") == .created("Cat"))
    #expect(stage.because == .noCandidate)
    #expect(stage.whyConfiguration == .named)
    stage.session("latest", activated: 5000)
    #expect(stage.drop(items: [], to: "org.example.Cats", in: "Cat") == .activated("#1"))
    #expect(stage.because == .latest)
  }

  @Test func `a new one is made where that is wished`() {
    var stage = Stage(cats)
    stage.session("main")
    #expect(stage.drop(items: [], .new, to: "org.example.Cats") == .created("Default"))
    #expect(stage.because == .dispositionNew)
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", in: "Cat") == .created("Cat"))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", in: "Cat") == .created("Cat"))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", in: "Cat") == .refused(.requestDenied))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", in: "Single") == .created("Single"))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", in: "Single") == .refused(.requestDenied))
    #expect(stage.drop(items: [], to: "org.example.Cats", in: "Single") == .activated("#4"))
  }

  @Test func `it is of the role that is asked for`() {
    var stage = Stage(cats)
    stage.session("main", activated: 9)
    #expect(stage.drop(items: [], to: "org.example.Cats", role: externalDisplay) == .created("Projector"))
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("main"))
    #expect(stage.drop(items: [], to: "org.example.Cats", role: "CarPlay") == .refused(.noSuchConfiguration))
    #expect(stage.drop(items: [], to: "org.example.Cats", in: "Projector") == .refused(.roleMismatch))
  }

  @Test func `where none may be made it is refused`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: [], .existingOnly, to: "org.example.Cats") == .refused(.noMatchingSession))
    #expect(
      stage.message == #"org.example.Cats has no session yet, and with the disposition "existingOnly" none is made"#)
    #expect(stage.drop(items: [], to: "org.example.Dogs") == .refused(.noSuchApplication))
  }

  @Test func `an application with one scene shows that, whatever configuration is named`() {
    var stage = Stage(
      app("org.example.Cats", hasOneScene: true) {
        window("Default")
        window("Other")
      })
    stage.session("only")
    #expect(stage.drop(items: [], to: "org.example.Cats") == .activated("only"))
    #expect(stage.because == .latest)
    #expect(stage.drop(items: [], to: "org.example.Cats", in: "Other") == .activated("only"))
    #expect(stage.because == .onlyScene)
  }

  @Test func `who names nothing and hands over nothing is told what to add`() {
    var stage = Stage(cats)
    #expect(stage.drop(items: []) == .refused(.noActivity))
    #expect(
      stage.message
        == "there is nothing in it: add an activity or an item, or name a session or an application")
  }
}
