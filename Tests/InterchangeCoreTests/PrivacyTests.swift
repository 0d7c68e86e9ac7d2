import SceneModel
import SceneRouting
import StoreTestSupport
import Testing

@testable import InterchangeCore

/// What others see of a window that shows a private delivery, before it, meanwhile and afterwards.
@Suite struct PrivacyTests {
  private let stage = Stage(cats())

  /// A session that shows a private delivery, and what it showed before.
  private func hidden(_ stage: Stage, behind key: Text? = nil) throws -> (
    UniqueIdentifier, delivery: UniqueIdentifier
  ) {
    let session = try key.map { try #require(stage.drop(key: $0)?.delivered?.session) }
    let delivered = try #require(stage.drop(key: "secret", to: session) { $0.isPrivate = true }?.delivered)
    return (delivered.session, delivered.delivery)
  }

  private func seen(_ stage: Stage, _ session: UniqueIdentifier) throws -> Session {
    try #require(stage.shelf.sessions[session]).asSeen
  }

  private func expectNoSecret(in stage: Stage, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!stage.sayings.contains { "\($0)".contains("secret") }, sourceLocation: sourceLocation)
    #expect(!stage.shelf.events.contains { $0.arguments.string.contains("secret") }, sourceLocation: sourceLocation)
  }

  @Test func `what comes after a private delivery tells nothing of it either`() throws {
    let (session, _) = try hidden(stage)
    stage.call(.write(session, .title("secret")))
    #expect(try seen(stage, session).title == "" && seen(stage, session).userActivity == nil)
    stage.drop(key: "1", to: session)
    #expect(try seen(stage, session).userActivity?.key == "1")
    #expect(try seen(stage, session).title == "")
    expectNoSecret(in: stage)
  }

  @Test func `of what a host wrote to a private window no byte is left once the window is gone`() throws {
    let directory = TemporaryDirectory()
    let stage = Stage(cats(), directory: directory.path)
    let (session, _) = try hidden(stage)
    var activity = UserActivity(activityType: "view")
    activity.userInfo["x"] = Value.string(Text(String(repeating: "something secret. ", count: 2_000)))
    stage.call(.write(session, .stateRestorationActivity(activity)))
    for key in ["1", "another"] as [Text] {
      stage.drop(key: key, to: session)
      stage.rest()
    }
    stage.call(.destroy(session, animation: "standard"))
    stage.rest()
    let secret = Array("something secret. ".utf8)
    #expect(directory.names.filter { directory.bytes(of: $0).contains(secret) } == [])
  }

  @Test func `what everybody knew is hidden, and is back when a private delivery is cancelled`() throws {
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.call(.write(session, .title("Diary")))
    stage.call(.write(session, .userInfo(["page": 7])))
    let (_, delivery) = try hidden(stage, behind: "1")
    stage.call(.write(session, .title("secret")))
    #expect(try seen(stage, session).title == "" && seen(stage, session).userInfo == [:])
    #expect(stage.call(.cancel(delivery)) == .done)
    #expect(try seen(stage, session).title == "Diary" && seen(stage, session).userInfo == ["page": 7])
    #expect(try seen(stage, session).userActivity?.key == "1")
    expectNoSecret(in: stage)
  }

  @Test func `a window that may show what its host was given before stays private when the host refuses it`() throws {
    for (comesAgain, restarts) in [(false, 0), (true, 0), (true, 1), (true, 2)] {
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      stage.drop(key: "1") { $0.isPrivate = true }
      for _ in 0..<restarts { stage.restart(cats()) }
      if comesAgain {
        stage.hostLeaves()
        stage.attach(showing: [window])
      }
      stage.hostAnswersAll(.refused("org.example.Error: no"))
      #expect(stage.sessions().map(\.isPrivate) == [comesAgain], "\(restarts)")
    }
  }

  @Test func `a window that was given a private delivery stays private when its host refuses that delivery later`()
    throws
  {
    for (isTaken, isElsewhereMeanwhile) in [(false, false), (true, false), (true, true)] {
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let delivery = try #require(stage.drop(key: "1") { $0.isPrivate = true }?.delivered).delivery
      if isTaken { stage.hostAnswersAll() }
      if isElsewhereMeanwhile {
        let other = try stage.window("2") { $0.disposition = .new }
        #expect(stage.call(.redirect(delivery, to: other)) == .outcome("activated"))
        stage.hostAnswersAll()
      }
      #expect(stage.call(.redirect(delivery, to: window)) == .outcome("activated"))
      stage.hostAnswersAll(.refused("org.example.Error: no"))
      #expect(stage.progress(of: delivery)?.state == .failed)
      stage.call(.write(window, .title("secret")))
      #expect(stage.sessions().first?.isPrivate == true, "\(isTaken), \(isElsewhereMeanwhile)")
    }
  }

  @Test func `a window shows its earlier content when its host refuses a private redirected delivery`() throws {
    let stage = Stage(hosting: cats())
    let windows = try ["1", "2"].map { try stage.window($0) { $0.disposition = .new } }
    let delivery = try #require(stage.drop(key: "1", to: windows[0], { $0.isPrivate = true })?.delivered).delivery
    stage.call(.redirect(delivery, to: windows[1]))
    stage.hostAnswersAll(.refused("org.example.Error: no"))
    #expect(try seen(stage, windows[1]).userActivity?.key == "2")
  }

  @Test func `a host that is late may still read a private delivery, and its window stays private until it has`() throws
  {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    stage.drop(key: "1") { $0.isPrivate = true }
    stage.hostAnswers(.timedOut)
    let other = UserActivity(activityType: "view", targetContentIdentifier: "2")
    stage.call(.write(window, .userActivity(other)), by: .host)
    #expect(stage.sessions().map(\.isPrivate) == [true])
    // An answer about another window says nothing of this one.
    _ = try stage.window("3") { $0.disposition = .new }
    stage.call(.write(window, .userActivity(other)), by: .host)
    #expect(stage.sessions().map(\.isPrivate) == [true, false])
    // It answers a later question about the window, so it has read the earlier one.
    stage.activate(window)
    stage.hostAnswersAll()
    stage.call(.write(window, .userActivity(other)), by: .host)
    #expect(stage.sessions().map(\.isPrivate) == [false, false])
    #expect(try seen(stage, window).userActivity == other)
  }

  @Test func `while a host that lost its name may still read a private question, its window stays private`() throws {
    for leavesTheBus in [false, true] {
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      stage.drop(key: "1") { $0.isPrivate = true }
      stage.hostLeaves()
      if leavesTheBus { stage.callerLeaves(.host) }
      stage.drop(key: "2", to: window)
      #expect(stage.sessions().map(\.isPrivate) == [!leavesTheBus])
      // The private delivery is given first, again.
      stage.attach(showing: [window])
      #expect(stage.sessions().map(\.isPrivate) == [true])
      stage.hostAnswersAll()
      stage.drop(key: "3", to: window)
      stage.hostAnswersAll()
      #expect(stage.sessions().map(\.isPrivate) == [false])
      #expect(stage.memory.unread.keys.isEmpty)
    }
  }

  @Test func `a window stays private until its host has taken the public delivery behind a private one`() throws {
    let window = try #require(stage.drop(key: "secret") { $0.isPrivate = true }?.delivered?.session)
    stage.drop(key: "2", to: window) { $0.statedDeadline = 60 }
    stage.drop(key: "secret", to: window) { ($0.isPrivate, $0.statedDeadline) = (true, 5) }
    stage.attach()
    stage.hostAnswers(.done)
    stage.passUntilQuiet(seconds: 6)
    #expect(stage.sessions().map(\.isPrivate) == [true])
    stage.call(.write(window, .title("secret")), by: .host)
    expectNoSecret(in: stage)
    stage.hostAnswersAll()
    #expect(stage.sessions().map(\.isPrivate) == [false])
    #expect(try seen(stage, window).userActivity?.key == "2")
    expectNoSecret(in: stage)
  }

  @Test func `a connection that leaves the bus hosts nothing more, also before the news of its names`() throws {
    let stage = Stage(hosting: cats())
    _ = try stage.window()
    stage.drop(key: "1") { $0.isPrivate = true }
    stage.callerLeaves(.host)
    #expect(!stage.book.isHost(.host, of: "org.example.Cats"))
    #expect(stage.memory.unread.keys.isEmpty)
    stage.hostLeaves()
  }

  @Test func `a window is public again when its host says that it shows something else`() throws {
    let stage = Stage(hosting: cats())
    let (session, _) = try hidden(stage)
    stage.hostAnswersAll()
    stage.call(.write(session, .title("secret")), by: .host)
    // The activity with the user's later changes is as private as the original.
    let later = UserActivity(activityType: "view", targetContentIdentifier: "secret", userInfo: ["page": 2])
    stage.call(.write(session, .userActivity(later)), by: .host)
    #expect(try seen(stage, session).userActivity == nil)
    let other = UserActivity(activityType: "view", targetContentIdentifier: "1")
    stage.call(.write(session, .userActivity(other)), by: .host)
    #expect(try seen(stage, session).userActivity == other)
    #expect(try seen(stage, session).title == "")
    expectNoSecret(in: stage)
  }

  @Test(
    arguments: [
      .stateRestorationActivity(UserActivity(activityType: "secret")), .userInfo(["secret": 1]),
      .canActivatePredicate("SELF == 'secret'"), .prefersToActivatePredicate("SELF == 'secret'"),
    ] as [SessionWriting])
  func `what its host writes meanwhile is the host's own, also afterwards`(_ writing: SessionWriting) throws {
    let (session, _) = try hidden(stage)
    func isEmpty() throws -> Bool {
      let seen = try seen(stage, session)
      return seen.stateRestorationActivity == nil && seen.userInfo == [:] && seen.canActivatePredicate == ""
        && seen.prefersToActivatePredicate == ""
    }
    let said = stage.sayings.count
    stage.call(.write(session, writing))
    #expect(try isEmpty())
    let withheld = stage.said(since: said).flatMap { saying in
      if case .sessionChanged(session, _, let withheld) = saying { withheld } else { [] as [SessionField] }
    }
    #expect(withheld == [.written(writing.property)])
    stage.drop(key: "1", to: session)
    #expect(try seen(stage, session).userActivity?.key == "1")
    #expect(try isEmpty())
    expectNoSecret(in: stage)
  }

  @Test(arguments: [false, true])
  func `a private delivery that no host had leaves its window as it was, also after a redirect`(restarts: Bool) throws {
    let stage = Stage(cats())
    let window = try #require(stage.drop(key: "beach")?.delivered?.session)
    let secret = try #require(stage.drop(key: "secret") { ($0.isPrivate, $0.disposition) = (true, .new) }?.delivered)
    #expect(stage.call(.redirect(secret.delivery, to: window)) == .outcome("activated"))
    #expect(stage.progress(of: secret.delivery)?.attempt == 1)
    if restarts { stage.restart(cats()) }
    #expect(stage.call(.cancel(secret.delivery)) == .done)
    let session = try #require(stage.shelf.sessions[window])
    #expect(session.userActivity?.key == "beach" && !session.isPrivate)
  }

  // MARK: What hosts say, and what a redirect says

  @Test func `what a host says of a window that was private a moment ago is told to nobody`() throws {
    let stage = Stage(hosting: cats())
    let session = try #require(stage.drop(key: "secret") { $0.isPrivate = true }?.delivered?.session)
    stage.hostAnswersAll()
    // The host is asked while the window is private, and answers when it is private no more.
    stage.activate(session)
    stage.drop(key: "1", to: session)
    stage.hostAnswers(.refused("org.example.Error: secret"))
    stage.hostAnswersAll()
    // The window has a restoration activity from the time when it was private.
    stage.drop(key: "secret", to: session) { $0.isPrivate = true }
    stage.hostAnswersAll()
    let restoration = UserActivity(activityType: "restoration", targetContentIdentifier: "secret")
    stage.call(.write(session, .stateRestorationActivity(restoration)), by: .host)
    stage.drop(key: "1", to: session)
    stage.hostAnswersAll(.refused("org.example.Error: secret"))
    expectNoSecret(in: stage)
  }

  @Test func `a private delivery that has expired says neither type nor key to whoever redirects it`() throws {
    let open = try #require(stage.drop(key: "1")?.delivered?.session)
    var payload = stage.activity("view", "secret") { ($0.isPrivate, $0.statedDeadline) = (true, 60) }
    payload.items[0].activities[0].expirationDate = stage.now.time.adding(seconds: 10)
    let delivery = try #require(stage.call(.deliver(payload, digest: .empty, size: 100))?.delivered?.delivery)
    stage.pass(seconds: 20)
    let refusal = try #require(stage.call(.redirect(delivery, to: open), by: .other)?.refusal)
    #expect(refusal.name == .routing("org.stagedoor.Error.ActivityExpired"))
    #expect(refusal.message == "the private delivery \(delivery) cannot go there")
  }

  @Test func `what a host says of sessions that are gone is not logged`() throws {
    let session = try #require(stage.drop("view") { $0.isPrivate = true }?.delivered?.session)
    stage.attach()
    stage.hostAnswersAll()
    stage.call(.destroy(session, animation: "standard"))
    while !stage.asked.isEmpty { stage.hostAnswers(.refused("the secret words")) }
    #expect(
      stage.sayings.contains {
        if case .log(.warning, let line) = $0 { line.string.contains("Discard") } else { false }
      })
    #expect(!stage.sayings.contains { "\($0)".contains("secret") })
  }
}
