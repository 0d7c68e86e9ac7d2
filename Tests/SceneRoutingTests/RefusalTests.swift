import SceneModel
import SceneRouting
import Testing

/// Each reason to refuse: its name on the bus, and a message that is enough to correct the request.
@Suite struct RefusalTests {
  /// A drop that is refused for `reason`, and a corrected one that is not.
  static func refusal(_ reason: Refusal.Reason) -> (Decision, mended: Happening) {
    var stage = Stage(
      app("org.example.Cats", "view", "one") {
        window("Default")
        window("Cat", "view")
        window("One", "one", launch: .single)
        window("Projector", role: externalDisplay)
      },
      app("org.example.Small", "small", hasOneScene: true))
    stage.session("one", "One")
    stage.session("small", of: "org.example.Small")
    func play(_ refused: Payload, _ mended: Payload) -> (Decision, mended: Happening) {
      _ = stage.drop(refused)
      let decision = stage.decision
      return (decision!, stage.drop(mended))
    }
    func playFromSandbox(_ refused: Payload, _ mended: Payload) -> (Decision, mended: Happening) {
      _ = stage.drop(refused, by: Sender(isSandboxed: true))
      let decision = stage.decision
      return (decision!, stage.drop(mended, by: Sender(isSandboxed: true)))
    }
    func payload(_ type: Text, _ key: Text? = nil, _ change: (inout Payload) -> Void = { _ in }) -> Payload {
      var payload = Payload(activity(type, key))
      change(&payload)
      return payload
    }
    switch reason {
    case .noActivity: return play(Payload(items: [item(as: text("application/zip"))]), payload("view"))
    case .activityTypeNotDeclared: return play(payload("View"), payload("view"))
    case .activityExpired:
      return play(payload("view") { $0.items[0].activities[0].expirationDate = moment(1) }, payload("view"))
    case .noSuchApplication:
      return play(
        payload("view") { $0.options.application = "org.example.cats" },
        payload("view") { $0.options.application = "org.example.Cats" })
    case .noSuchSession:
      let identifier = Text("\(stage.identifier("one"))")
      return play(
        payload("view") { $0.options.session = "00000000-0000-0000-0000-000000000000" },
        payload("view") { $0.options.session = identifier })
    case .noSuchConfiguration:
      return play(
        payload("view") { $0.options.configuration = "cat" }, payload("view") { $0.options.configuration = "Cat" })
    case .noMatchingSession:
      return play(payload("view", "1") { $0.options.disposition = .existingOnly }, payload("view", "1"))
    case .multipleScenesNotSupported:
      return play(payload("small", "1") { $0.options.disposition = .new }, payload("small", "1"))
    case .requestDenied: return play(payload("one", "1") { $0.options.disposition = .new }, payload("one", "1"))
    case .roleMismatch:
      return play(
        payload("view") { $0.options.configuration = "Projector" },
        payload("view") { ($0.options.configuration, $0.options.role) = ("Projector", externalDisplay) })
    case .limitsExceeded:
      stage.slowSessions("Cat")
      return play(payload("view", longestKey), payload("view", "cat1"))
    case .accessDenied:
      var nothing = Payload()
      nothing.options.application = "org.example.Cats"
      return playFromSandbox(nothing, payload("view") { $0.options.application = "org.example.Cats" })
    }
  }

  /// The parts of each message: what was wrong, and what to do or what there is instead.
  static let messages: [Refusal.Reason: [String]] = [
    .noActivity: ["no activity", "\"application/zip\"", "CFBundleDocumentTypes"],
    .activityTypeNotDeclared: ["\"View\"", "NSUserActivityTypes"],
    .activityExpired: ["\"view\"", "1970-01-01T00:00:01Z", "it is 1970-01-01T00:16:40Z"],
    .noSuchApplication: ["\"org.example.cats\"", "register"],
    .noSuchSession: ["\"00000000-0000-0000-0000-000000000000\"", "discarded"],
    .noSuchConfiguration: ["\"cat\"", "org.example.Cats", "\"Default\", \"Cat\" and \"One\""],
    .noMatchingSession: ["\"1\"", "org.example.Cats", "\"existingOnly\""],
    .multipleScenesNotSupported: ["org.example.Small", "UIApplicationSupportsMultipleScenes", "\"new\""],
    .requestDenied: ["\"One\"", "org.example.Cats", "StagedoorLaunch", "\"new\""],
    .limitsExceeded: ["\"aaaa", "12800 bytes", "4194304", "shorten"],
    .accessDenied: ["sandboxed", "hands something to them"],
    .roleMismatch: ["\"Projector\"", "\"\(externalDisplay)\"", "\"UIWindowSceneSessionRoleApplication\""],
  ]

  @Test(arguments: Refusal.Reason.allCases)
  func `its message says what would mend it, and that mends it`(reason: Refusal.Reason) throws {
    let (decision, mended) = Self.refusal(reason)
    guard case .refused(let refusal) = decision.outcome else {
      Issue.record("it is not refused: \(decision.outcome)")
      return
    }
    #expect(refusal.reason == reason)
    for part in try #require(Self.messages[reason]) { #expect(refusal.message.contains(part), "\(refusal.message)") }
    #expect(!refusal.message.hasSuffix("."))
    if case .refused(let again) = mended { Issue.record("it is still refused: \(again)") }
  }

  @Test(arguments: Refusal.Reason.allCases)
  func `it has its name on the bus, changes nothing and routes nothing`(reason: Refusal.Reason) {
    let (decision, _) = Self.refusal(reason)
    #expect(decision.outcome.refusedBecause == reason)
    #expect(decision.fact == nil && decision.routing == nil)
    #expect(decision.explanation.session == nil && decision.explanation.sessionReason == nil)
    guard case .refused(let refusal) = decision.outcome else { return }
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
