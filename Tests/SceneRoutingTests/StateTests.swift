import SceneModel
import SceneRouting
import Testing

/// The state that a decision reads, and how it changes.
@Suite struct StateTests {
  private let cats = app("org.example.Cats", "view") { window("Default", can: "SELF BEGINSWITH 'cat'") }

  // MARK: Undoing

  @Test func `one that was discarded is there again, with all that it said`() {
    var stage = Stage(cats)
    stage.session("it", can: "SELF == '1'", prefers: "SELF ==")
    let it = stage.identifier("it")
    let undo = stage.state.discard(it)
    #expect(stage.state.sessionCount == 0)
    #expect(stage.drop(items: [], on: "it") == .refused(.noSuchSession))
    stage.state.revert(undo)
    #expect(stage.drop(items: [], on: "it") == .activated("it"))
    _ = stage.play { Request(Payload(activity("view", "1")), newSession: $0, listsCandidates: true) }
    #expect(stage.decision?.explanation.candidates.last?.because.contains("does not parse") == true)
  }

  @Test func `what was set and undone is not set`() {
    var stage = Stage(cats)
    stage.session("it")
    guard var session = stage.sessions["it"] else { return }
    session.canActivatePredicate = "SELF =="
    let undo = stage.state.update(session)
    #expect(stage.drop("view", key: "cat1", .existingOnly) == .refused(.noMatchingSession))
    stage.state.revert(undo)
    _ = stage.play { Request(Payload(activity("view", "cat1")), newSession: $0, listsCandidates: true) }
    #expect(stage.decision?.outcome == .activated(stage.identifier("it")))
    #expect(stage.decision?.explanation.candidates.first?.because == #"SELF BEGINSWITH "cat" is true"#)
  }

  @Test func `a fact about a session that is gone changes nothing, and so does its undoing`() {
    var stage = Stage(cats)
    stage.session("it")
    let it = stage.identifier("it")
    stage.discard("it")
    let undo = stage.state.apply(.sessionActivated(it, at: moment(5), showing: nil))
    #expect(stage.state.sessionCount == 0)
    stage.state.revert(undo)
    #expect(stage.state.sessionCount == 0)
  }

  // MARK: Manifests that come and go

  @Test func `windows are routed by the manifest that is there now`() {
    var stage = Stage(cats)
    stage.session("manifest's")
    stage.session("own", can: "SELF BEGINSWITH 'bird'")
    stage.state.register(app("org.example.Cats", "view") { window("Default", can: "SELF BEGINSWITH 'dog'") })
    #expect(stage.drop("view", key: "cat1", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "dog1", .existingOnly) == .activated("manifest's"))
    #expect(stage.drop("view", key: "bird1", .existingOnly) == .activated("own"))
  }

  @Test func `those of an application without a manifest wait for it`() {
    var stage = Stage(cats)
    stage.session("it")
    stage.state.unregister("org.example.Cats")
    #expect(stage.drop("view", key: "cat1") == .refused(.activityTypeNotDeclared))
    #expect(stage.drop(items: [], to: "org.example.Cats") == .refused(.noSuchApplication))
    #expect(stage.state.sessionCount == 1)
    stage.state.register(cats)
    #expect(stage.drop("view", key: "cat1") == .activated("it"))
  }

  @Test func `those of a configuration that is gone are not found, and come back with it`() {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"), can: "TRUEPREDICATE")
    stage.state.register(app("org.example.Cats", "view") { window("Other") })
    #expect(stage.drop("view", key: "1", .existingOnly, asking: "it") == .refused(.noMatchingSession))
    #expect(stage.drop("view", .existing, asking: "it") == .created("Other"))
    stage.discard("#1")
    stage.state.register(cats)
    #expect(stage.drop("view", key: "1", .existingOnly) == .activated("it"))
  }

  @Test func `a type that is declared no more opens nothing`() {
    var stage = Stage(app("org.example.Cats", "view", "feed"))
    stage.session("it", showing: activity("feed", "1"))
    stage.state.register(app("org.example.Cats", "view"))
    #expect(stage.drop("feed", key: "1") == .refused(.activityTypeNotDeclared))
  }

  /// More configurations than fit into sixteen bits.
  @Test func `an application may have had any number of configurations`() {
    var stage = Stage(cats)
    for number in 0..<33_000 {
      let session = Session(
        identifier: UniqueIdentifier(high: 5, low: UInt64(number)), application: "org.example.Cats",
        configuration: Text("Of version \(number)"), created: moment(0))
      stage.state.update(session)
      stage.state.discard(session.identifier)
    }
    #expect(stage.drop("view", key: "cat1") == .created("Default"))
    #expect(stage.drop("view", key: "cat1") == .activated("#1"))
  }
}
