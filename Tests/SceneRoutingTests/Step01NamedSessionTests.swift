import SceneModel
import SceneRouting
import Testing

/// 1: a session that the payload names is chosen.
@Suite struct Step01NamedSessionTests {
  private let cats = app("org.example.Cats", "viewCat") {
    window("Default")
    window("Closed", can: "FALSEPREDICATE")
    window("Each", launch: .new)
  }

  @Test func `it gets what its predicates would not take`() {
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
  }

  @Test func `it gets a type that nobody declares`() {
    var stage = Stage(cats)
    stage.session("main")
    #expect(stage.drop("viewDog", key: "dog1", on: "main") == .activated("main"))
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

  @Test func `its first activity is the routing one`() {
    var stage = Stage(cats)
    stage.session("main")
    let items = [item(as: text("text/plain")), item(activity("viewDog"), activity("viewCat"))]
    #expect(stage.drop(items: items, on: "main") == .activated("main"))
    #expect(stage.routing == RoutingActivity(item: 1, activity: 0, activityType: "viewDog"))
  }

  @Test func `it goes by its identifier in letters of either size, and by its path`() {
    var stage = Stage(cats)
    stage.session("main", number: 0xABCD)
    let names: [Text] = [
      "00000000-0000-0001-0000-00000000abcd", "00000000-0000-0001-0000-00000000ABCD",
      "/org/stagedoor/Interchange1/session/00000000_0000_0001_0000_00000000abcd",
    ]
    for name in names {
      var payload = Payload(activity("viewCat"))
      payload.options.session = name
      #expect(stage.drop(payload) == .activated("main"))
      #expect(stage.because == .named)
    }
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

  @Test func `of several that a sandbox sends the first that is declared routes`() {
    var stage = Stage(cats)
    stage.session("main")
    let items = [item(activity("viewDog", "dog1")), item(activity("viewCat", "cat1"))]
    #expect(stage.drop(items: items, on: "main", by: Sender(isSandboxed: true)) == .activated("main"))
    #expect(stage.routing == RoutingActivity(item: 1, activity: 0, activityType: "viewCat"))
    #expect(stage.key == "cat1")
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
