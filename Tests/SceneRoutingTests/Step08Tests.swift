import SceneModel
import SceneRouting
import Testing

/// 8: the candidates, and which of them want the key.
@Suite struct Step08CandidateTests {
  // MARK: Candidates

  private let cats = app("org.example.Cats", "cat.view", "cat.feed", "dog.view", takes: ["image/*"]) {
    window("Cat", "cat.view")
    window("Also", "cat.view")
    window("Family", "cat.*")
    window("Open")
    window("Feeding", "cat.feed")
    window("Pictures", takes: ["image/*"])
  }

  @Test(
    arguments: [
      ("Cat", true), ("Also", true), ("Family", true), ("Open", true), ("Feeding", false), ("Pictures", false),
    ] as [(Text, Bool)])
  func `they are of a configuration that names the type, a family of it, or nothing`(name: Text, isOne: Bool) {
    var stage = Stage(cats)
    stage.session("it", name, prefers: "SELF == '1'")
    #expect(stage.drop("cat.view", key: "1") == (isOne ? .activated("it") : .created("Cat")))
    #expect(stage.because == (isOne ? .onlyInTier : .noCandidate))
    #expect(stage.configuration == "Cat")
  }

  @Test func `of as many configurations as there may be the last has candidates too`() throws {
    let names = (1...Limits.configurations).map { #"{"UISceneConfigurationName": "\#($0)"}"# }
    var stage = try Stage(
      manifests: #"""
        {
          "CFBundleIdentifier": "org.example.Cats", "NSUserActivityTypes": ["view"],
          "UIApplicationSceneManifest": {
            "UIApplicationSupportsMultipleScenes": true,
            "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [\#(names.joined(separator: ","))]}
          }
        }
        """#)
    stage.session("it", Text("\(Limits.configurations)"), showing: activity("view", "1"))
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
  }

  // MARK: Tiers

  private let open = app("org.example.Cats", "view", "feed")

  @Test func `one that prefers it comes before one that can, and one that cannot beats nobody`() {
    var stage = Stage(open)
    stage.session("can", can: "SELF == '1'", state: .foregroundActive, activated: 8)
    stage.session("prefers", prefers: "SELF == '1'", state: .unattached, activated: 1)
    stage.session(
      "cannot", showing: activity("view", "1"), can: "SELF != '1'", prefers: "SELF == '1'", state: .foregroundActive,
      activated: 9)
    #expect(stage.drop("view", key: "1", asking: "can") == .activated("prefers"))
    #expect(stage.because == .onlyInTier)
    stage.discard("prefers")
    #expect(stage.drop("view", key: "1") == .activated("can"))
    stage.discard("can")
    #expect(stage.drop("view", key: "1") == .created("Default"))
  }

  @Test func `a window that nobody set conditions for takes only what it shows`() {
    var stage = Stage(open)
    stage.session("it", showing: activity("view", "9"), state: .foregroundActive)
    #expect(stage.drop("view", key: "1", asking: "it") == .created("Default"))
    #expect(stage.because == .noCandidate)
  }

  @Test func `what its host sets stands in place of the manifest's until it is put back`() {
    var stage = Stage(
      app("org.example.Cats", "view") { window("Default", can: "SELF == 'a'", prefers: "SELF == 'b'") })
    stage.session("it", can: "SELF == 'c'", prefers: "SELF == 'd'")
    #expect(stage.drop("view", key: "a", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "c", .existingOnly) == .activated("it"))
    stage.change("it") { ($0.canActivatePredicate, $0.prefersToActivatePredicate) = ("", "") }
    stage.change("it") { $0.userActivity = nil }
    #expect(stage.drop("view", key: "c", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "a", .existingOnly) == .activated("it"))
  }
}

/// 8: a payload without a key.
@Suite struct Step08WithoutKeyTests {
  private let cats = app("org.example.Cats", "view", takes: ["image/*"]) {
    window("Default")
    window("Cat", "view")
  }

  @Test(arguments: [.existing, .existingOnly] as [PayloadOptions.Disposition])
  func `existing ones are taken by step 9, no predicate asked`(disposition: PayloadOptions.Disposition) {
    var stage = Stage(cats)
    stage.session("behind", "Cat", prefers: "TRUEPREDICATE", state: .background, activated: 9)
    stage.session("front", "Cat", can: "FALSEPREDICATE", state: .foregroundActive, activated: 1)
    #expect(stage.drop("view", disposition) == .activated("front"))
    #expect(stage.because == .withoutKey)
    #expect(stage.drop("view", disposition, asking: "behind") == .activated("behind"))
    #expect(stage.because == .withoutKey)
  }

  @Test func `only sessions of step 4's configuration count`() {
    var stage = Stage(cats)
    stage.session("main", "Default", can: "TRUEPREDICATE", state: .foregroundActive)
    #expect(stage.drop("view", .existingOnly, asking: "main") == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"there is no session of the configuration "Cat" of org.example.Cats, and with the disposition "#
        + #""existingOnly" none is made"#)
    #expect(stage.drop("view", .existing) == .created("Cat"))
    #expect(stage.because == .withoutKeyNew)
    #expect(stage.drop("view", .existing, in: "Default") == .activated("main"))
  }
}

/// What a session shows.
@Suite struct ShownActivityTests {
  private let cats = app("org.example.Cats", "view", takes: ["image/*"])

  @Test func `but one that would be restored with something else shows that first`() {
    var stage = Stage(cats)
    stage.session("it") {
      $0.stateRestorationActivity = activity("view", "stored")
      $0.isConnected = false
    }
    #expect(stage.drop("view", key: "new", on: "it") == .restored("it"))
    #expect(stage.drop("view", key: "new", .existingOnly) == .refused(.noMatchingSession))
    var other = stage
    #expect(other.drop("view", key: "stored") == .restored("it"))
    // Once it is connected, the session shows what it was given.
    stage.change("it") { $0.isConnected = true }
    #expect(stage.drop("view", key: "stored", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.drop("view", key: "new") == .activated("it"))
  }

  @Test func `a session that was opened for a file is found by it, until an activity says what it shows`() {
    var stage = Stage(cats)
    let picture = [item(as: file("file:///a.png"))]
    #expect(stage.drop(items: picture) == .created("Default"))
    #expect(stage.drop(items: picture) == .activated("#1"))
    #expect(stage.drop("view", key: "1", on: "#1") == .activated("#1"))
    #expect(stage.drop(items: picture) == .created("Default"))
  }
}

/// A stored predicate that no longer parses.
@Suite struct UnreadablePredicateTests {
  private let cats = app("org.example.Cats", "view") {
    window("Default", can: "TRUEPREDICATE", prefers: "TRUEPREDICATE")
  }

  @Test(arguments: [("SELF BETWEEN '.*'", ""), ("", "SELF ==")] as [(Text, Text)])
  func `its session is out of keyed routing, whatever it shows and whatever else it says, and it says why`(
    can: Text, prefers: Text
  ) {
    var stage = Stage(cats)
    stage.session("it", showing: activity("view", "1"), can: can, prefers: prefers)
    _ = stage.play { Request(Payload(activity("view", "1")), newSession: $0, listsCandidates: true) }
    #expect(stage.because == .noCandidate)
    let candidate = stage.decision?.explanation.candidates.first
    #expect(candidate?.tier == .out)
    #expect(candidate?.can == nil)
    #expect(candidate?.because.hasPrefix("a stored predicate of it does not parse: column ") == true)
    // Nor does its session win if another one takes the key.
    #expect(stage.drop("view", key: "1", asking: "it") == .activated("#1"))
    #expect(stage.because == .onlyInTier)
  }
}

/// `StagedoorRouting: uikit`: the literal rule of Apple's documentation.
@Suite struct UIKitRoutingTests {
  private let cats = app("org.example.Cats", "view", "feed", routing: .uikit) {
    window("Cat", "view")
    window("Feeding", "feed")
    window("Default")
  }

  @Test(arguments: ["Cat", "Feeding", "Default"] as [Text])
  func `every session of the role is a candidate, and can take it unless it says otherwise`(name: Text) {
    var stage = Stage(cats)
    stage.session("it", name)
    #expect(stage.drop("view", key: "1") == .activated("it"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.configuration == "Cat")
  }

  @Test func `another manifest changes the rule for the windows that are there`() {
    var stage = Stage(cats)
    stage.session("main", "Default", state: .foregroundActive)
    stage.session("own", "Default", can: "SELF == '2'")
    stage.state.register(app("org.example.Cats", "view"))
    #expect(stage.drop("view", key: "1") == .created("Default"))
    stage.discard("#1")
    stage.state.register(cats)
    #expect(stage.drop("view", key: "1") == .activated("main"))
    #expect(stage.because == .onlyInTier)
  }
}
