import SceneModel
import SceneRouting
import Testing

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

  @Test func `a sandbox names a session only for what its application declares`() {
    var stage = stage()
    #expect(stage.drop("view", key: "cat2", on: "it", by: stranger) == .activated("it"))
    #expect(stage.drop("sing", key: "cat1", on: "it", by: stranger) == .refused(.activityTypeNotDeclared))
    #expect(stage.drop(items: [], on: "it", by: stranger) == .refused(.accessDenied))
  }

  @Test func `what a sandbox sends without an activity has to be of a type that is taken`() {
    var stage = stage()
    let (text, picture) = (item(as: text("text/plain")), item(as: file("file:///cat.png")))
    #expect(stage.drop(items: [text], on: "it", by: stranger) == .refused(.activityTypeNotDeclared))
    #expect(stage.drop(items: [text, picture], on: "it", by: stranger) == .activated("it"))
    #expect(stage.drop(items: [text], on: "it") == .activated("it"))
  }
}
