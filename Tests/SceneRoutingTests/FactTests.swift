import SceneModel
import SceneRouting
import Testing

/// The changes and the reports of a decision.
@Suite struct FactTests {
  private let cats = app("org.example.Cats", "view", takes: ["image/*"]) {
    window("Default")
    window("Cat", "view")
  }
  private let cat1 = UserActivity(activityType: "view", targetContentIdentifier: "cat1", title: "A cat")

  private func routing(_ configuration: Text = "Cat", _ type: Text = "view", _ key: Text = "cat1") -> Routing {
    Routing(
      application: "org.example.Cats", configuration: configuration, activityType: type, targetContentIdentifier: key)
  }

  @Test func `a session that is made is told with its routing`() throws {
    var stage = Stage(cats)
    #expect(stage.drop(Payload(cat1)) == .created("Cat"))
    let decision = try #require(stage.decision)
    let session = Session(
      identifier: stage.identifier("#1"), application: "org.example.Cats", configuration: "Cat",
      created: moment(1000), userActivity: cat1)
    #expect(decision.outcome == .created(session.identifier))
    #expect(decision.fact == .sessionMade(session))
    #expect(decision.routing == routing())
    #expect(decision.explanation.session == nil)
  }

  @Test func `a session that is there shows the activity`() throws {
    var stage = Stage(cats)
    stage.session("it", "Default", prefers: "SELF == 'cat1'")
    #expect(stage.drop(Payload(cat1)) == .activated("it"))
    let (decision, it) = (try #require(stage.decision), stage.identifier("it"))
    #expect(decision.outcome == .activated(it))
    #expect(decision.fact == .sessionActivated(it, at: moment(1000), showing: .activity(cat1)))
    #expect(decision.routing == routing("Default"))
    #expect(decision.explanation.session == it)
  }

  @Test func `one that was released since is restored, and else the same`() throws {
    var stage = Stage(cats)
    stage.session("it", "Cat", showing: cat1) { $0.isConnected = false }
    #expect(stage.drop(Payload(cat1)) == .restored("it"))
    let (decision, it) = (try #require(stage.decision), stage.identifier("it"))
    #expect(decision.outcome == .restored(it))
    #expect(decision.fact == .sessionActivated(it, at: moment(1000), showing: .activity(cat1)))
    #expect(decision.routing == routing())
  }

  @Test(arguments: [true, false])
  func `without an activity nothing new is shown`(isConnected: Bool) throws {
    var stage = Stage(cats)
    stage.session("it", "Cat", showing: cat1) { $0.isConnected = isConnected }
    #expect(stage.drop(items: [], on: "it") == (isConnected ? .activated("it") : .restored("it")))
    let (decision, it) = (try #require(stage.decision), stage.identifier("it"))
    #expect(decision.fact == .sessionActivated(it, at: moment(1000), showing: nil))
    #expect(decision.routing == routing("Cat", "", ""))
  }

  @Test func `a session made without an activity has none`() throws {
    var stage = Stage(cats)
    #expect(stage.drop(items: [], to: "org.example.Cats") == .created("Default"))
    let decision = try #require(stage.decision)
    let session = Session(
      identifier: stage.identifier("#1"), application: "org.example.Cats", configuration: "Default",
      created: moment(1000))
    #expect(decision.fact == .sessionMade(session))
    #expect(decision.routing == routing("Default", "", ""))
  }

  @Test func `a file that comes without an activity is what the session is known by`() throws {
    var stage = Stage(cats)
    let picture = [item(as: file("file:///a.png"))]
    #expect(stage.drop(items: picture) == .created("Default"))
    #expect(stage.sessions["#1"]?.openedContent == "file:///a.png")
    #expect(stage.sessions["#1"]?.userActivity == nil)
    #expect(stage.drop(items: picture) == .activated("#1"))
    let decision = try #require(stage.decision)
    #expect(
      decision.fact
        == .sessionActivated(stage.identifier("#1"), at: moment(1001), showing: .content("file:///a.png")))
    #expect(decision.routing == routing("Default", "", "file:///a.png"))
  }

  @Test func `the routing that is announced has an activity's identifier, not its page`() {
    var stage = Stage(cats)
    _ = stage.drop(Payload(UserActivity(activityType: "view", webpageURL: "https://example.org/cat1")))
    #expect(stage.decision?.routing == routing("Cat", "view", ""))
  }

  // MARK: Applying facts
}
