import DBus
import DBusTestSupport
import SceneTestSupport
import StagedoorKit
import Testing

/// Scenes do what they say, also when their delegates do as they like.
@MainActor @Suite struct SceneLifeTests {
  // MARK: The model

  /// Every phase that can be reached, with every goal that is wanted there in every order.
  private static func lives() -> Set<SceneLife> {
    var found: Set<SceneLife> = [SceneLife()]
    var new = Array(found)
    while let life = new.popLast() {
      var next: [SceneLife] = []
      func add(_ change: (inout SceneLife) -> Void) {
        var life = life
        change(&life)
        next.append(life)
      }
      for goal in SceneLife.Goal.allCases { add { $0.want(goal) } }
      add { $0.connect() }
      add { $0.refuse() }
      add { _ = $0.next() }
      for life in next where found.insert(life).inserted { new.append(life) }
    }
    return found
  }

  @Test func `every life reaches its goal in a few calls, and stays there`() {
    for life in Self.lives() where life.phase != .connecting {
      var life = life
      var calls: [SceneLife.Call] = []
      while let call = life.next() { calls.append(call) }
      #expect(calls.count <= 4, "\(calls)")
      #expect(Set(calls).count == calls.count, "\(calls)")
      let expected: ActivationState =
        switch life.goal {
        case .inactive: .foregroundInactive
        case .active: .foregroundActive
        case .background: .background
        case .ended: .unattached
        }
      #expect(life.state == expected)
    }
  }

  @Test func `nothing follows the end, and no wish revives a scene`() {
    for life in Self.lives() where life.isEnding {
      var life = life
      var calls: [SceneLife.Call] = []
      while let call = life.next() { calls.append(call) }
      #expect(calls.dropLast().allSatisfy { $0 != .didDisconnect })
      for goal in SceneLife.Goal.allCases {
        life.want(goal)
        #expect(life.next() == nil)
      }
    }
  }

  @Test func `a scene comes to the foreground and leaves it in turns`() {
    for life in Self.lives() where life.phase == .connected || life.phase == .background {
      for goal in SceneLife.Goal.allCases where !life.isEnding {
        var life = life
        life.want(goal)
        var isInFront = false
        while let call = life.next() {
          if call == .willEnterForeground { isInFront = true }
          if call == .didEnterBackground || call == .didBecomeActive || call == .willResignActive {
            #expect(isInFront, "\(call)")
          }
        }
      }
    }
  }

  // MARK: Scenes

  @Test(.stage) func `what an observer makes of a change is written too`() async throws {
    let session = service.addSession(1)
    application.whenConnecting = { scene, _ in
      scene.onChange(of: \.userActivity) { [weak scene] activity in
        #expect(Scene.current === scene)
        scene?.title = activity?.targetContentIdentifier ?? ""
      }
    }
    try await service.connect(session, Options.activity("cat1"))
    try await service.resume(session, Options.activity("cat2"))
    try await service.wait(for: "1: Title = cat2")
    // The library fills in the activity while it writes it.
    application.scene(of: session)?.onChange(of: \.userActivity) { [weak application] activity in
      application?.scene(of: session)?.userInfo = ["saved": .bool(activity?.userInfo["saved"] == true)]
    }
    application.scene(of: session)?.userActivity?.needsSave = true
    try await service.wait(for: #"1: UserInfo = {"saved":true}"#)
  }

  @Test(.stage)
  func `a new scene that is released as it comes to the foreground hears its end, and refuses`() async throws {
    let session = service.addSession(1)
    application.whenCalled = { name, scene in if name == "willEnterForeground" { scene.release() } }
    await #expect(throws: CallError.self) { try await service.connect(session, Options.activity("cat1")) }
    #expect(
      application.taken() == [
        "willConnect Main (unattached)", "willEnterForeground (unattached)", "didEnterBackground (background)",
        "stateRestorationActivity (background)", "didDisconnect standard (unattached)",
      ])
    application.whenCalled = { _, _ in }
    // Nothing of that scene is in the way of the next.
    try await service.connect(session, Options.activity("cat2"))
    application.scene(of: session)?.title = "Tom"
    try await service.wait(for: "1: Title = Tom")
  }

  @Test func `a scene that is ended while it takes a delivery takes no more of it`() async throws {
    let options = """
      {"delivery": "\(PlayedService.delivery)", "attempt": 1,
       "userActivities": [{"activityType": "viewCat"}, {"activityType": "viewCat"}]}
      """
    try await withScene { service, application, scene in
      application.whenContinuing = { scene, _ in scene.release() }
      _ = application.taken()
      await #expect(throws: CallError.self) { try await service.resume(scene.id, options) }
      #expect(application.taken().count { $0.hasPrefix("continue") } == 1)
    }
  }

  @Test(.stage) func `the state that a toolkit asked for last is the state`() async throws {
    let session = service.addSession(1)
    application.whenConnecting = { scene, _ in
      scene.title = "this takes a while to write"
      scene.enter(.foregroundActive)
      Task { scene.enter(.background) }
    }
    try await service.connect(session, Options.none)
    #expect(application.scene(of: session)?.activationState == .background)
    try await service.wait(for: "1: SetState background")
  }

  @Test(.stage) func `the newest wish counts, also of a delegate`() async throws {
    application.windowsTakeFocus = false
    let sessions = [service.addSession(1), service.addSession(2)]
    for session in sessions { try await service.connect(session, Options.none) }
    let (one, other) = (
      try #require(application.scene(of: sessions[0])), try #require(application.scene(of: sessions[1]))
    )
    one.enter(.foregroundActive)
    // The window that loses the focus wants it back at once.
    application.whenCalled = { name, scene in if name == "willResignActive" { scene.enter(.foregroundActive) } }
    other.enter(.foregroundActive)
    #expect([one, other].map(\.activationState) == [.foregroundActive, .foregroundInactive])
    application.whenCalled = { _, _ in }
  }

  @Test(.scene(Options.activity("cat1")), arguments: [true, false], ["write", "release", "destroy"])
  func `a delegate that ends its scene while it fills in the activity is asked once`(
    isReleased: Bool, _ cause: String
  ) async throws {
    _ = application.taken()
    var asked = 0
    application.whenCalled = { [unowned application] name, scene in
      guard name == "willSave" else { return }
      asked += 1
      // Without this limit a library that asks again never ends.
      if asked > 3 { return }
      if isReleased {
        scene.release()
      } else {
        application.requestSceneSessionDestruction(
          scene.session, options: .init(windowDismissalAnimation: .commit))
      }
    }
    scene.userActivity?.needsSave = true
    switch cause {
    case "write": break
    case "release": scene.release()
    default: application.requestSceneSessionDestruction(scene.session)
    }
    let isGone = !isReleased || cause == "destroy"
    let animation = cause == "destroy" ? "standard" : "commit"
    try await service.wait(for: isGone ? "1: Destroy \(animation)" : "1: Disconnect")
    #expect(asked == 1)
    #expect(application.taken().map { $0.prefix(8) } == ["willSave", "didEnter", "stateRes", "didDisco"])
    #expect(scene.dismissalAnimation == (isReleased ? .standard : .commit))
    if !isGone { #expect(service.known[scene.id]["UserActivity"]?.contains(#""saved":true"#) == true) }
    application.whenCalled = { _, _ in }
  }

  @Test(.scene()) func `observers of a scene that one of them ends hear nothing more`() async throws {
    var heard: [String] = []
    scene.observe("Sold") { _ in
      heard.append("first")
      scene.release()
    }
    scene.observe("Sold") { _ in heard.append("second") }
    application.post("Sold")
    #expect(heard == ["first"])
  }
}
