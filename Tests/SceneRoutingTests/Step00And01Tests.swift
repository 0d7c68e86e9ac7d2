import SceneModel
import SceneRouting
import Testing

/// 0: everything is validated before anything changes.
@Suite struct Step00ExpiryTests {
  private func cat(expiring date: Instant) -> UserActivity {
    UserActivity(activityType: "viewCat", targetContentIdentifier: "cat1", expirationDate: date)
  }

  @Test func `an activity whose date has passed is refused, and nothing is made`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    #expect(stage.drop(Payload(cat(expiring: moment(999)))) == .refused(.activityExpired))
    #expect(stage.state.sessionCount == 0)
    #expect(
      stage.message == #"the activity "viewCat" expired at 1970-01-01T00:16:39Z, and it is 1970-01-01T00:16:40Z"#)
    #expect(stage.because == nil)
    #expect(stage.application == nil)
  }

  @Test func `at its date it has not passed, a microsecond later it has`() {
    var stage = Stage(app("org.example.Cats", "viewCat"))
    let now = stage.now
    #expect(stage.drop(Payload(cat(expiring: now))) == .created("Default"))
    stage.now = Instant(microseconds: now.microseconds + 1)
    #expect(stage.drop(Payload(cat(expiring: now))) == .refused(.activityExpired))
  }
}

/// 1: a session that the payload names is chosen.
@Suite struct Step01NamedSessionTests {
  private let cats = app("org.example.Cats", "viewCat") {
    window("Default")
    window("Closed", can: "FALSEPREDICATE")
    window("Each", launch: .new)
  }

  @Test func `it gets what its predicates would not take, and a type that nobody declares`() {
    var stage = Stage(cats)
    stage.session("closed", "Closed")
    stage.session("open", showing: activity("viewCat", "cat1"))
    #expect(stage.drop("viewCat", key: "cat1", on: "closed") == .activated("closed"))
    #expect(stage.because == .named)
    #expect(stage.whyApplication == .ofSession)
    #expect(stage.whyConfiguration == .ofSession)
    #expect(stage.configuration == "Closed")
    #expect(stage.key == "cat1")
    #expect(stage.sessions["closed"]?.userActivity?.key == "cat1")
    #expect(stage.drop("viewDog", key: "dog1", on: "closed") == .activated("closed"))
    #expect(stage.because == .named)
    #expect(stage.routing == RoutingActivity(item: 0, activity: 0, activityType: "viewDog"))
  }

  @Test func `without anything to hand over it comes to the front and shows what it showed`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("viewCat", "cat1"))
    #expect(stage.drop(items: [], on: "main") == .activated("main"))
    #expect(stage.because == .named)
    #expect(stage.key == nil)
    #expect(stage.sessions["main"]?.userActivity?.key == "cat1")
    #expect(stage.sessions["main"]?.lastActivated == moment(1000))
  }

  @Test func `one that was discarded is no session, nor is one that never was`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("viewCat", "cat1"))
    var payload = Payload(activity("viewCat", "cat1"))
    payload.options.session = Text("\(stage.identifier("main"))")
    stage.discard("main")
    #expect(stage.drop(payload) == .refused(.noSuchSession))
    #expect(
      stage.message == #"there is no session "00000000-0000-0001-0000-000000000000", or it was discarded"#)
    payload.options.session = "main"
    #expect(stage.drop(payload) == .refused(.noSuchSession))
    #expect(
      stage.message == #"a session is named by its persistent identifier or its path, and not "main""#)
    #expect(stage.because == nil)
  }

  @Test func `one whose application has no manifest any more waits until it returns`() {
    var stage = Stage(cats)
    stage.session("main")
    stage.state.unregister("org.example.Cats")
    #expect(stage.drop("viewCat", on: "main") == .refused(.noSuchApplication))
    #expect(stage.message == "org.example.Cats, whose session it is, has no manifest at present")
    stage.state.register(cats)
    #expect(stage.drop("viewCat", on: "main") == .activated("main"))
  }

  // MARK: From a sandbox

  @Test func `a sandbox names a session only for what its application declares`() {
    var stage = Stage(cats)
    stage.session("main")
    let sandbox = Sender(isSandboxed: true)
    #expect(stage.drop("viewCat", key: "cat1", on: "main", by: sandbox) == .activated("main"))
    #expect(stage.because == .named)
    #expect(stage.drop("viewDog", key: "dog1", on: "main", by: sandbox) == .refused(.activityTypeNotDeclared))
    #expect(
      stage.message
        == #"org.example.Cats does not declare "viewDog", and a sandbox sends only what is declared: "#
        + "add it to NSUserActivityTypes in the application's manifest")
    #expect(stage.drop(items: [], on: "main", by: sandbox) == .refused(.accessDenied))
  }

  @Test func `what a sandbox sends without an activity has to be of a type that is taken`() {
    var stage = Stage(app("org.example.Gallery", takes: ["public.image"]) { window("Main") })
    stage.session("main")
    let (text, picture) = (item(as: text("text/plain")), item(as: file("file:///cat.png")))
    let sandbox = Sender(isSandboxed: true)
    #expect(stage.drop(items: [text], on: "main", by: sandbox) == .refused(.activityTypeNotDeclared))
    #expect(stage.drop(items: [text, picture], on: "main", by: sandbox) == .activated("main"))
    #expect(stage.drop(items: [text], on: "main") == .activated("main"))
  }
}

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
