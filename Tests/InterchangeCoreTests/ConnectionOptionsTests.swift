import SceneModel
import SceneRouting
import Testing
import Theatre

@testable import InterchangeCore

/// What a host is told about a delivery, and payloads that were passed on from elsewhere.
@Suite struct ConnectionOptionsTests {
  private func options(_ stage: Stage) throws -> UserInfo {
    try JSON.dictionary(try #require(stage.asked.compactMap(\.question.options).first))
  }

  @Test func `the token, the deadline and the privacy come with the scene, where there are some`() throws {
    var stage = Stage(hosting: cats())
    stage.drop(key: "1") { ($0.activationToken, $0.statedDeadline, $0.isPrivate) = ("token", 30, true) }
    var options = try options(stage)
    #expect(options["activationToken"] == "token" && options["private"] == true)
    #expect(options["deadline"] == .string(Text(stage.now.time.adding(seconds: 30).rfc3339)))
    #expect(options["operation"] == nil && options["origin"] == nil)
    stage = Stage(hosting: cats())
    stage.drop(key: "1")
    options = try self.options(stage)
    #expect(options["activationToken"] == nil && options["private"] == nil)
  }

  @Test(arguments: ["copy", "move"] as [Text])
  func `a drop of a drag says what it does`(operation: Text) throws {
    let stage = Stage(cats())
    var payload = stage.activity("view", "1")
    payload.options.allowedOperations = [.copy, .move]
    payload.options.isStrict = true
    let begun = stage.call(.beginDrag(payload, ticket: "ticket", outlivesSource: false, size: 1))
    let drag = try #require(begun?.begun).drag
    stage.call(.drop(drag, on: nil, operation: operation))
    // The host comes when the service has forgotten the drag.
    stage.restart(cats())
    stage.attach()
    #expect(try options(stage)["operation"] == .string(operation))
  }

  @Test func `what the activity says of other devices is handed on`() throws {
    for isEligible in [true, false, nil] as [Bool?] {
      let stage = Stage(hosting: cats())
      let activity = UserActivity(activityType: "view", isEligibleForHandoff: isEligible)
      stage.call(.deliver(Payload(activity), digest: .empty, size: 1))
      let told = try #require(try options(stage)["userActivities"]?.elements.first)
      #expect(told["isEligibleForHandoff"] == isEligible.map(Value.bool))
    }
  }

  @Test func `the size of a promise is known before it is loaded`() throws {
    let stage = Stage(hosting: cats { $0.contentTypes = [contentType("image/png")] })
    let promise = Representation(type: contentType("image/png"), .promise("/cat"), promisedSize: 5_000_000_000)
    stage.call(.deliver(Payload(items: [Item(representations: [promise])]), digest: .empty, size: 1))
    let item = try #require(try options(stage)["items"]?.elements.first)
    #expect(item["representations"]?.elements.first?["size"] == 5_000_000_000)
  }

  // MARK: Who sees what

  private func shown(_ stage: Stage) throws -> [Value?] {
    (try options(stage)["userActivities"]?.elements ?? []).map { $0["targetContentIdentifier"] }
  }

  @Test func `a host is told all that a delivery has for it, what routed it first, and nothing that is hidden`() throws
  {
    let stage = Stage(hosting: cats())
    let other = try stage.window("0")
    var payload = Payload(items: [
      Item(
        suggestedName: "First", activities: [UserActivity(activityType: "unknown")],
        representations: [.text("miaow"), .data(3, .application)]),
      Item(activities: [
        UserActivity(activityType: "view", targetContentIdentifier: "1", userInfo: ["a": .uuid(Text("\(other)"))]),
        UserActivity(activityType: "view", targetContentIdentifier: "secret", visibility: .ownProcess),
        UserActivity(activityType: "view", targetContentIdentifier: "2"),
      ]),
    ])
    payload.options.presentationStyle = .prominent
    payload.options.requestingSession = Text("\(other)")
    payload.options.activationToken = "token"
    let delivery = try #require(stage.call(.deliver(payload, digest: .empty, size: 1))?.delivered?.delivery)
    let options = try options(stage)
    for (key, value) in [
      ("delivery", .string(Text("\(delivery)"))), ("attempt", 1), ("role", "UIWindowSceneSessionRoleApplication"),
      ("presentationStyle", "prominent"), ("requestingSession", .string(Text("\(other)"))),
    ] as [(Text, Value)] { #expect(options[key] == value, "\(key)") }
    #expect(options["sourceApplication"] == nil && options["stateRestorationActivity"] == nil)
    #expect(try shown(stage) == ["1", nil, "2"])
    let text = try #require(stage.asked.first?.question.connect).options
    #expect(text.string.contains(#""userInfo":{"a":{"$uuid":"\#(other)"}}"#))
    #expect(
      text.string.contains(
        #""items":[{"activities":[1],"representations":[{"size":5,"type":"text/plain"}],"suggestedName":"First"},{"activities":[0,2]"#
      ), "\(text)")
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.activate(stage.sessions()[1].identifier, token: "token")])
  }

  /// Of a payload that has something for everyone, for the application and for the process alone.
  @Test func `a host that delivers to its own application is named, and is shown what is for it alone`() throws {
    let stage = Stage(hosting: cats(), cats("org.example.Player"))
    stage.attach("org.example.Player", as: .other)
    var payload = Payload(items: [
      Item(activities: [
        UserActivity(activityType: "view", targetContentIdentifier: "1"),
        UserActivity(activityType: "view", targetContentIdentifier: "2", visibility: .application),
        UserActivity(activityType: "view", targetContentIdentifier: "3", visibility: .ownProcess),
      ])
    ])
    (payload.options.application, payload.options.wait) = ("org.example.Cats", .handled)
    // It is not kept waiting, even if it waits for itself.
    #expect(stage.call(.deliver(payload, digest: .empty, size: 1), by: .host)?.delivered != nil)
    #expect(try options(stage)["sourceApplication"] == "org.example.Cats")
    #expect(try shown(stage) == ["1", "2", "3"])
    // What is for its own process alone is not for the process after it.
    stage.hostLeaves()
    stage.attach(as: .shell(7))
    #expect(try options(stage)["attempt"] == 2)
    #expect(try shown(stage) == ["1", "2"])
    stage.hostAnswersAll()
    stage.call(.deliver(payload, digest: .empty, size: 1), by: .other)
    #expect(try options(stage)["sourceApplication"] == "org.example.Player")
    #expect(try shown(stage) == ["1"])
  }

  @Test(arguments: [false, true])
  func `a host is told the name of a file that it opens in place, unless in a sandbox`(isSandboxed: Bool) throws {
    let stage = Stage(cats())
    stage.attach(as: isSandboxed ? .sandbox("org.example.Cats") : .host)
    _ = try stage.packed(.file(inPlace: true))
    let told = JSON.text(of: .dictionary(try options(stage))).string
    #expect(told.contains("image/png"))
    for words in ["file:///home/user/a.png", "openInPlace"] { #expect(told.contains(words) != isSandboxed, "\(told)") }
  }

  // MARK: Strangers

  @Test func `as a stranger a sender has the rights of a sandbox`() throws {
    let stage = Stage(cats { $0.contentTypes = [contentType("image/png")] })
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    func refusal(_ payload: Payload) -> InterchangeError? {
      var payload = payload
      payload.options.isFromStranger = true
      return stage.call(.deliver(payload, digest: .empty, size: 1))?.refusal
    }
    // Types must be declared, also for a session that is named.
    #expect(
      refusal(stage.activity("undeclared", "1") { $0.session = Text("\(session)") })?.name
        == .routing("org.stagedoor.Error.ActivityTypeNotDeclared"))
    #expect(refusal(stage.activity("view", "1") { $0.session = Text("\(session)") }) == nil)
    // It names no files, and opens no windows with nothing in hand.
    let named = refusal(Payload(items: [Item(representations: [.file("cat.png")])]))
    #expect(named?.name == .accessDenied)
    #expect(
      named?.message
        == "a payload with asStranger may not name files such as \"file:///home/user/cat.png\": send a descriptor")
    var empty = Payload()
    empty.options.application = "org.example.Cats"
    #expect(refusal(empty)?.name == .routing("org.freedesktop.DBus.Error.AccessDenied"))
  }

  @Test func `the host that passes something on is not its source, and may still ask about it`() throws {
    let stage = Stage(cats(), cats("org.example.Relay"))
    stage.attach("org.example.Relay", as: .other)
    let own = try #require(stage.drop(key: "1", by: .other)?.delivered?.delivery)
    #expect(stage.shelf.deliveries[own]?.sourceApplication == "org.example.Relay")
    let passed = try #require(stage.drop(key: "2", by: .other) { $0.isFromStranger = true }?.delivered?.delivery)
    #expect(stage.shelf.deliveries[passed]?.sourceApplication == "")
    #expect(stage.call(.cancel(passed), by: .other) == .done)
  }

  @Test func `only who forwards says where something came from`() throws {
    let stage = Stage(hosting: cats(), cats("org.example.Relay") { $0.forwards = true })
    #expect(stage.drop(key: "1") { $0.origin = "laptop" }?.refusal?.name == .accessDenied)
    #expect(stage.drop(key: "1", by: .host) { $0.origin = "laptop" }?.refusal?.name == .accessDenied)
    stage.attach("org.example.Relay", as: .other)
    stage.drop(key: "1", by: .other) { ($0.origin, $0.isFromStranger) = ("laptop", true) }
    #expect(try options(stage)["origin"] == "laptop")
  }

  @Test func `a stranger's drag takes no promises later either`() throws {
    let stage = Stage(cats())
    var payload = stage.activity("view", "1")
    payload.options.isFromStranger = true
    let begun = stage.call(.beginDrag(payload, ticket: "ticket", outlivesSource: false, size: 1))
    let drag = try #require(begun?.begun).drag
    let items = [Item(representations: [.promise()])]
    #expect(stage.call(.addItems(items, to: drag, size: 1))?.refusal?.name == .invalidPayload)
  }
}
