import SceneModel
import SceneRouting
import Testing

/// 3: the application, for a payload with an activity of a declared type.
@Suite struct Step03ApplicationTests {
  private let cats = app("org.example.Cats", "view", "viewCat")
  private let dogs = app("org.example.Dogs", "view", "viewDog")
  private let birds = app("org.example.Birds", "view")

  // MARK: A named application

  @Test func `the one that is named comes before all others`() {
    var stage = Stage(cats, dogs, birds)
    stage.state.setPreferredApplication("org.example.Birds", for: "view")
    stage.session("birds", of: "org.example.Birds", prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    #expect(stage.drop("view", key: "1", to: "org.example.Dogs", asking: "birds") == .created("Default"))
    #expect(stage.chosen == ("org.example.Dogs", .named))
  }

  @Test func `one that is named and is not there is refused, as is one without a manifest`() {
    var stage = Stage(cats)
    #expect(stage.drop("view", to: "org.example.Dogs") == .refused(.noSuchApplication))
    #expect(
      stage.message
        == #"there is no application "org.example.Dogs": install a manifest of that name, or register it"#)
    stage.state.register(dogs)
    stage.session("dogs", of: "org.example.Dogs")
    stage.state.unregister("org.example.Dogs")
    #expect(stage.drop("view", to: "org.example.Dogs") == .refused(.noSuchApplication))
    #expect(stage.application == nil)
  }

  @Test func `one that is named has to declare the type`() {
    var stage = Stage(cats, dogs)
    #expect(stage.drop("viewCat", key: "1", to: "org.example.Dogs") == .refused(.activityTypeNotDeclared))
    #expect(
      stage.message
        == #"org.example.Dogs does not declare "viewCat": add it to NSUserActivityTypes in the application's manifest"#)
  }

  @Test func `unless its own host sends it`() {
    var stage = Stage(cats, dogs)
    let host = Sender(hosts: "org.example.Dogs")
    #expect(stage.drop("viewCat", key: "1", to: "org.example.Dogs", by: host) == .created("Default"))
    #expect(stage.whyApplication == .named)
    // The host of another application has no special right here.
    #expect(
      stage.drop("viewCat", key: "2", to: "org.example.Dogs", by: Sender(hosts: "org.example.Cats"))
        == .refused(.activityTypeNotDeclared))
    // Nor does the host mean its own application if it names none.
    #expect(stage.drop("nobody's", by: host) == .refused(.activityTypeNotDeclared))
  }

  @Test func `of what is handed to one that is named the first counts that it declares`() {
    var stage = Stage(cats, dogs)
    let items = [item(activity("viewCat", "1")), item(activity("viewDog", "2"))]
    #expect(stage.drop(items: items, to: "org.example.Dogs") == .created("Default"))
    #expect(stage.routing == RoutingActivity(item: 1, activity: 0, activityType: "viewDog"))
    #expect(stage.key == "2")
    #expect(stage.drop(items: items) == .created("Default"))
    #expect(stage.application == "org.example.Cats")
    #expect(stage.routing?.item == 0)
  }

  // MARK: No named application

  @Test func `the requesting session's comes next, if it declares the type`() {
    var stage = Stage(cats, dogs, birds)
    stage.state.setPreferredApplication("org.example.Birds", for: "view")
    stage.session("birds", of: "org.example.Birds", prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    stage.session("dogs", of: "org.example.Dogs")
    #expect(stage.drop("view", key: "1", asking: "dogs") == .created("Default"))
    #expect(stage.chosen == ("org.example.Dogs", .ofRequestingSession))
    #expect(stage.drop("viewCat", key: "1", asking: "dogs") == .created("Default"))
    #expect(stage.chosen == ("org.example.Cats", .onlyOne))
  }

  @Test func `then the preferred one, while it declares the type`() {
    var stage = Stage(cats, dogs, birds)
    stage.session("birds", of: "org.example.Birds", prefers: "TRUEPREDICATE", state: .foregroundActive, activated: 99)
    stage.state.setPreferredApplication("org.example.Dogs", for: "view")
    stage.state.setPreferredApplication("org.example.Dogs", for: "viewCat")
    #expect(stage.drop("view", key: "1") == .created("Default"))
    #expect(stage.chosen == ("org.example.Dogs", .preferred))
    _ = stage.drop("viewCat", key: "1")
    #expect(stage.whyApplication == .onlyOne)
    stage.state.register(app("org.example.Dogs", "viewDog"))
    _ = stage.drop("view", key: "1")
    #expect(stage.application == "org.example.Birds")
    stage.state.register(dogs)
    _ = stage.drop("view", key: "1")
    #expect(stage.whyApplication == .preferred)
    stage.state.setPreferredApplication(nil, for: "view")
    _ = stage.drop("view", key: "2")
    #expect(stage.whyApplication == .hasPreferringSession)
  }

  @Test func `then the only one that declares it`() {
    var stage = Stage(cats, dogs)
    stage.session("dogs", of: "org.example.Dogs", prefers: "TRUEPREDICATE", activated: 99)
    #expect(stage.drop("viewCat", key: "1") == .created("Default"))
    #expect(stage.chosen == ("org.example.Cats", .onlyOne))
    stage.state.unregister("org.example.Dogs")
    _ = stage.drop("view", key: "1")
    #expect(stage.whyApplication == .onlyOne)
  }

  @Test(arguments: [true, false])
  func `among several one that has a session which prefers it, or shows it`(shows: Bool) {
    var stage = Stage(cats, dogs, birds)
    stage.session("cats", of: "org.example.Cats", can: "SELF == '1'", activated: 99)
    stage.session(
      "dogs", of: "org.example.Dogs", showing: shows ? activity("view", "1") : nil,
      prefers: shows ? .empty : "SELF == '1'", activated: 1)
    #expect(stage.drop("view", key: "1") == .activated("dogs"))
    #expect(stage.whyApplication == .hasPreferringSession)
  }

  @Test func `then the one whose session was activated last`() {
    var stage = Stage(cats, dogs, birds)
    stage.session("cats", of: "org.example.Cats", state: .foregroundActive, activated: 1)
    stage.session("cats too", of: "org.example.Cats", activated: 3)
    stage.session("dogs", of: "org.example.Dogs", activated: 4)
    #expect(stage.drop("view", key: "1") == .created("Default"))
    #expect(stage.chosen == ("org.example.Dogs", .activatedLast))
  }

  @Test func `then the first by identifier, byte by byte`() {
    var stage = Stage(app("org.example.a", "view"), app("org.example.Z", "view"), app("org.example.B.C", "view"))
    _ = stage.drop("view", key: "1")
    #expect(stage.chosen == ("org.example.B.C", .firstByIdentifier))
    // Also where several were activated at the same moment.
    stage = Stage(cats, dogs, birds)
    stage.session("cats", of: "org.example.Cats", activated: 7)
    stage.session("dogs", of: "org.example.Dogs", activated: 7)
    stage.session("birds", of: "org.example.Birds", activated: 6)
    _ = stage.drop("view", key: "1")
    #expect(stage.chosen == ("org.example.Cats", .firstByIdentifier))
  }

  @Test func `types are compared by their bytes`() {
    var stage = Stage(cats)
    for type in ["viewcat", "viewCat ", "VIEWCAT"] as [Text] {
      #expect(stage.drop(type) == .refused(.activityTypeNotDeclared))
    }
  }
}
