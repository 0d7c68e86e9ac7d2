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

  @Test(arguments: [true, false])
  func `a session that is there shows the activity, and is restored if it was released since`(isConnected: Bool) throws
  {
    var stage = Stage(cats)
    stage.session("it", "Default", prefers: "SELF == 'cat1'") { $0.isConnected = isConnected }
    #expect(stage.drop(Payload(cat1)) == (isConnected ? .activated("it") : .restored("it")))
    let (decision, it) = (try #require(stage.decision), stage.identifier("it"))
    #expect(decision.outcome == (isConnected ? .activated(it) : .restored(it)))
    #expect(decision.fact == .sessionActivated(it, at: moment(1000), showing: .activity(cat1)))
    #expect(decision.routing == routing("Default"))
    #expect(decision.explanation.session == it)
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
}

/// Each reason to refuse: its name on the bus, and a message that is enough to correct the request.
@Suite struct RefusalTests {
  /// A drop that is refused, what its message says, and the drop that is not.
  struct Mistake: Sendable {
    typealias Change = @Sendable (inout Payload) -> Void

    let reason: Refusal.Reason
    var type: Text = "view"
    var key: Text?
    let wrong: Change
    var right: Change = { _ in }
    var sender = Sender()
    /// The parts of the message: what was wrong, and what to do or what there is instead.
    let says: [String]

    func payload(_ change: Change) -> Payload {
      var payload = Payload(activity(type, key))
      change(&payload)
      return payload
    }
  }

  static let mistakes = [
    Mistake(
      reason: .noActivity, wrong: { $0.items = [item(as: text("application/zip"))] },
      says: ["no activity", "\"application/zip\"", "CFBundleDocumentTypes"]),
    Mistake(
      reason: .activityTypeNotDeclared, wrong: { $0.items = [item(activity("View"))] },
      says: ["no application declares \"View\"", "NSUserActivityTypes"]),
    Mistake(
      reason: .activityExpired, wrong: { $0.items[0].activities[0].expirationDate = moment(1) },
      says: ["\"view\"", "1970-01-01T00:00:01Z", "it is 1970-01-01T00:16:40Z"]),
    Mistake(
      reason: .noSuchApplication, wrong: { $0.options.application = "org.example.cats" },
      right: { $0.options.application = "org.example.Cats" }, says: ["\"org.example.cats\"", "register"]),
    Mistake(
      reason: .noSuchSession, wrong: { $0.options.session = "00000000-0000-0000-0000-000000000000" },
      right: { $0.options.session = "00000000-0000-0001-0000-000000000000" },
      says: ["\"00000000-0000-0000-0000-000000000000\"", "discarded"]),
    Mistake(
      reason: .noSuchConfiguration, wrong: { $0.options.configuration = "cat" },
      right: { $0.options.configuration = "Cat" },
      says: ["\"cat\"", "org.example.Cats", "\"Default\", \"Cat\", \"One\" and \"Slow\""]),
    Mistake(
      reason: .noMatchingSession, key: "1", wrong: { $0.options.disposition = .existingOnly },
      says: ["\"1\"", "org.example.Cats", "\"existingOnly\""]),
    Mistake(
      reason: .multipleScenesNotSupported, type: "small", key: "1", wrong: { $0.options.disposition = .new },
      says: ["org.example.Small", "UIApplicationSupportsMultipleScenes", "\"new\""]),
    Mistake(
      reason: .requestDenied, type: "one", key: "1", wrong: { $0.options.disposition = .new },
      says: ["\"One\"", "org.example.Cats", "StagedoorLaunch", "\"new\""]),
    Mistake(
      reason: .limitsExceeded, type: "slow", key: "cat1", wrong: { $0.items = [item(activity("slow", longestKey))] },
      says: ["\"aaaa", "12800 bytes", "4194304", "shorten"]),
    Mistake(
      reason: .accessDenied, wrong: { ($0.items, $0.options.application) = ([], "org.example.Cats") },
      right: { $0.options.application = "org.example.Cats" },
      sender: Sender(isSandboxed: true), says: ["sandboxed", "hands something to them"]),
    Mistake(
      reason: .roleMismatch, wrong: { $0.options.configuration = "Projector" },
      right: { ($0.options.configuration, $0.options.role) = ("Projector", externalDisplay) },
      says: ["\"Projector\"", "\"\(externalDisplay)\"", "\"UIWindowSceneSessionRoleApplication\""]),
  ]

  @Test(arguments: Refusal.Reason.allCases)
  func `it has its name on the bus, changes nothing, and its message says what would mend it`(reason: Refusal.Reason)
    throws
  {
    var stage = Stage(
      app("org.example.Cats", "view", "one", "slow") {
        window("Default")
        window("Cat", "view")
        window("One", "one", launch: .single)
        window("Slow", "slow")
        window("Projector", role: externalDisplay)
      },
      app("org.example.Small", "small", hasOneScene: true))
    stage.session("one", "One")
    stage.session("small", of: "org.example.Small")
    stage.slowSessions("Slow")
    let mistake = try #require(Self.mistakes.first { $0.reason == reason })
    _ = stage.drop(mistake.payload(mistake.wrong), by: mistake.sender)
    let decision = try #require(stage.decision)
    guard case .refused(let refusal) = decision.outcome else {
      Issue.record("it is not refused: \(decision.outcome)")
      return
    }
    #expect(refusal.reason == reason)
    for part in mistake.says { #expect(refusal.message.contains(part), "\(refusal.message)") }
    #expect(!refusal.message.hasSuffix("."))
    if case .refused(let again) = stage.drop(mistake.payload(mistake.right), by: mistake.sender) {
      Issue.record("it is still refused: \(again)")
    }
    #expect(decision.fact == nil && decision.routing == nil)
    #expect(decision.explanation.session == nil && decision.explanation.sessionReason == nil)
    let prefix =
      [.limitsExceeded, .accessDenied].contains(reason) ? "org.freedesktop.DBus.Error" : "org.stagedoor.Error"
    #expect(refusal.errorName == Text("\(prefix).\(reason.rawValue)"))
    #expect(decision.outcome.name == "refused")
    #expect(decision.outcome.session == nil)
  }

  @Test func `somebody's text is shown on one line and cut where it gets long`() {
    var stage = Stage(app("org.example.Cats", "view"))
    _ = stage.drop(Text("a\nb" + String(repeating: "c", count: 200)))
    #expect(stage.message?.contains(#""a\nbccc"#) == true)
    #expect((stage.message ?? "").utf8.count < 200)
  }

  @Test func `what was found out before it was refused is told`() {
    var stage = Stage(
      app("org.example.Cats", "view") {
        window("Default"); window("Cat", "view")
      })
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
    #expect(stage.application == "org.example.Cats")
    #expect(stage.configuration == "Cat")
    #expect(stage.key == "1")
    #expect(stage.routing?.activityType == "view")
    #expect(stage.because == nil)
  }
}

extension Outcome {
  var refusedBecause: Refusal.Reason? {
    guard case .refused(let refusal) = self else { return nil }
    return refusal.reason
  }
}
