import SceneModel
import SceneRouting
import Testing

/// A drop that is refused, and the message, which is enough to correct the request.
struct Mistake: Sendable {
  typealias Change = @Sendable (inout Payload) -> Void

  let reason: Refusal.Reason
  let message: String
  let type: Text
  let key: Text?
  let sender: Sender
  let wrong: Change
  let right: Change

  init(
    _ reason: Refusal.Reason, _ message: String, _ type: Text = "view", key: Text? = nil, by sender: Sender = Sender(),
    right: @escaping Change = { _ in }, _ wrong: @escaping Change
  ) {
    (self.reason, self.message, self.type, self.key) = (reason, message, type, key)
    (self.sender, self.wrong, self.right) = (sender, wrong, right)
  }

  func payload(_ change: Change) -> Payload {
    var payload = Payload(activity(type, key))
    change(&payload)
    return payload
  }
}

@Suite struct RefusalTests {
  private static let one: Text = "00000000-0000-0001-0000-000000000000"
  private static let sandboxed = Sender(isSandboxed: true)
  private static let none = #"and with the disposition "existingOnly" none is made"#
  private static let hidden = [item(as: file("file:///a.png", visibility: .application))]

  static let mistakes = [
    Mistake(
      .noActivity,
      #"there is no activity in it, and no application takes "application/zip": add an activity, or the type to "#
        + "CFBundleDocumentTypes"
    ) { $0.items = [item(as: text("application/zip"))] },
    Mistake(
      .noActivity,
      #"there is no activity in it, and org.example.Dogs does not take "image/png" or any other type in it: add an "#
        + "activity, or the type to CFBundleDocumentTypes"
    ) {
      $0.items = [item(as: text("image/png"), text("application/zip"))]
      $0.options.application = "org.example.Dogs"
    },
    Mistake(
      .noActivity,
      "there is no activity in it, and nothing else, that every application may see: look at `visibility`"
    ) { $0.items = hidden },
    Mistake(
      .noActivity,
      "there is no activity in it, and nothing else, that org.example.Cats may see: look at `visibility`"
    ) { ($0.items, $0.options.application) = (hidden, "org.example.Cats") },
    Mistake(
      .noActivity,
      "there is no activity in it, and nothing else that could be routed: add an activity or a representation"
    ) { $0.items = [item()] },
    Mistake(
      .noActivity, "there is nothing in it: add an activity or an item, or name a session or an application"
    ) { $0.items = [] },
    Mistake(
      .activityTypeNotDeclared,
      #"no application declares "View": add it to NSUserActivityTypes in the application's manifest, or register the application "#
        + "again"
    ) { $0.items = [item(activity("View"))] },
    Mistake(
      .activityTypeNotDeclared,
      #"org.example.Dogs does not declare "view": add it to NSUserActivityTypes in the application's manifest"#
    ) { $0.options.application = "org.example.Dogs" },
    // Others may not see it.
    Mistake(
      .activityTypeNotDeclared,
      #"org.example.Cats does not declare "bark": add it to NSUserActivityTypes in the application's manifest"#,
      by: Sender(hosts: "org.example.Cats")
    ) { $0.items = [item(activity("bark", visibility: .application))] },
    Mistake(
      .activityTypeNotDeclared,
      #"org.example.Cats does not declare "bark", and a sandbox sends only what is declared: add it to "#
        + "NSUserActivityTypes in the application's manifest", by: sandboxed
    ) { ($0.items, $0.options.session) = ([item(activity("bark"))], one) },
    Mistake(
      .activityTypeNotDeclared,
      #"org.example.Cats does not take "text/plain", and a sandbox sends only what is declared: add it to "#
        + "CFBundleDocumentTypes in the application's manifest", by: sandboxed
    ) { ($0.items, $0.options.session) = ([item(as: text("text/plain"))], one) },
    Mistake(
      .activityExpired, #"the activity "view" expired at 1970-01-01T00:00:01Z, and it is 1970-01-01T00:16:40Z"#
    ) { $0.items[0].activities[0].expirationDate = moment(1) },
    Mistake(
      .noSuchApplication,
      #"there is no application "org.example.cats": install a manifest of that name, or register it"#,
      right: { $0.options.application = "org.example.Cats" }
    ) { $0.options.application = "org.example.cats" },
    Mistake(
      .noSuchSession, #"there is no session "00000000-0000-0000-0000-000000000000", or it was discarded"#,
      right: { $0.options.session = one }
    ) { $0.options.session = "00000000-0000-0000-0000-000000000000" },
    Mistake(
      .noSuchSession, #"a session is named by its persistent identifier or its path, and not "main""#,
      right: { $0.options.session = SessionReference.path(of: UniqueIdentifier(high: 1, low: 0)) }
    ) { $0.options.session = "main" },
    Mistake(
      .noSuchConfiguration,
      #"org.example.Cats has no configuration "cat"; there are "Default", "Cat", "One", "Each", "Few" and "Slow""#,
      right: { $0.options.configuration = "Cat" }
    ) { $0.options.configuration = "cat" },
    // A sandbox learns of no other application.
    Mistake(.noSuchConfiguration, #"org.example.Cats has no configuration "cat""#, by: sandboxed) {
      $0.options.configuration = "cat"
    },
    Mistake(
      .noSuchConfiguration,
      #"org.example.Cats has no configuration in the role "CarPlay"; there are some in "#
        + #""UIWindowSceneSessionRoleApplication" and "\#(externalDisplay)""#
    ) { $0.options.role = "CarPlay" },
    Mistake(
      .roleMismatch,
      #"the configuration "Projector" of org.example.Cats has the role "\#(externalDisplay)", and the payload asks for the role "#
        + #""UIWindowSceneSessionRoleApplication""#,
      right: { ($0.options.configuration, $0.options.role) = ("Projector", externalDisplay) }
    ) { $0.options.configuration = "Projector" },
    Mistake(.noMatchingSession, #"no session of org.example.Cats takes "1", \#(none)"#, key: "1") {
      $0.options.disposition = .existingOnly
    },
    Mistake(.noMatchingSession, #"there is no session of the configuration "Cat" of org.example.Cats, \#(none)"#) {
      $0.options.disposition = .existingOnly
    },
    Mistake(
      .noMatchingSession,
      #"the configuration "Each" of org.example.Cats takes each thing in a new session, \#(none)"#, "each"
    ) { $0.options.disposition = .existingOnly },
    Mistake(.noMatchingSession, "org.example.Dogs has no session yet, \(none)") {
      ($0.items, $0.options.application, $0.options.disposition) = ([], "org.example.Dogs", .existingOnly)
    },
    Mistake(.noMatchingSession, #"there is no session of the configuration "Default" of org.example.Cats, \#(none)"#) {
      ($0.items, $0.options.application, $0.options.disposition) = ([], "org.example.Cats", .existingOnly)
      $0.options.configuration = "Default"
    },
    Mistake(
      .multipleScenesNotSupported,
      "org.example.Small has its one scene: UIApplicationSupportsMultipleScenes is not true, so that the disposition "
        + #""new" makes no other"#, "small", key: "1"
    ) { $0.options.disposition = .new },
    Mistake(
      .requestDenied,
      #"the configuration "One" of org.example.Cats has its one session: StagedoorLaunch is "single", so that the "#
        + #"disposition "new" makes no other"#, "one", key: "1"
    ) { $0.options.disposition = .new },
    Mistake(
      .requestDenied,
      #"StagedoorMaximumSessions of the configuration "Few" of org.example.Cats is 1, and it has 1"#, "few",
      right: { $0.options.disposition = .existing }
    ) { $0.options.disposition = .new },
    Mistake(
      .limitsExceeded,
      "to find who takes the key \(quoted(longestKey.string)) of 12800 bytes takes more than 4194304 steps, which the "
        + "items of a batch share: hand in fewer items or types at once, name an application or a session, shorten "
        + "the key, or let fewer sessions have conditions with LIKE, CONTAINS or MATCHES", "slow", key: "cat1"
    ) { $0.items = [item(activity("slow", longestKey))] },
    Mistake(
      .accessDenied, "a sandboxed application may open windows of its own only, unless it hands something to them",
      by: sandboxed, right: { $0.options.application = "org.example.Cats" }
    ) { ($0.items, $0.options.application) = ([], "org.example.Cats") },
  ]

  @Test(arguments: mistakes)
  func `it has its name on the bus, changes nothing, and its message says what would mend it`(mistake: Mistake) throws {
    var stage = Stage(
      app("org.example.Cats", "view", "one", "each", "few", "slow", takes: ["image/*"]) {
        window("Default")
        window("Cat", "view")
        window("One", "one", launch: .single)
        window("Each", "each", launch: .new)
        window("Few", "few", atMost: 1)
        window("Slow", "slow")
        window("Projector", role: externalDisplay)
      },
      app("org.example.Small", "small", hasOneScene: true), app("org.example.Dogs", "bark", takes: ["text/plain"]))
    stage.session("one", "One")
    stage.session("few", "Few")
    stage.session("small", of: "org.example.Small")
    if mistake.reason == .limitsExceeded { stage.slowSessions("Slow") }
    #expect(stage.drop(mistake.payload(mistake.wrong), by: mistake.sender) == .refused(mistake.reason))
    #expect(stage.message == mistake.message)
    let isOfDBus = [.limitsExceeded, .accessDenied].contains(mistake.reason)
    let prefix = isOfDBus ? "org.freedesktop.DBus.Error" : "org.stagedoor.Error"
    #expect(stage.refusal?.errorName == Text("\(prefix).\(mistake.reason.rawValue)"))
    let decision = try #require(stage.decision)
    #expect(decision.fact == nil && decision.routing == nil)
    #expect(decision.explanation.session == nil && decision.explanation.sessionReason == nil)
    #expect(decision.outcome.name == "refused" && decision.outcome.session == nil)
    if case .refused(let again) = stage.drop(mistake.payload(mistake.right), by: mistake.sender) {
      Issue.record("it is still refused: \(again)")
    }
  }

  @Test func `each reason has a mistake here`() {
    #expect(Set(Self.mistakes.map(\.reason)) == Set(Refusal.Reason.allCases))
  }

  @Test func `somebody's text is shown on one line and cut where it gets long`() {
    var stage = Stage(app("org.example.Cats", "view"))
    _ = stage.drop(Text("a\nb" + String(repeating: "c", count: 200)))
    #expect(stage.message?.contains(#""a\nbccc"#) == true)
    #expect((stage.message ?? "").utf8.count < 200)
  }

  @Test func `what was found out before it was refused is told`() {
    var stage = Stage(app("org.example.Cats", "view") { [window("Default"), window("Cat", "view")] })
    #expect(stage.drop("view", key: "1", .existingOnly) == .refused(.noMatchingSession))
    let found = stage.decision?.explanation
    #expect(found?.application == "org.example.Cats" && found?.configuration == "Cat" && found?.key == "1")
    #expect(found?.routingActivity?.activityType == "view")
  }
}

extension Outcome {
  var refusedBecause: Refusal.Reason? {
    guard case .refused(let refusal) = self else { return nil }
    return refusal.reason
  }
}
