import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Windows that are there already, and that no delivery opened.
@Suite struct AdoptTests {
  private static let application: Text = "org.example.Cats"

  private func adopt(
    _ stage: Stage, _ key: Text? = "1", type: Text = "view", configuration: Text = "", title: Text = "Cat",
    by caller: Caller = .host
  ) -> CallAnswer? {
    let activity = key.map { UserActivity(activityType: type, targetContentIdentifier: $0) }
    return stage.call(
      .adopt(application: Self.application, configuration: configuration, activity, title: title), by: caller)
  }

  private func adopted(
    _ stage: Stage, _ key: Text? = "1", type: Text = "view", configuration: Text = ""
  ) throws -> Session {
    let session = try #require(adopt(stage, key, type: type, configuration: configuration)?.adopted)
    return try #require(stage.shelf.sessions[session])
  }

  @Test func `a window becomes a connected session, which the next drop of its content finds`() throws {
    let stage = Stage(hosting: cats(configurations: ["Default", "Other"]))
    let before = stage.sayings.count
    let session = try adopted(stage)
    #expect(session.isConnected && session.state == .foregroundInactive && session.configuration == "Default")
    #expect((session.title, session.userActivity?.key) == ("Cat", "1"))
    #expect(
      stage.said(since: before).map(\.word) == [
        "session appeared", "session changed State Connected", "SessionConnected", "SessionStateChanged", "answer",
      ])
    #expect(stage.asked.isEmpty)
    let landed = stage.drop(key: "1")?.delivered
    #expect((landed?.session, landed?.outcome) == (session.identifier, "activated"))
    #expect(stage.asked.map(\.question.member) == ["ContinueScene"])
    #expect(try adopted(stage, "2", configuration: "Other").configuration == "Other")
    #expect(try adopted(stage, nil).userActivity == nil)
  }

  @Test func `a file's window is found by the file, whatever the type of its activity`() throws {
    let stage = Stage(hosting: cats { $0.contentTypes = [contentType("image/png")] })
    let session = try adopted(stage, "file:///cat.png", type: "any.type").identifier
    let file = Representation(type: contentType("image/png"), .stored(size: 1, url: "file:///cat.png"))
    let landed = stage.call(.deliver(Payload(items: [Item(representations: [file])]), digest: .empty, size: 1))
    #expect(landed?.delivered?.session == session)
  }

  @Test func `a session without a scene that shows the same content is the one, in its own configuration`() throws {
    let stage = Stage(hosting: cats(configurations: ["Default", "Other"]))
    var sessions: [UniqueIdentifier] = []
    for _ in 0..<2 {
      sessions.append(
        try #require(stage.drop(key: "1") { ($0.configuration, $0.disposition) = ("Other", .new) }?.delivered?.session))
      stage.hostAnswersAll()
      stage.pass(seconds: 1)
    }
    stage.hostLeaves()
    stage.attach()
    let before = stage.sayings.count
    let found = try adopted(stage)
    // The one that was activated last.
    #expect(found.identifier == sessions[1])
    #expect(found.configuration == "Other" && found.isConnected)
    #expect(!stage.said(since: before).map(\.word).contains("session appeared"))
    #expect(try adopted(stage).identifier == sessions[0])
    // Those with a scene are other windows.
    #expect(try !sessions.contains(adopted(stage).identifier))
  }

  @Test func `a session that was private stays so`() throws {
    let stage = Stage(hosting: cats())
    let session = try #require(stage.drop(key: "1") { $0.isPrivate = true }?.delivered?.session)
    stage.hostAnswersAll()
    stage.hostLeaves()
    stage.attach()
    let found = try adopted(stage)
    #expect(found.identifier == session && found.isPrivate)
    #expect(found.asSeen.title.isEmpty && found.asSeen.userActivity == nil)
    // And one that was not does not become so.
    #expect(try !adopted(stage, "2").isPrivate)
  }

  @Test func `it keeps the content it was adopted with when a later delivery fails`() throws {
    let stage = Stage(hosting: cats())
    let session = try adopted(stage)
    stage.drop(key: "2", to: session.identifier)
    stage.hostAnswersAll(.refused("no"))
    #expect(stage.shelf.sessions[session.identifier]?.userActivity?.key == "1")
  }

  // MARK: What is refused

  @Test func `only the attached host adopts`() {
    let stage = Stage(cats())
    #expect(adopt(stage)?.refusal?.name == .accessDenied)
    stage.attach()
    let refusal = adopt(stage, by: .other)?.refusal
    #expect(refusal?.name == .accessDenied)
    #expect(refusal?.message == "only the attached host of org.example.Cats may do that")
    #expect(stage.sessions().isEmpty)
  }

  @Test func `policy and limits hold as for a new session`() throws {
    var stage = Stage(hosting: cats(atMost: 1))
    _ = try adopted(stage)
    #expect(adopt(stage, "2")?.refusal?.name == .routing("org.stagedoor.Error.RequestDenied"))
    #expect(
      adopt(stage, "2", configuration: "None")?.refusal?.name == .routing("org.stagedoor.Error.NoSuchConfiguration"))
    stage = Stage(hosting: cats { $0.configurations[0].launch = .single })
    _ = try adopted(stage)
    #expect(adopt(stage, "2")?.refusal?.name == .routing("org.stagedoor.Error.RequestDenied"))
    stage = Stage(hosting: cats(hasOneScene: true))
    _ = try adopted(stage)
    #expect(adopt(stage, "2")?.refusal?.name == .routing("org.stagedoor.Error.MultipleScenesNotSupported"))
  }

  @Test func `sessions and their bytes are counted as others are`() {
    var stage = Stage(hosting: cats()) { $0.sessions = 2 }
    #expect(adopt(stage)?.refusal == nil)
    #expect(adopt(stage, "2")?.refusal?.name == .limitsExceeded)
    stage = Stage(hosting: cats()) { $0.sessionBytes = 100 }
    let long = Text(String(repeating: "x", count: 200))
    #expect(adopt(stage, title: long)?.refusal?.name == .limitsExceeded)
    #expect(stage.sessions().isEmpty)
  }

  @Test func `a sandboxed host shows declared types only`() {
    let stage = Stage(cats())
    let sandboxed = Caller.sandbox(Self.application)
    stage.attach(as: sandboxed)
    #expect(
      adopt(stage, type: "undeclared", by: sandboxed)?.refusal?.name
        == .routing("org.stagedoor.Error.ActivityTypeNotDeclared"))
    #expect(adopt(stage, by: sandboxed)?.refusal == nil)
  }
}
