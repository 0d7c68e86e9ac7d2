import SceneModel
import SceneRouting
import Testing

/// The purpose of routing, in ten cases. Each is named by its reason.
@Suite struct AcceptanceTests {
  @Test func `1 what is shown in a window of its own is shown there again, and something else beside it`() throws {
    var stage = try Stage(manifests: cats)
    let cat1 = #"{"activity": {"activityType": "viewCat", "targetContentIdentifier": "cat1"}"#
    #expect(try stage.drop(json: cat1 + #", "options": {"disposition": "new"}}"#) == .created("Cat Detail"))
    #expect(stage.because == .dispositionNew)
    #expect(stage.whyConfiguration == .namesType)
    #expect(try stage.drop(json: cat1 + #", "options": {"disposition": "auto"}}"#) == .activated("#1"))
    #expect(stage.because == .onlyInTier)
    #expect(stage.drop("viewCat", key: "cat2") == .created("Cat Detail"))
    #expect(stage.because == .noCandidate)
    #expect(stage.drop("viewCat", key: "cat2") == .activated("#2"))
    #expect(stage.drop("viewCat", key: "cat1") == .activated("#1"))
  }

  @Test(arguments: [("seated", Happening.created("Cat Detail")), ("uikit", .activated("main"))])
  func `2 a main window that nobody set conditions for takes no cat, unless Apple's rule is asked for`(
    routing: String, expected: Happening
  ) throws {
    let manifest = cats.replacing(#""NSUser"#, with: #""StagedoorRouting": "\#(routing)", "NSUser"#)
    var stage = try Stage(manifests: manifest)
    stage.session("main", "Default", state: .foregroundActive)
    #expect(stage.drop("viewCat", key: "cat1") == expected)
    #expect(stage.because == (routing == "uikit" ? .onlyInTier : .noCandidate))
  }

  @Test func `3 what nobody declares opens nothing`() throws {
    var stage = try Stage(manifests: cats)
    #expect(stage.drop("viewDog", key: "dog1") == .refused(.activityTypeNotDeclared))
    #expect(stage.state.sessionCount == 0)
    #expect(stage.decision?.fact == nil)
    #expect(
      stage.message
        == #"no application declares "viewDog": add it to NSUserActivityTypes in the application's manifest"#)
  }

  @Test(arguments: [
    #"{"UISceneConfigurationName": "Cat Detail", "StagedoorActivityTypes": ["viewCat"]}"#,
    #"{"UISceneConfigurationName": "Family", "StagedoorActivityTypes": ["view.*"]}"#,
    #"{"UISceneConfigurationName": "Whatever"}"#,
    #"{"UISceneConfigurationName": "Others", "StagedoorActivityTypes": ["feedCat"]}"#,
    #"{"UISceneConfigurationName": "Others"}, {"UISceneConfigurationName": "Cat", "StagedoorActivityTypes": ["viewCat"]}"#,
    #"{"UISceneConfigurationName": "One", "StagedoorLaunch": "single"}"#,
    #"{"UISceneConfigurationName": "One", "StagedoorMaximumSessions": 1}"#,
    #"{"UISceneConfigurationName": "Own", "StagedoorCanActivatePredicate": "SELF BEGINSWITH 'cat'"}"#,
    #"{"UISceneConfigurationName": "Own", "StagedoorPrefersToActivatePredicate": "SELF ENDSWITH '1'"}"#,
    #"{"UISceneConfigurationName": "Pictures", "StagedoorContentTypes": ["image/*"]}"#,
  ])
  func `4 a hundred identical drops make one window, whatever the manifest names`(configurations: String) throws {
    for routing in ["seated", "uikit"] {
      for several in ["true", "false"] {
        var stage = try Stage(
          manifests: #"""
            {
              "CFBundleIdentifier": "org.example.Cats",
              "NSUserActivityTypes": ["viewCat", "view.cat", "feedCat"],
              "CFBundleDocumentTypes": [{"LSItemContentTypes": ["image/*"]}],
              "StagedoorRouting": "\#(routing)",
              "UIApplicationSceneManifest": {
                "UIApplicationSupportsMultipleScenes": \#(several),
                "UISceneConfigurations": {"UIWindowSceneSessionRoleApplication": [\#(configurations)]}
              }
            }
            """#)
        var outcomes: [Happening: Int] = [:]
        for _ in 0..<100 { outcomes[stage.drop("viewCat", key: "cat1"), default: 0] += 1 }
        #expect(outcomes[.activated("#1")] == 99)
        #expect(stage.state.sessionCount == 1)
      }
    }
  }

  @Test func `5 the order in which applications and windows are registered never changes an answer`() {
    let applications = [
      app("org.example.A", "view", "edit"),
      app("org.example.B", "view", "read") {
        window("Default"); window("Reader", "read")
      },
      app("org.example.C", "view", "edit", "read", takes: ["image/*"]),
      app("org.example.D", takes: ["image/png"]),
    ]
    func show(_ stage: inout Stage) {
      stage.session("one", of: "org.example.B", showing: activity("view", "1"), state: .background, number: 1)
      stage.session("two", of: "org.example.C", can: "SELF BEGINSWITH '2'", state: .background, number: 2)
      stage.session("three", of: "org.example.C", can: "SELF BEGINSWITH '2'", state: .background, number: 3)
    }
    func answers(_ stage: Stage) -> [ComparableDecision] {
      let types: [(Text, Text?)] = [
        ("view", "1"), ("view", "2"), ("view", "3"), ("view", nil), ("edit", "1"), ("edit", "2"), ("read", "1"),
        ("read", "2"),
      ]
      let payloads = types.map { Payload(activity($0, $1)) } + [Payload(items: [item(as: file("file:///1.png"))])]
      return payloads.map { payload in
        var stage = stage
        _ = stage.play { Request(payload, newSession: $0, listsCandidates: true) }
        return ComparableDecision(stage.decision!)
      }
    }
    var first: [ComparableDecision]?
    for order in permutations(of: applications) {
      for isShownFirst in [true, false] {
        var stage = Stage(isShownFirst ? [] : order)
        show(&stage)
        // In this order, windows are known before their application's manifest.
        if isShownFirst { for application in order { stage.state.register(application) } }
        let said = answers(stage)
        if let first { #expect(said == first) } else { first = said }
      }
    }
    #expect(Set((first ?? []).map(\.outcome)).count == 3, "the cases are too much alike")
    #expect(Set((first ?? []).compactMap(\.explanation.applicationReason)).count == 4)
  }

  @Test func `6 a mixed batch gives every item exactly one outcome`() throws {
    let stage = try Stage(manifests: cats)
    var state = stage.state
    let payload = try Payload(
      json: #"""
        {
          "items": [
            {"activities": [{"activityType": "viewCat", "targetContentIdentifier": "cat1"}]},
            {"activities": [{"activityType": "viewDog", "targetContentIdentifier": "dog1"}]},
            {"activities": [{"activityType": "viewCat", "targetContentIdentifier": "cat1"}]},
            {"representations": [{"type": "text/plain", "text": "miaow"}]},
            {"activities": [{"activityType": "viewCat", "expirationDate": "1970-01-01T00:00:01Z"}]},
            {"activities": [{"activityType": "viewCat", "targetContentIdentifier": "cat2"}]}
          ],
          "options": {"batch": "bestEffort"}
        }
        """#, ReadingRules(types: Stage.types))
    var random = SystemRandomNumberGenerator()
    let batch = decideEach(&state, payload, at: stage.now) { UniqueIdentifier(using: &random) }
    #expect(
      batch.map(\.outcome.name) == ["created", "refused", "activated", "refused", "refused", "created"])
    #expect(
      batch.map(\.outcome.refusedBecause)
        == [nil, .activityTypeNotDeclared, nil, .noActivity, .activityExpired, nil])
    #expect(batch[0].outcome.session == batch[2].outcome.session)
    #expect(state.sessionCount == 2)
  }

  @Test func `7 an application with one scene shows everything in it, and has no second`() throws {
    var stage = try Stage(manifests: cats.replacing("Scenes\": true", with: "Scenes\": false"))
    #expect(stage.drop("viewCat", key: "cat1") == .created("Cat Detail"))
    #expect(stage.because == .noSceneYet)
    stage.change("#1") { $0.canActivatePredicate = "SELF == 'cat1'" }
    #expect(stage.drop("viewCat", key: "cat2") == .activated("#1"))
    #expect(stage.because == .onlyScene)
    #expect(stage.drop("viewCat") == .activated("#1"))
    #expect(stage.drop("viewCat", key: "cat3", in: "Default") == .activated("#1"))
    #expect(stage.drop("viewCat", key: "cat4", .new) == .refused(.multipleScenesNotSupported))
    #expect(stage.state.sessionCount == 1)
  }

  @Test func `8 a placeholder that nobody filled in is warned about`() throws {
    let conditions = ActivationConditions(can: try Predicate("SELF ENDSWITH[c] '.%@'"))
    #expect(conditions.warnings.map(\.kind) == [.placeholder])
    #expect(
      conditions.warnings.first?.description
        == "can, column 18: %@ stands in quotes, so it is compared as it is; the text itself belongs in its place")
    // The condition also means what it says.
    #expect(conditions.can?.evaluate("cat.%@") == true)
    #expect(conditions.can?.evaluate("cat.png") == false)
  }

  @Test func `9 a window that would rather have it beats one that can, and one that cannot beats nobody`() throws {
    var stage = try Stage(manifests: cats)
    stage.session("can", "Cat Detail", can: "TRUEPREDICATE", state: .foregroundActive, activated: 900)
    stage.session("prefers", "Cat Detail", prefers: "SELF == 'cat1'", state: .background, activated: 1)
    stage.session(
      "cannot", "Cat Detail", showing: activity("viewCat", "cat1"), can: "SELF != 'cat1'", prefers: "SELF == 'cat1'",
      state: .foregroundActive, activated: 999)
    #expect(stage.drop("viewCat", key: "cat1") == .activated("prefers"))
    #expect(stage.because == .onlyInTier)
    stage.discard("prefers")
    #expect(stage.drop("viewCat", key: "cat1") == .activated("can"))
    stage.discard("can")
    #expect(stage.drop("viewCat", key: "cat1") == .created("Cat Detail"))
  }

  /// The application itself looks for its inspector, since it knows what the inspector shows; then there is nothing to hand over.
  @Test func `10 an open inspector of the same photograph comes to the front as it is`() throws {
    var stage = try Stage(manifests: gallery)
    stage.session("gallery", state: .foregroundActive)
    #expect(
      stage.drop("openInspector", key: "photo-7", .new, asking: "gallery", by: Sender(hosts: "org.example.Gallery"))
        == .created("Inspector"))
    stage.change("#1") { session in
      session.isConnected = true
      session.hasBeenConnected = true
      session.userActivity = UserActivity(
        activityType: "openInspector", targetContentIdentifier: "photo-7", title: "Zoomed")
      session.userInfo = ["zoom": .double(2)]
    }
    let before = stage.sessions["#1"]
    let session = try #require(before?.identifier)
    #expect(
      try stage.drop(json: #"{"options": {"session": "\#(session)", "presentationStyle": "prominent"}}"#)
        == .activated("#1"))
    #expect(stage.because == .named)
    #expect(stage.decision?.fact == .sessionActivated(session, at: moment(1001), showing: nil))
    #expect(stage.sessions["#1"]?.userActivity == before?.userActivity)
    #expect(stage.sessions["#1"]?.userInfo == before?.userInfo)
    // The inspector still shows the same photograph, and another photograph has an inspector of its own.
    #expect(stage.drop("openInspector", key: "photo-7") == .activated("#1"))
    #expect(stage.drop("openInspector", key: "photo-8") == .created("Inspector"))
  }

  // MARK: Manifests as their authors write them

  private let cats = #"""
    {
      "CFBundleIdentifier": "org.example.Cats",
      "NSUserActivityTypes": ["viewCat"],
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": true,
        "UISceneConfigurations": {
          "UIWindowSceneSessionRoleApplication": [
            {"UISceneConfigurationName": "Default", "UISceneDelegateClassName": "SceneDelegate"},
            {"UISceneConfigurationName": "Cat Detail", "StagedoorActivityTypes": ["viewCat"]}
          ]
        }
      }
    }
    """#

  private let gallery = #"""
    {
      "CFBundleIdentifier": "org.example.Gallery",
      "NSUserActivityTypes": ["openDetail", "openInspector"],
      "UIApplicationSceneManifest": {
        "UIApplicationSupportsMultipleScenes": true,
        "UISceneConfigurations": {
          "UIWindowSceneSessionRoleApplication": [
            {"UISceneConfigurationName": "Default"},
            {"UISceneConfigurationName": "Inspector", "StagedoorActivityTypes": ["openInspector"]}
          ]
        }
      }
    }
    """#
}

extension Outcome {
  var refusedBecause: Refusal.Reason? {
    guard case .refused(let refusal) = self else { return nil }
    return refusal.reason
  }
}

/// A decision in a form that can be compared.
private struct ComparableDecision: Hashable {
  let outcome: Outcome
  let fact: Fact?
  let explanation: Explanation

  init(_ decision: Decision) {
    outcome = decision.outcome
    fact = decision.fact
    explanation = decision.explanation
  }
}

private func permutations<Element>(of elements: [Element]) -> [[Element]] {
  if elements.isEmpty { return [[]] }
  return elements.indices.flatMap { index in
    var rest = elements
    let first = rest.remove(at: index)
    return permutations(of: rest).map { [first] + $0 }
  }
}
