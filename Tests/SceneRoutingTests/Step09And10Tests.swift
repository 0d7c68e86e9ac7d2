import SceneModel
import SceneRouting
import Testing

/// 9: the best of the highest tier. In each case the later criteria favour the other window.
@Suite struct Step09TieTests {
  private let cats = app("org.example.Cats", "view")

  /// How a window gets into the tier.
  enum Way: CaseIterable, Sendable { case prefers, shows, can }

  /// A window's standing in the order.
  struct Standing: Sendable {
    var state = SceneState.background
    var activated: Int64 = 10
    var created: Int64 = 1
    var number: UInt64 = 1
  }

  private func put(_ name: String, _ way: Way, _ standing: Standing, on stage: inout Stage) {
    stage.session(
      name, showing: way == .shows ? activity("view", "1") : nil, can: way == .can ? "SELF == '1'" : .empty,
      prefers: way == .prefers ? "SELF == '1'" : .empty, state: standing.state, created: standing.created,
      activated: standing.activated, number: standing.number)
  }

  @Test(arguments: Way.allCases)
  func `the requesting session itself`(way: Way) {
    var stage = Stage(cats)
    put("requesting", way, Standing(state: .unattached, activated: 1, created: 9, number: 2), on: &stage)
    put("other", way, Standing(state: .foregroundActive), on: &stage)
    #expect(stage.drop("view", key: "1", asking: "requesting") == .activated("requesting"))
    #expect(stage.because == .requestingSession)
  }

  static let orders: [(first: Standing, second: Standing)] =
    [
      (.foregroundActive, .foregroundInactive), (.foregroundInactive, .background), (.background, .unattached),
      (.foregroundActive, .unattached),
    ].map { near, far in (Standing(state: near, activated: 1, created: 9, number: 2), Standing(state: far)) }
    + [(Standing(activated: 11, created: 9, number: 2), Standing()), (Standing(number: 2), Standing(created: 2))]
    + [(1, 2), (0xF, 0x10), (0x9, 0xA)].map { (Standing(number: $0), Standing(number: $1)) }

  @Test(arguments: orders, Way.allCases)
  func
    `then by state, the nearest to the user first, by the later activation, the earlier creation, and the identifier`(
      order: (first: Standing, second: Standing), way: Way
    )
  {
    var stage = Stage(cats)
    put("second", way, order.second, on: &stage)
    put("first", way, order.first, on: &stage)
    #expect(stage.drop("view", key: "1") == .activated("first"))
    #expect(stage.because == .firstInTier)
  }
}

/// 10: if no session was chosen, a new one is made, up to the limit.
@Suite struct Step10LimitTests {
  private let cats = app("org.example.Cats", "view") {
    window("Default")
    window("Cat", "view", atMost: 2)
  }

  @Test func `what nobody takes gets a session that shows it`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "9"))
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.because == .noCandidate)
    let made = stage.sessions["#1"]
    #expect(made?.application == "org.example.Cats")
    #expect(made?.role == PayloadOptions.defaultRole)
    #expect(made?.userActivity == activity("view", "1"))
    #expect(made?.created == moment(1000))
    #expect(made?.lastActivated == moment(1000))
    #expect(made?.state == .unattached)
    #expect(made?.isConnected == false)
    #expect(made?.hasBeenConnected == false)
  }

  @Test func `beyond the limit it is denied`() {
    var stage = Stage(cats)
    #expect(stage.drop("view", key: "1") == .created("Cat"))
    #expect(stage.drop("view", key: "2") == .created("Cat"))
    #expect(stage.drop("view", key: "3") == .refused(.requestDenied))
    #expect(
      stage.message
        == #"StagedoorMaximumSessions of the configuration "Cat" of org.example.Cats is 2, and it has 2"#)
    #expect(stage.drop("view", key: "3", .new) == .refused(.requestDenied))
    #expect(stage.drop("view", .auto) == .refused(.requestDenied))
    #expect(stage.drop("view", key: "2") == .activated("#2"))
  }

  @Test func `a private delivery makes a private session`() {
    var stage = Stage(cats)
    var payload = Payload(activity("view", "1"))
    payload.options.isPrivate = true
    #expect(stage.drop(payload) == .created("Cat"))
    #expect(stage.sessions["#1"]?.isPrivate == true)
    #expect(stage.drop("view", key: "2") == .created("Cat"))
    #expect(stage.sessions["#2"]?.isPrivate == false)
  }
}

/// `existingOnly` never makes a session: if a rule would make one, there is no matching session.
@Suite struct ExistingOnlyTests {
  private let cats = app("org.example.Cats", "view")

  @Test func `beside a window that does not take it it is refused, and without one of a configuration that is named`() {
    var stage = Stage(cats)
    stage.session("main", showing: activity("view", "9"), state: .foregroundActive)
    #expect(stage.drop("view", key: "1", .existingOnly, asking: "main") == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"no session of org.example.Cats takes "1", and with the disposition "existingOnly" none is made"#)
    stage.discard("main")
    #expect(
      stage.drop(items: [], .existingOnly, to: "org.example.Cats", in: "Default") == .refused(.noMatchingSession))
    #expect(
      stage.message
        == #"there is no session of the configuration "Default" of org.example.Cats, and with the disposition "#
        + #""existingOnly" none is made"#)
  }
}
