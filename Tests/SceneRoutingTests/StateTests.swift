import SceneModel
import SceneRouting
import Testing

/// The state that a decision reads, and how it changes.
@Suite struct StateTests {
  private let cats = app("org.example.Cats", "view") { window("Default", can: "SELF BEGINSWITH 'cat'") }

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
