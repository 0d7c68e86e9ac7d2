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
    #expect(stage.drop("view", on: "it") == .refused(.noSuchApplication))
    #expect(stage.message == "org.example.Cats, whose session it is, has no manifest at present")
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

  @Test func `of as many configurations as there may be the last has candidates too`() {
    let windows = (1...Limits.configurations).map { window(Text("\($0)")) }
    var stage = Stage(app("org.example.Cats", "view") { windows })
    stage.session("it", Text("\(Limits.configurations)"), showing: activity("view", "1"))
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }

  @Test(arguments: [("SELF BETWEEN '.*'", ""), ("", "SELF ==")] as [(Text, Text)])
  func `a session with a stored predicate that does not parse is out of keyed routing, whatever it shows, and says why`(
    can: Text, prefers: Text
  ) {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "cat1"), can: can, prefers: prefers)
    _ = stage.play { Request(Payload(activity("view", "cat1")), newSession: $0, listsCandidates: true) }
    #expect(stage.because == .noCandidate)
    let candidate = stage.decision?.explanation.candidates.first
    #expect(candidate?.tier == .out)
    #expect(candidate?.can == nil)
    #expect(candidate?.because.hasPrefix("a stored predicate of it does not parse: column ") == true)
    // Nor does its session win if another one takes the key.
    #expect(stage.drop("view", key: "cat1", asking: "it") == .activated("#1"))
    #expect(stage.because == .onlyInTier)
  }

  // MARK: What a session shows

  @Test func `a session that would be restored with something else than it was given shows that first`() throws {
    var stage = Stage(app("org.example.Cats", "view"))
    stage.session("it") {
      $0.stateRestorationActivity = activity("view", "stored")
      $0.isConnected = false
    }
    #expect(stage.drop("view", key: "new", on: "it") == .restored("it"))
    #expect(stage.drop("view", key: "new", .existingOnly) == .refused(.noMatchingSession))
    var other = stage
    #expect(other.drop("view", key: "stored") == .restored("it"))
    // Once it is connected, the session shows what it was given.
    var connected = try #require(stage.sessions["it"])
    connected.isConnected = true
    stage.state.update(connected)
    #expect(stage.drop("view", key: "stored", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "new") == .activated("it"))
  }

  @Test func `a session that was opened for a file is found by it, until an activity says what it shows`() {
    var stage = Stage(app("org.example.Cats", "view", takes: ["image/*"]))
    let picture = [item(as: file("file:///a.png"))]
    #expect(stage.drop(items: picture) == .created("Default"))
    #expect(stage.drop(items: picture) == .activated("#1"))
    #expect(stage.drop("view", key: "1", on: "#1") == .activated("#1"))
    #expect(stage.drop(items: picture) == .created("Default"))
  }
}
