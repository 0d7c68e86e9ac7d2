import SceneModel
import Testing

@testable import InterchangeCore

/// Each transition of a delivery, and its signals.
@Suite struct DeliveryLifeTests {
  private let stage = Stage(hosting: cats())

  @Test func `without a host it is held and its application started, and a ready host gets all in order`() throws {
    let stage = Stage(cats())
    let deliveries = try ["1", "2", "3"].map { try #require(stage.drop(key: $0)?.delivered) }
    #expect(deliveries.allSatisfy { $0.outcome == "created" && stage.progress(of: $0.delivery)?.state == .held })
    #expect(stage.errands == [.launch(application: "org.example.Cats", number: 1, name: "org.example.Cats")])
    stage.attach()
    #expect(stage.asked.map(\.question.connect?.session) == deliveries.map(\.session))
    #expect(deliveries.allSatisfy { stage.progress(of: $0.delivery)?.state == .routed })
  }

  @Test func `with a host it is routed, and handled when the host has opened the window`() throws {
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    #expect(stage.progress(of: delivered.delivery)?.state == .routed)
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    stage.hostAnswers(.done)
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
    #expect(stage.progress(of: delivered.delivery)?.isOpen == false)
    #expect(stage.asked.map(\.question.member) == ["ActivateScene"])
    stage.hostAnswers(.refused("no"))
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
    // The host continues a connected scene. Without items the scene is only brought to the front, which acknowledges the delivery.
    stage.drop(key: "1")
    #expect(stage.asked.map(\.question.member) == ["ContinueScene"])
    stage.hostAnswersAll()
    let activated = stage.activate(delivered.session)?.delivered
    #expect(stage.asked.map(\.question.member) == ["ActivateScene"])
    stage.hostAnswersAll()
    #expect(stage.progress(of: activated?.delivery)?.state == .handled)
  }

  @Test func `for one session calls wait for each other, and different sessions do not`() throws {
    let first = try #require(stage.drop(key: "1")?.delivered?.delivery)
    let second = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.drop(key: "2")
    #expect(stage.asked.map(\.question.member) == ["ConnectScene", "ConnectScene"])
    stage.hostAnswers(.done)
    #expect(stage.progress(of: first)?.state == .handled)
    // ActivateScene is a call of the delivery too.
    #expect(stage.asked.map(\.question.member) == ["ConnectScene", "ActivateScene"])
    #expect(stage.progress(of: second)?.state == .routed)
    for _ in 0..<2 { stage.hostAnswers(.done) }
    #expect(stage.asked.map(\.question.member) == ["ActivateScene", "ContinueScene"])
    stage.hostAnswersAll()
    #expect(stage.progress(of: second)?.state == .handled)
  }

  @Test func `which call is made follows the session when it is made, and the outcome when it was decided`() throws {
    let session = try stage.window("1")
    stage.call(.write(session, .stateRestorationActivity(UserActivity(activityType: "restore"))), by: .host)
    stage.drop(key: "1")
    #expect(stage.drop(key: "1")?.delivered?.outcome == "activated")
    #expect(stage.asked.map(\.question.member) == ["ContinueScene"])
    // The host has released the window in between.
    stage.call(.disconnect(session), by: .host)
    for _ in 0..<2 { stage.hostAnswers(.done) }
    let connect = try #require(stage.asked.first?.question.connect)
    #expect(connect.session == session)
    #expect(connect.options.string.contains(#""stateRestorationActivity":{"activityType":"restore"}"#))
  }

  @Test(arguments: [HostAnswer.refused("no cats"), .failed("broken"), .timedOut])
  func `a host that does not take it lets it fail, and the session made for it goes`(_ answer: HostAnswer) throws {
    let name: Text = answer == .timedOut ? "org.stagedoor.Error.HostTimeout" : "org.stagedoor.Error.HostRefused"
    #expect(stage.drop(key: "1") { $0.wait = .handled } == nil)
    let call = stage.lastCall
    stage.hostAnswers(answer)
    #expect(stage.answers[call]?.refusal?.errorName == name)
    #expect(stage.sessions().isEmpty)
    let delivery = stage.shelf.deliveryOrder[0]
    #expect(stage.progress(of: delivery)?.state == .failed)
    #expect(stage.progress(of: delivery)?.error?.name == name)
    #expect(stage.memory.deliveries.isEmpty)
  }

  @Test func `a host that refuses to open a scene, and did not answer before, may show it, and hears that it is gone`()
  {
    let session = stage.drop(key: "1")?.delivered?.session
    stage.drop(key: "1") { $0.statedDeadline = 60 }
    stage.hostAnswers(.timedOut)
    #expect(stage.asked.first?.question.member == "ConnectScene")
    stage.hostAnswers(.refused("it is open"))
    #expect(stage.sessions().isEmpty)
    #expect(stage.asked.map(\.question) == session.map { [.destroy($0, animation: "standard")] })
  }

  @Test(arguments: [HostAnswer.refused("no"), .timedOut])
  func `what no host takes leaves its window as before, unless something newer was set`(_ answer: HostAnswer) throws {
    let session = try stage.window("1")
    stage.drop(key: "2", to: session)
    #expect(stage.sessions()[0].userActivity?.key == "2")
    stage.hostAnswers(answer)
    #expect(stage.sessions()[0].userActivity?.key == "1")
    #expect(stage.sessions()[0].shownBy == stage.shelf.deliveryOrder[0])
    stage.drop(key: "3", to: session)
    let newer = UserActivity(activityType: "view", targetContentIdentifier: "4")
    stage.call(.write(session, .userActivity(newer)), by: .host)
    stage.hostAnswers(answer)
    #expect(stage.sessions()[0].userActivity?.key == "4")
  }

  @Test func `what is held fails when its time is over, as long as something could start its application`() throws {
    let stage = Stage(cats())
    let delivery = stage.drop(key: "1")?.delivered?.delivery
    stage.play(.launch(application: "org.example.Cats", number: 1, .isKnown))
    #expect(stage.lastStep.callAgain == stage.now.uptime + 20_000_000)
    stage.passUntilQuiet(seconds: 19.9)
    #expect(stage.progress(of: delivery)?.state == .held)
    stage.passUntilQuiet(seconds: 0.1)
    #expect(stage.progress(of: delivery)?.state == .failed)
    #expect(stage.progress(of: delivery)?.error?.name == "org.stagedoor.Error.HostTimeout")
    #expect(stage.sessions().isEmpty)
  }

  @Test func `what nobody can take is unclaimed when its time is over: it is routed, and its session stays`() throws {
    let stage = Stage(cats())
    #expect(stage.drop(key: "1") { $0.wait = .handled } == nil)
    let (call, delivery) = (stage.lastCall, stage.shelf.deliveryOrder[0])
    // While the core waits to hear whether anything can start the application, it decides nothing.
    stage.passUntilQuiet(seconds: 21)
    #expect(stage.progress(of: delivery)?.isOpen == true)
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    let before = stage.sayings.count
    stage.passUntilQuiet(seconds: 0.1)
    #expect(stage.said(since: before).map(\.word) == ["Unclaimed", "refused hostTimeout"])
    #expect(stage.answers[call]?.refusal?.name == .hostTimeout)
    let progress = stage.progress(of: delivery)
    #expect(progress?.state == .routed)
    #expect(progress?.isOpen == false)
    #expect(stage.sessions().count == 1)
    // The next delivery finds the session, which has never had a scene.
    stage.attach()
    #expect(stage.drop(key: "1")?.delivered?.outcome == "activated")
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
  }

  @Test func `what a host cannot be given before it knows what is gone fails when its time is over`() throws {
    let stage = Stage(cats())
    try stage.destroyOne()
    stage.attach(hearsDiscards: false)
    let delivery = stage.drop(key: "1")?.delivered?.delivery
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.progress(of: delivery)?.error?.name == "org.stagedoor.Error.HostTimeout")
    #expect(stage.sessions().isEmpty)
    stage.hostAnswers(.done)
    #expect(stage.asked.isEmpty)
    stage.drop(key: "2")
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
  }

  @Test func `it is cancelled while it is held, and not later`() throws {
    let stage = Stage(cats())
    let held = try #require(stage.drop(key: "1")?.delivered)
    #expect(stage.call(.cancel(held.delivery)) == .done)
    #expect(stage.progress(of: held.delivery)?.state == .cancelled)
    #expect(stage.sessions().isEmpty)
    #expect(stage.call(.cancel(held.delivery))?.refusal?.name == .requestDenied)
    let target = try #require(stage.drop(key: "2")?.delivered?.session)
    #expect(
      stage.call(.redirect(held.delivery, to: target))?.refusal?.message
        == "the delivery \(held.delivery) is cancelled: only an open or a handled delivery can be redirected")
    stage.attach()
    let routed = try #require(stage.drop(key: "1")?.delivered)
    #expect(stage.call(.cancel(routed.delivery))?.refusal?.name == .requestDenied)
    #expect(stage.call(.cancel(held.session))?.refusal?.name == .noSuchDelivery)
  }

  @Test func `who waits until it is handled hears of the end in each case`() throws {
    for (isCancelled, name) in [(true, "Cancelled"), (false, "NoSuchSession")] as [(Bool, Text)] {
      let stage = Stage(cats())
      #expect(stage.drop(key: "1") { $0.wait = .handled } == nil)
      let call = stage.lastCall
      stage.call(
        isCancelled
          ? .cancel(stage.shelf.deliveryOrder[0]) : .destroy(stage.sessions()[0].identifier, animation: "standard"))
      #expect(stage.answers[call]?.refusal?.errorName == Text("org.stagedoor.Error.\(name)"))
    }
  }

  @Test func `who waits for a host that never came hears the same again`() {
    let stage = Stage(cats())
    let once = { (options: inout PayloadOptions) in (options.token, options.wait) = ("once", .handled) }
    stage.drop(key: "1", once)
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    stage.passUntilQuiet(seconds: 21)
    let first = stage.answers[1]?.refusal
    #expect(first?.name == .hostTimeout)
    #expect(stage.drop(key: "1", once)?.refusal == first)
    #expect(stage.shelf.events.count == 2, "it happened once, and ended once")
  }

  @Test func `a host that leaves holds it again, with the next attempt unless it never heard the call`() throws {
    let delivery = stage.drop(key: "1")?.delivered?.delivery
    stage.hostAnswers(.gone(neverReached: true))
    for (attempt, departures) in [(1, 0), (2, 1)] {
      #expect(stage.progress(of: delivery)?.state == .held)
      #expect(stage.progress(of: delivery)?.attempt == Int64(attempt))
      #expect(stage.progress(of: delivery)?.departures == Int64(departures))
      #expect(stage.errands.last == .launch(application: "org.example.Cats", number: attempt, name: "org.example.Cats"))
      stage.attach()
      stage.hostLeaves()
    }
  }

  @Test func `three departures refuse what the host was working on, and nothing else`() throws {
    let stage = Stage(cats())
    let first = stage.drop(key: "1")?.delivered
    for _ in 0..<2 {
      stage.attach()
      stage.hostLeaves()
    }
    let second = stage.drop(key: "2")?.delivered
    // This delivery waits behind the first one of the same session, so no host has had it.
    let third = stage.drop(key: "1")?.delivered
    #expect(third?.session == first?.session)
    stage.attach()
    stage.hostLeaves()
    #expect(stage.progress(of: first?.delivery)?.state == .failed)
    #expect(stage.progress(of: first?.delivery)?.error?.name == "org.stagedoor.Error.HostRefused")
    #expect(stage.progress(of: first?.delivery)?.error?.message.string.contains("three times") == true)
    #expect(stage.progress(of: second?.delivery)?.departures == 1)
    #expect(stage.progress(of: second?.delivery)?.state == .held)
    #expect(stage.progress(of: third?.delivery)?.departures == 0)
    #expect(stage.progress(of: third?.delivery)?.state == .held)
  }

  @Test func `a host that is back hears that a window is gone which it may only then be asked to open`() throws {
    let stage = Stage(cats())
    for departures in [1, 3] {
      let made = try #require(stage.drop(key: Text("gone after \(departures)"))?.delivered)
      for _ in 0..<departures {
        stage.attach()
        stage.hostLeaves()
      }
      if departures < 3 { stage.call(.cancel(made.delivery)) }
      #expect(stage.sessions().isEmpty)
      // The same connection has lost the name, and has not read the questions yet.
      stage.attach(hearsDiscards: false)
      #expect(stage.asked.map(\.question) == [.discarded([made.session])])
      stage.hostAnswers(.done)
      stage.hostLeaves()
    }
  }

  @Test func `deliveries that joined do not fail with the first`() throws {
    let first = try #require(stage.drop(key: "1")?.delivered)
    let second = try #require(stage.drop(key: "1")?.delivered)
    #expect(first.session == second.session)
    stage.hostAnswers(.refused("not the first"))
    #expect(stage.progress(of: first.delivery)?.state == .failed)
    #expect(stage.progress(of: second.delivery)?.isOpen == true)
    #expect(stage.sessions().count == 1)
    // The second delivery has the window that was made for the first, and the window goes in the same way.
    stage.hostAnswers(.refused("not the second"))
    #expect(stage.progress(of: second.delivery)?.state == .failed)
    #expect(stage.sessions().isEmpty)
  }

  @Test func `a redirect gives it to another session, and what stood in the first comes back`() throws {
    let sessions = try ["1", "2"].map { try stage.window($0) }
    let delivered = try #require(stage.drop(key: "3", to: sessions[0])?.delivered)
    stage.hostAnswersAll()
    #expect(stage.call(.redirect(delivered.delivery, to: sessions[1])) == .outcome("activated"))
    #expect(stage.progress(of: delivered.delivery)?.isOpen == true)
    #expect(stage.progress(of: delivered.delivery)?.attempt == 2)
    #expect(stage.shelf.sessions[sessions[0]]?.userActivity?.key == "1")
    #expect(stage.shelf.sessions[sessions[1]]?.userActivity?.key == "3")
    // The delivery remembers the session's earlier activity.
    stage.hostAnswers(.refused("no"))
    #expect(stage.shelf.sessions[sessions[1]]?.userActivity?.key == "2")
    #expect(stage.progress(of: delivered.delivery)?.state == .failed)
  }

  @Test(arguments: [false, true])
  func `a redirect discards the session that was made for the delivery, unless a host was given it`(isGiven: Bool)
    throws
  {
    let stage = Stage(cats())
    let target = try #require(stage.drop(key: "1")?.delivered?.session)
    if isGiven { stage.attach() }
    let wrong = try #require(stage.drop(key: "2") { $0.disposition = .new }?.delivered)
    #expect(stage.call(.redirect(wrong.delivery, to: target)) == .outcome("activated"))
    #expect(stage.sessions().map(\.identifier) == (isGiven ? [target, wrong.session] : [target]))
    #expect(stage.drop(key: "2")?.delivered?.session == target)
    if isGiven { return }
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.questions.filter { $0 == "ConnectScene" }.count == 1)
    #expect(stage.progress(of: wrong.delivery)?.state == .handled)
  }

  @Test func `a delivery that a host has in hand is redirected, and the first answer counts no more`() throws {
    let sessions = try ["1", "2"].map { try stage.window($0) }
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    #expect(stage.call(.redirect(delivery, to: sessions[1])) == .outcome("activated"))
    #expect(stage.asked.map(\.question.member) == ["ContinueScene", "ContinueScene"])
    stage.hostAnswers(.refused("late"))
    #expect(stage.progress(of: delivery)?.isOpen == true)
    stage.hostAnswersAll()
    #expect(stage.progress(of: delivery)?.state == .handled)
    #expect(stage.progress(of: delivery)?.attempt == 2)
    #expect(stage.shelf.sessions[sessions[1]]?.userActivity?.key == "1")
  }

  @Test func `what is redirected to the window that just took it is given to it once more`() throws {
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    stage.hostAnswers(.done)
    #expect(stage.call(.redirect(delivered.delivery, to: delivered.session)) == .outcome("activated"))
    #expect(stage.asked.map(\.question.member) == ["ActivateScene"])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question.member) == ["ContinueScene"])
    stage.hostAnswersAll()
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
  }

  /// Once, each of two deliveries remembered the other as the one before it, and the service followed them for ever.
  @Test(arguments: [true, false])
  func `what was redirected there and back, or within its window, leaves nothing`(isThereAndBack: Bool) throws {
    let stage = Stage(cats())
    let first = try #require(stage.drop(key: "1")?.delivered?.session)
    let other = try #require(stage.drop(key: "2")?.delivered?.session)
    let deliveries = try ["a", "b"].map { try #require(stage.drop(key: $0, to: first)?.delivered?.delivery) }
    for session in isThereAndBack ? [other, first] : [first] {
      #expect(stage.call(.redirect(deliveries[0], to: session)) == .outcome("activated"))
    }
    for delivery in isThereAndBack ? deliveries.reversed() : deliveries {
      #expect(stage.call(.cancel(delivery)) == .done)
    }
    #expect(stage.shelf.sessions[first]?.userActivity?.key == "1")
    let last = try #require(stage.drop(key: "c", to: first)?.delivered?.delivery)
    #expect(stage.call(.cancel(last)) == .done)
  }

  /// The host may have written before it read of the delivery.
  @Test func `a window stays private whatever its host reports while a private delivery waits for it`() throws {
    let session = try stage.window("1")
    stage.drop(key: "secret", to: session) { $0.isPrivate = true }
    stage.call(
      .write(session, .userActivity(UserActivity(activityType: "view", targetContentIdentifier: "2"))), by: .host)
    stage.hostAnswersAll()
    let secret = UserActivity(activityType: "view", targetContentIdentifier: "secret", title: "secret")
    for writing in [SessionWriting.userActivity(secret), .title("secret")] {
      stage.call(.write(session, writing), by: .host)
      #expect(stage.shelf.sessions[session]?.asSeen.userActivity == nil)
      #expect(stage.shelf.sessions[session]?.asSeen.title == "")
    }
    stage.call(.write(session, .userActivity(nil)), by: .host)
    #expect(stage.shelf.sessions[session]?.isPrivate == false)
  }

  /// The host has taken the private delivery, and has not read of the public one.
  @Test func `what a host reports before it has taken the public delivery is not shown`() throws {
    let session = try stage.window("1")
    stage.drop(key: "secret", to: session) { $0.isPrivate = true }
    stage.drop(key: "2", to: session)
    for _ in 0..<2 { stage.hostAnswers(.done) }
    let secret = UserActivity(activityType: "view", targetContentIdentifier: "secret")
    stage.call(.write(session, .userActivity(secret)), by: .host)
    #expect(stage.shelf.sessions[session]?.asSeen.userActivity == nil)
    stage.hostAnswersAll()
    #expect(stage.shelf.sessions[session]?.asSeen.userActivity?.key == "2")
  }

  @Test(arguments: [true, false])
  func `a window is private while its host has a private delivery, also before a public one`(isHosted: Bool) throws {
    let stage = Stage(cats())
    if isHosted { stage.attach() }
    let session = try #require(stage.drop(key: "1") { $0.statedDeadline = 3_600 }?.delivered?.session)
    if isHosted { stage.hostAnswersAll() }
    stage.drop(key: "secret", to: session) { ($0.isPrivate, $0.statedDeadline) = (true, 3_600) }
    stage.drop(key: "2", to: session) { $0.statedDeadline = 3_600 }
    #expect(stage.shelf.sessions[session]?.isPrivate == isHosted)
    if !isHosted {
      stage.attach()
      // It is given the first delivery, brings the window to the front, and is given the private one.
      for _ in 0..<2 { stage.hostAnswers(.done) }
      #expect(stage.shelf.sessions[session]?.isPrivate == true)
    }
    stage.hostAnswersAll()
    #expect(stage.shelf.sessions[session]?.isPrivate == false)
    #expect(stage.shelf.sessions[session]?.asSeen.userActivity?.key == "2")
  }

  @Test func `a window is as before if its host never had the private delivery`() throws {
    let session = try #require(stage.drop(key: "1") { $0.statedDeadline = 3_600 }?.delivered?.session)
    let delivery = try #require(
      stage.drop(key: "2", to: session) { ($0.isPrivate, $0.statedDeadline) = (true, 5) }?.delivered?.delivery)
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.progress(of: delivery)?.state == .failed)
    #expect(stage.shelf.sessions[session]?.isPrivate == false)
    #expect(stage.shelf.sessions[session]?.userActivity?.key == "1")
  }

  @Test func `the window from which a private delivery was redirected stays private`() throws {
    let sessions = try ["1", "2"].map { try stage.window($0) }
    let delivery = try #require(stage.drop(key: "3", to: sessions[0]) { $0.isPrivate = true }?.delivered?.delivery)
    stage.hostAnswersAll()
    #expect(stage.call(.redirect(delivery, to: sessions[1])) == .outcome("activated"))
    #expect(stage.shelf.sessions[sessions[0]]?.isPrivate == true)
    // The host may report the private content once more.
    #expect(stage.shelf.sessions[sessions[0]]?.userActivity?.key == "3")
    stage.drop(key: "4", to: sessions[0])
    #expect(stage.shelf.sessions[sessions[0]]?.isPrivate == false)
  }

  @Test(arguments: [true, false])
  func `what goes with its configuration is not redirected`(inOneTurn: Bool) throws {
    let stage = Stage(cats(configurations: ["Default", "Other"]))
    let delivery = try #require(stage.drop(key: "1") { $0.configuration = "Other" }?.delivered?.delivery)
    let other = try #require(stage.drop(key: "2") { $0.configuration = "Default" }?.delivered?.session)
    if inOneTurn {
      stage.turn { stage in
        stage.play(.declared(cats()))
        stage.call(.redirect(delivery, to: other))
      }
    } else {
      stage.restart(cats())
      stage.call(.redirect(delivery, to: other))
    }
    #expect(stage.answer?.refusal?.name == .requestDenied)
    stage.passUntilQuiet(seconds: 0)
    #expect(stage.progress(of: delivery)?.state == .failed)
  }

  @Test(arguments: [false, true])
  func `what was redirected to a window comes behind what it found there, also after a restart`(restarts: Bool) throws {
    let stage = Stage(cats())
    let first = try #require(stage.drop(key: "a")?.delivered)
    let second = try #require(stage.drop(key: "b")?.delivered)
    #expect(stage.call(.redirect(first.delivery, to: second.session)) == .outcome("activated"))
    if restarts { stage.restart(cats()) }
    stage.attach()
    var given: [UniqueIdentifier] = []
    while let question = stage.asked.first?.question {
      if case .activate = question {
      } else {
        given += [first, second].map(\.delivery).filter { "\(question)".contains("\($0)") }
      }
      stage.hostAnswers(.done)
    }
    #expect(given == [second.delivery, first.delivery])
    #expect(stage.shelf.sessions[second.session]?.userActivity?.key == "a")
  }

  @Test func `no host is given a configuration that its manifest has lost, also after a restart`() throws {
    let stage = Stage(cats(configurations: ["Default", "Other"]))
    let delivered = try #require(stage.drop(key: "1") { $0.configuration = "Other" }?.delivered)
    let kept = try #require(stage.drop(key: "2") { $0.configuration = "Default" }?.delivered)
    stage.restart(cats())
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.progress(of: delivered.delivery)?.error?.name == "org.stagedoor.Error.NoSuchSession")
    #expect(stage.sessions().map(\.identifier) == [kept.session])
    #expect(stage.questions == ["DidDiscardSceneSessions", "ConnectScene", "ActivateScene"])
  }

  @Test func `what was for its sender's process alone is not handed over without it`() throws {
    let stage = Stage(hosting: cats())
    let target = try stage.window("2")
    let own = UserActivity(activityType: "view", targetContentIdentifier: "1", visibility: .ownProcess)
    let delivered = try #require(stage.call(.deliver(Payload(own), digest: .empty, size: 1), by: .host)?.delivered)
    stage.hostAnswersAll()
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
    #expect(stage.call(.redirect(delivered.delivery, to: target), by: .host)?.refusal?.name == .requestDenied)
    #expect(stage.asked.isEmpty)
  }

  @Test func `a delivery is redirected to a session of its own application only`() throws {
    let stage = Stage(cats(), cats("org.example.Dogs"))
    let delivered = try #require(stage.drop(key: "1") { $0.application = "org.example.Cats" }?.delivered)
    let foreign = try #require(stage.drop(key: "1") { $0.application = "org.example.Dogs" }?.delivered?.session)
    #expect(stage.call(.redirect(delivered.delivery, to: foreign))?.refusal?.name == .requestDenied)
    #expect(stage.call(.redirect(delivered.delivery, to: delivered.delivery))?.refusal?.name == .noSuchSession)
    #expect(stage.call(.redirect(delivered.session, to: foreign))?.refusal?.name == .noSuchDelivery)
  }

  @Test func `what was handled can be redirected until its deadline`() throws {
    let sessions = try ["1", "2"].map { try stage.window($0) }
    stage.pass(seconds: 20)
    let answer = stage.call(.redirect(stage.shelf.deliveryOrder[0], to: sessions[1]))
    #expect(answer?.refusal?.name == .requestDenied)
  }

  @Test func `a service that begins holds again what a host had, and may have seen`() throws {
    let handled = stage.drop(key: "1")?.delivered
    stage.hostAnswersAll()
    let routed = stage.drop(key: "2")?.delivered?.delivery
    stage.restart(cats())
    #expect(stage.progress(of: handled?.delivery)?.state == .handled)
    #expect(stage.progress(of: routed)?.state == .held)
    #expect(stage.progress(of: routed)?.attempt == 2)
    #expect(stage.sessions().allSatisfy { !$0.isConnected })
    #expect(stage.errands.last == .launch(application: "org.example.Cats", number: 1, name: "org.example.Cats"))
    // No session was counted twice.
    #expect(stage.memory.places == 2)
  }

  @Test func `a clock that is set changes no deadline`() throws {
    let stage = Stage(cats())
    let delivery = stage.drop(key: "1")?.delivered?.delivery
    stage.play(.launch(application: "org.example.Cats", number: 1, .isKnown))
    stage.now.time = stage.now.time.adding(seconds: 86_400)
    stage.passUntilQuiet(seconds: 19)
    #expect(stage.progress(of: delivery)?.isOpen == true)
    stage.now.time = stage.now.time.adding(seconds: -2 * 86_400)
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.progress(of: delivery)?.state == .failed)
  }

  @Test func `what was handled is redirected by a clock that was set back, unless its documents have gone`() throws {
    let stage = Stage(hosting: cats())
    let target = try stage.window("2")
    let first = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.hostAnswersAll()
    stage.pass(seconds: 60)
    stage.rest()
    stage.now.time = stage.now.time.adding(seconds: -3_600)
    #expect(stage.call(.redirect(first, to: target))?.refusal?.name == .requestDenied)
    let second = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.hostAnswersAll()
    stage.rest()
    #expect(stage.call(.redirect(second, to: target))?.refusal == nil)
  }

  @Test func `a deadline that a clock put far away is an hour at most`() throws {
    let stage = Stage(cats())
    let delivery = stage.drop(key: "1")?.delivered?.delivery
    stage.now.time = stage.now.time.adding(seconds: -86_400)
    stage.restart(cats())
    stage.play(.launch(application: "org.example.Cats", number: 1, .isKnown))
    stage.passUntilQuiet(seconds: 3_600)
    #expect(stage.progress(of: delivery)?.state == .failed)
  }
}
