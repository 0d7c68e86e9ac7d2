import SceneModel
import SceneRouting
import Testing

/// A hidden representation is absent for others: it is neither listed nor refused.
@Suite struct VisibilityTests {
  private let cats = app("org.example.Cats", "view", "viewCat", takes: ["image/*"])
  private let dogs = app("org.example.Dogs", "view", "viewDog", takes: ["image/png", "text/plain"])
  private static let hidden: [Visibility] = [.application, .ownProcess]

  @Test(arguments: hidden)
  func `an activity that is hidden opens a window of the sender's own application only`(visibility: Visibility) {
    var stage = Stage(cats, dogs)
    stage.session("dogs", of: "org.example.Dogs", prefers: "TRUEPREDICATE", activated: 99)
    let mine = [item(activity("view", "1", visibility: visibility))]
    #expect(stage.drop(items: mine, by: Sender(hosts: "org.example.Cats")) == .created("Default"))
    #expect(stage.chosen == ("org.example.Cats", .onlyOne))
    #expect(stage.drop(items: mine, by: Sender(hosts: "org.example.Dogs")) == .activated("dogs"))
  }

  @Test(arguments: hidden)
  func `who hosts nothing has no application of its own`(visibility: Visibility) {
    var stage = Stage(cats)
    let items = [item(activity("view", "1", visibility: visibility))]
    #expect(stage.drop(items: items) == .refused(.noActivity))
    #expect(stage.message?.contains("view\"") == false)
    #expect(stage.drop(items: items, to: "org.example.Cats") == .refused(.noActivity))
  }

  @Test(arguments: hidden)
  func `it is passed over for the next that can be seen`(visibility: Visibility) {
    var stage = Stage(cats, dogs)
    let items = [item(activity("viewCat", "1", visibility: visibility), activity("viewDog", "2"))]
    #expect(stage.drop(items: items, by: Sender(hosts: "org.example.Dogs")) == .created("Default"))
    #expect(stage.routing == RoutingActivity(item: 0, activity: 1, activityType: "viewDog"))
    #expect(stage.key == "2")
  }

  @Test(arguments: hidden)
  func `it is hidden from the application that is named, which is therefore not told to declare it`(
    visibility: Visibility
  ) {
    var stage = Stage(cats, dogs)
    let items = [item(activity("viewDog", "1", visibility: visibility))]
    let sender = Sender(hosts: "org.example.Cats")
    #expect(stage.drop(items: items, to: "org.example.Dogs", by: sender) == .refused(.noActivity))
    #expect(stage.drop(items: items, to: "org.example.Cats", by: sender) == .created("Default"))
    #expect(stage.drop(items: items, by: sender) == .refused(.activityTypeNotDeclared))
    #expect(stage.message?.hasPrefix(#"org.example.Cats does not declare "viewDog""#) == true)
  }

  @Test(arguments: hidden)
  func `it is hidden from a session that is named, which comes to the front without it`(visibility: Visibility) {
    var stage = Stage(cats, dogs)
    stage.session("dogs", of: "org.example.Dogs")
    let items = [item(activity("viewDog", "1", visibility: visibility))]
    #expect(stage.drop(items: items, on: "dogs", by: Sender(hosts: "org.example.Cats")) == .activated("dogs"))
    #expect(stage.routing == nil)
    #expect(stage.sessions["dogs"]?.userActivity == nil)
    #expect(stage.drop(items: items, on: "dogs", by: Sender(hosts: "org.example.Dogs")) == .activated("dogs"))
    #expect(stage.sessions["dogs"]?.userActivity?.key == "1")
  }

  @Test(arguments: hidden)
  func `so is what an item can be shown as`(visibility: Visibility) {
    var stage = Stage(cats, dogs)
    let things = [item(as: file("file:///a.png", visibility: visibility), file("file:///a.txt", "text/plain"))]
    #expect(stage.drop(items: things) == .created("Default"))
    #expect(stage.application == "org.example.Dogs")
    #expect(stage.decision?.explanation.contentType == "text/plain")
    #expect(stage.key == "file:///a.txt")
    #expect(stage.drop(items: things, by: Sender(hosts: "org.example.Cats")) == .created("Default"))
    #expect(stage.application == "org.example.Cats")
    #expect(stage.decision?.explanation.contentType == "image/png")
  }

  @Test func `nothing but hidden things is nothing`() {
    var stage = Stage(dogs)
    let things = [item(as: file("file:///a.png", visibility: .application))]
    #expect(stage.drop(items: things) == .refused(.noActivity))
    #expect(
      stage.message
        == "there is no activity in it, and nothing else, that every application may see: look at `visibility`")
    #expect(stage.drop(items: things, to: "org.example.Dogs") == .refused(.noActivity))
    #expect(
      stage.message
        == "there is no activity in it, and nothing else, that org.example.Dogs may see: look at `visibility`")
    #expect(stage.drop(items: [item()]) == .refused(.noActivity))
    #expect(
      stage.message
        == "there is no activity in it, and nothing else that could be routed: add an activity or a representation")
  }
}

/// What a sandbox may send to another application, and what arrives there.
@Suite struct SandboxedSenderTests {
  private let cats = app("org.example.Cats", "view", "edit", takes: ["image/*"])
  private let stranger = Sender(isSandboxed: true, application: "org.example.Mail")
  private let own = Sender(isSandboxed: true, application: "org.example.Cats")

  private func stage() -> Stage {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "cat1"))
    return stage
  }

  @Test func `a stranger brings no window to the front with nothing that its host may see`() {
    var stage = stage()
    let nothing: [[Item]] = [
      [], [item()], [item(activity("view", "a", visibility: .application))],
      [item(as: text("image/png", visibility: .ownProcess))],
    ]
    for items in nothing {
      #expect(stage.drop(items: items, on: "it", by: stranger) == .refused(.accessDenied))
      #expect(stage.drop(items: items, on: "it", by: Sender(isSandboxed: true)) == .refused(.accessDenied))
      #expect(stage.drop(items: items, on: "it", by: own) == .activated("it"))
      #expect(stage.drop(items: items, on: "it") == .activated("it"))
    }
    #expect(stage.drop(items: [], to: "org.example.Cats", by: stranger) == .refused(.accessDenied))
    #expect(stage.drop(items: [], .new, to: "org.example.Cats", by: stranger) == .refused(.accessDenied))
    #expect(stage.drop(items: [], to: "org.example.Cats", by: own) == .activated("it"))
  }

  @Test func `undeclared types of a stranger do not come along with declared ones`() {
    let things = [
      item(
        activity("sing"), activity("edit", "cat1"), as: text("application/zip"), text("image/png"), text("text/plain")),
      item(activity("sing"), as: text("text/plain")),
    ]
    let left = [item(activity("edit", "cat1"), as: text("image/png")), item()]
    for session in ["it", nil] {
      var stage = stage()
      _ = stage.drop(items: things, on: session, by: stranger)
      #expect(stage.decision?.passedOn?.payload.items == left)
      #expect(stage.decision?.passedOn?.routingActivity == RoutingActivity(item: 0, activity: 0, activityType: "edit"))
      // The explanation is about the payload as the sender handed it in.
      #expect(stage.routing == RoutingActivity(item: 0, activity: 1, activityType: "edit"))
    }
  }

  @Test func `all of it arrives from the application's own sandbox, from outside one, and where all of it is declared`()
  {
    var stage = stage()
    let things = [item(activity("view", "cat1"), activity("sing"), as: text("text/plain"))]
    for sender in [own, Sender(hosts: "org.example.Cats", isSandboxed: true), Sender()] {
      #expect(stage.drop(items: things, on: "it", by: sender) == .activated("it"))
      #expect(stage.decision?.passedOn == nil)
    }
    let declared = [item(activity("view", "cat1"), as: text("image/png"))]
    #expect(stage.drop(items: declared, on: "it", by: stranger) == .activated("it"))
    #expect(stage.decision?.passedOn == nil)
  }
}
