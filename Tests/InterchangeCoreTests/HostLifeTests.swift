import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Hosts, their scenes, and the order in which everyone hears of changes.
@Suite struct HostLifeTests {
  private let stage = Stage(hosting: cats())
  private let attach = Ask.attach(application: "org.example.Cats", shown: [], unknown: [], HostOptions())

  @Test func `a host that attaches is answered, hears what is gone, and then is given what is held`() throws {
    let stage = Stage(cats())
    let gone = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.attach()
    stage.hostAnswersAll()
    stage.hostLeaves()
    stage.call(.destroy(gone, animation: "standard"))
    stage.drop(key: "2")
    stage.attach(hearsDiscards: false)
    #expect(stage.asked.map(\.question) == [.discarded([gone])])
    #expect(stage.memory.hosts["org.example.Cats"]?.stage == .welcome)
    stage.hostAnswers(.done)
    #expect(stage.memory.hosts["org.example.Cats"]?.stage == .ready)
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    #expect(stage.shelf.owed.isEmpty)
  }

  @Test func `what a host was being told when it left is told to the next, before anything else`() throws {
    let stage = Stage(cats())
    let gone = try stage.destroyOne()
    let held = stage.drop(key: "1")?.delivered?.delivery
    stage.attach(hearsDiscards: false)
    stage.hostLeaves()
    #expect(stage.progress(of: held)?.state == .held)
    stage.attach(as: .other, hearsDiscards: false)
    #expect(stage.asked.map(\.question) == [.discarded([gone])])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    // The first host never had the delivery.
    #expect(stage.progress(of: held)?.attempt == 1)
  }

  @Test func `a host that attaches again in the middle of something is given nothing twice`() throws {
    let stage = Stage(cats())
    try stage.destroyOne()
    stage.drop(key: "1")
    for _ in 0..<2 { stage.attach(hearsDiscards: false) }
    stage.drop(key: "1")
    #expect(stage.asked.map(\.question.member) == ["DidDiscardSceneSessions"])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    stage.attach()
    stage.drop(key: "1")
    stage.hostAnswersAll()
    #expect(
      stage.questions.filter { $0 != "ActivateScene" } == [
        "DidDiscardSceneSessions", "ConnectScene", "ContinueScene", "ContinueScene",
      ])
    for delivery in stage.shelf.deliveryOrder.compactMap({ stage.progress(of: $0) }).suffix(3) {
      #expect((delivery.state, delivery.attempt) == (.handled, 1))
    }
  }

  @Test func `attaching again says which scenes are there, and another application's session is none`() throws {
    let stage = Stage(cats(), cats("org.example.Dogs"))
    let own = { (options: inout PayloadOptions) in options.application = "org.example.Cats" }
    stage.attach()
    let windows = try ["1", "2"].map { try #require(stage.drop(key: $0, own)?.delivered?.session) }
    stage.hostAnswersAll()
    for window in windows {
      stage.attach(showing: [window])
      #expect(stage.sessions().filter(\.isConnected).map(\.identifier) == [window])
      #expect(stage.shelf.sessions[window]?.state == .foregroundInactive)
    }
    let foreign = try #require(stage.drop(key: "1") { $0.application = "org.example.Dogs" }?.delivered?.session)
    stage.attach(showing: [foreign])
    #expect(stage.answer?.refusal?.name == .invalidArgs)
    #expect(stage.book.isHost(.host, of: "org.example.Cats"))
  }

  @Test func `a window that its host closes after it asked to attach again stays closed`() throws {
    let window = try stage.window("1")
    // With another path, the bus is asked first.
    let options = HostOptions(path: "/org/example/Other")
    stage.call(.attach(application: "org.example.Cats", shown: [window], unknown: [], options), by: .host)
    #expect(stage.call(.disconnect(window), by: .host) == .done)
    stage.play(.ownership(stage.lastQuestion, isOwner: true))
    #expect(stage.memory.hosts["org.example.Cats"]?.options == options)
    #expect(stage.shelf.sessions[window]?.isConnected == false)
  }

  @Test func `who does not own the name hosts nothing`() {
    let stage = Stage(cats())
    stage.call(attach, by: .host)
    stage.play(.ownership(stage.lastQuestion, isOwner: false))
    #expect(stage.answer?.refusal?.name == .notHost)
    #expect(stage.memory.hosts.isEmpty)
    #expect(stage.memory.attaching.isEmpty)
    #expect(stage.book.ledger.total(.calls) == 0)
  }

  @Test(arguments: [true, false])
  func `what is marked host is the attached host's, or a shell's where it was registered`(isInstalled: Bool) throws {
    let (stage, application) = (Stage(), "org.example.Cats" as Text)
    if isInstalled {
      stage.play(.installed([application: InstalledManifest(manifest: cats(), file: "/cats.plist")], keeping: []))
    } else {
      stage.call(.register(cats(), size: 1))
    }
    stage.attach()
    let session = try stage.window()
    let writings: [SessionWriting] = [
      .title("A cat"), .userActivity(UserActivity(activityType: "view")), .stateRestorationActivity(nil),
      .userInfo(["a": 1]), .canActivatePredicate("TRUEPREDICATE"), .prefersToActivatePredicate(""),
    ]
    let asks: [Ask] =
      writings.map { .write(session, $0) } + [
        .setState(session, .background), .post(application: application, name: "changed", userInfo: "{}"),
        .disconnect(session),
      ]
    func isDenied(_ ask: Ask) -> Bool { stage.call(ask, by: .other)?.refusal?.name == .accessDenied }
    #expect(asks.allSatisfy(isDenied))
    for ask in asks { #expect(stage.call(ask, by: .host) == .done, "\(ask)") }
    stage.hostLeaves()
    // No scene is connected, so two calls now fail for another reason.
    #expect(asks.map(isDenied) == asks.map { _ in isInstalled })
  }

  @Test func `a host in the place of another shows its windows, and what went with the other stays gone`() throws {
    let window = try stage.window("1")
    // The first host is opening a window; its departure for the third time refuses the delivery, and its session goes with it.
    let delivery = try #require(stage.drop(key: "2") { $0.statedDeadline = 3_600 }?.delivered)
    for _ in 0..<2 {
      stage.hostLeaves()
      stage.attach(showing: [window])
    }
    #expect(stage.progress(of: delivery.delivery)?.departures == 2)
    // The service hears of the next owner before it hears that the first has left.
    stage.attach(as: .other, showing: [window, delivery.session], hearsDiscards: false)
    let shown = try #require(stage.shelf.sessions[window])
    #expect(shown.isConnected)
    #expect(shown.state == .foregroundInactive)
    #expect(stage.shelf.sessions[delivery.session] == nil)
    #expect(stage.memory.scenes["org.example.Cats"] == [window])
    let path = SessionReference.path(of: delivery.session)
    #expect(stage.answer == .attached(application: "org.example.Cats", discarded: [path]))
    stage.checkItself()
  }

  @Test func `a host that gave the name back and attaches again is the host, whatever news comes later`() {
    let cats: Text = "org.example.Cats"
    // The news of its loss is behind its call.
    let answer = stage.call(attach, by: .host)
    #expect(answer?.refusal == nil)
    let lookup = Errand.findOwner(stage.lastQuestion, name: cats, application: cats, connection: ":1.10", path: nil)
    #expect(stage.errands.last == lookup)
    stage.hostLeaves()
    #expect(stage.book.isHost(.host, of: "org.example.Cats"))
    stage.play(.ownership(stage.lastQuestion, isOwner: true))
    #expect(stage.book.isHost(.host, of: "org.example.Cats"))
    // Once the bus has answered, a loss is news.
    stage.hostLeaves()
    #expect(!stage.book.isHost(.host, of: "org.example.Cats"))
  }

  @Test func `a host that took its name back from another, and was answered, is the host`() {
    let stage = Stage(hosting: cats())
    let questions = [Caller.other, .host].map { caller in
      stage.call(attach, by: caller)
      return stage.lastQuestion
    }
    // All of this happened before the second call.
    stage.hostLeaves()
    stage.play(.ownership(questions[0], isOwner: true))
    stage.hostLeaves("org.example.Cats", .other)
    stage.play(.ownership(questions[1], isOwner: true))
    stage.play(.ownership(stage.lastQuestion, isOwner: false))
    #expect(stage.book.isHost(.host, of: "org.example.Cats"))
    #expect(stage.answers[2]?.refusal?.name == .notHost)
    #expect(stage.memory.attaching.isEmpty)
    #expect(stage.book.ledger.total(.calls) == 0)
  }

  @Test func `an answer about a host that another has replaced says nothing of the other`() {
    let stage = Stage(hosting: cats())
    stage.call(attach, by: .host)
    let question = stage.lastQuestion
    stage.attach(as: .other)
    stage.play(.ownership(question, isOwner: true))
    #expect(stage.book.isHost(.other, of: "org.example.Cats"))
    stage.play(.ownership(stage.lastQuestion, isOwner: false))
    #expect(stage.book.isHost(.other, of: "org.example.Cats"))
    stage.hostLeaves("org.example.Cats", .other)
    #expect(stage.memory.hosts.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a host that left is no host, although the answer about it could not be stored`(isAgain: Bool) {
    let stage = isAgain ? Stage(hosting: cats()) : Stage(cats())
    stage.call(attach, by: .host)
    let call = stage.lastCall
    stage.turn(refused: true) { $0.play(.ownership($0.lastQuestion, isOwner: true)) }
    stage.hostLeaves()
    stage.passUntilQuiet(seconds: 10)
    stage.play(.ownership(stage.lastQuestion, isOwner: false))
    #expect(stage.memory.hosts.isEmpty && stage.memory.attaching.isEmpty)
    #expect(stage.answers[call]?.refusal?.name == (isAgain ? nil : .storageFailed))
  }

  @Test func `of two questions who owns the name, the answer to the second counts`() {
    for ownsAtLast in [false, true] {
      let stage = Stage(hosting: cats())
      let questions = (0..<2).map { _ in
        stage.call(attach, by: .host)
        return stage.lastQuestion
      }
      stage.hostLeaves()
      stage.play(.ownership(questions[0], isOwner: false))
      #expect(stage.book.isHost(.host, of: "org.example.Cats"))
      stage.play(.ownership(questions[1], isOwner: ownsAtLast))
      #expect(stage.book.isHost(.host, of: "org.example.Cats") == ownsAtLast && stage.memory.attaching.isEmpty)
    }
  }

  @Test func `a host that has its name again stays, although its loss could not be stored`() throws {
    let window = try stage.window()
    stage.turn(refused: true) { $0.hostLeaves() }
    stage.attach(showing: [window])
    stage.passUntilQuiet(seconds: 60)
    #expect(stage.book.isHost(.host, of: "org.example.Cats"))
    #expect(stage.sessions().map(\.isConnected) == [true])
  }

  @Test func `one connection can host two applications`() throws {
    let stage = Stage(cats(), cats("org.example.Player"))
    for application in ["org.example.Cats", "org.example.Player"] as [Text] { stage.attach(application) }
    let landed = stage.drop(key: "1") { $0.application = "org.example.Cats" }
    let delivered = try #require(landed?.delivered)
    stage.hostAnswersAll()
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
    #expect(stage.call(.setState(delivered.session, .background), by: .host) == .done)
    for application in ["org.example.Cats", "org.example.Player"] as [Text] {
      #expect(stage.book.isHost(.host, of: application))
    }
  }

  @Test(arguments: [
    (HostAnswer.refused("no"), ["DeliveryFailed", "session went", "SessionDiscarded", "refused hostRefused"]),
    (.done, ["session changed State Connected", "SessionConnected", "SessionStateChanged", "Handled", "answer"]),
  ])
  func `properties come before signals, and what the caller hears comes last`(answer: HostAnswer, words: [String]) {
    stage.drop(key: "1") { $0.wait = .handled }
    let before = stage.sayings.count
    stage.hostAnswers(answer)
    #expect(stage.said(since: before).map(\.word) == words)
  }

  @Test func `a window that opens after its delivery failed is closed again`() throws {
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.sessions().isEmpty)
    // The host is still opening the scene, and gets no other call meanwhile.
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    stage.pass(seconds: 10)
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.destroy(session, animation: "standard")])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.discarded([session])])
    stage.hostAnswers(.done)
    #expect(stage.memory.places == 0)
    #expect(stage.memory.lanes.isEmpty)
    #expect(stage.memory.hosts["org.example.Cats"]?.running == 0)
  }

  @Test func `what is destroyed while it is being connected is closed after that, and its deliveries fail`() throws {
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.drop(key: "1")
    let before = stage.sayings.count
    stage.call(.destroy(session, animation: "commit"))
    #expect(
      stage.said(since: before).map(\.word) == [
        "session went", "SessionDiscarded", "DeliveryFailed", "DeliveryFailed", "answer",
      ])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.destroy(session, animation: "commit")])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.discarded([session])])
  }

  @Test func `a configuration that goes closes its windows, and its host hears of them as one set`() throws {
    let stage = Stage(hosting: cats(configurations: ["Default", "Other"]))
    let gone = try ["1", "2", "3"].map { key in
      try #require(stage.drop(key: key) { $0.configuration = "Other" }?.delivered?.session)
    }
    stage.hostAnswersAll()
    // A session that no longer has a window.
    stage.call(.disconnect(gone[2]), by: .host)
    stage.play(.declared(cats()))
    stage.passUntilQuiet(seconds: 0)
    #expect(stage.asked.map(\.question.member) == ["DestroyScene", "DestroyScene"])
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question.member) == ["DestroyScene"])
    stage.hostAnswers(.done)
    guard case .discarded(let sessions)? = stage.asked.first?.question else {
      return _ = Issue.record("\(stage.asked)")
    }
    #expect(Set(sessions) == Set(gone) && stage.asked.count == 1)
  }

  @Test func `a window that its host refused late is not closed, and the host hears that its session is gone`() throws {
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.passUntilQuiet(seconds: 20)
    stage.hostAnswers(.refused("late"))
    #expect(stage.asked.map(\.question) == [.discarded([session])])
  }

  @Test func `a scene reports its state while it is connected, and not later`() throws {
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    #expect(stage.call(.setState(session, .background), by: .host)?.refusal?.name == .invalidArgs)
    stage.hostAnswersAll()
    #expect(stage.shelf.sessions[session]?.state == .foregroundInactive)
    #expect(stage.call(.setState(session, .foregroundActive), by: .other)?.refusal?.name == .accessDenied)
    stage.pass(seconds: 3)
    #expect(stage.call(.setState(session, .foregroundActive), by: .host) == .done)
    #expect(stage.shelf.sessions[session]?.lastActivated == stage.now.time)
    #expect(stage.call(.disconnect(session), by: .host) == .done)
    #expect(stage.shelf.sessions[session]?.state == .unattached)
    #expect(stage.call(.disconnect(session), by: .host)?.refusal?.name == .invalidArgs)
  }

  @Test func `a scene is drawn again when it is in the background, once for all who asked`() throws {
    let session = try stage.window("1")
    for _ in 0..<3 { stage.call(.refresh(session)) }
    #expect(stage.asked.isEmpty)
    stage.call(.setState(session, .background), by: .host)
    #expect(stage.asked.map(\.question) == [.refresh(session)])
    // While the host draws, more ask it to: it draws once more for all of them.
    for _ in 0..<5 { stage.call(.refresh(session)) }
    for _ in 0..<2 {
      #expect(stage.asked.map(\.question) == [.refresh(session)])
      stage.hostAnswers(.done)
    }
    #expect(stage.asked.isEmpty && stage.memory.refreshes.isEmpty)
    // A session without a scene does not draw, and a restored scene is drawn anyway.
    stage.call(.disconnect(session), by: .host)
    stage.call(.refresh(session))
    stage.drop(key: "1")
    stage.hostAnswersAll()
    stage.call(.setState(session, .background), by: .host)
    #expect(stage.asked.isEmpty && stage.memory.refreshes.isEmpty)
  }

  // MARK: The host's choice of configuration

  private func dynamic() -> Stage {
    Stage(hosting: cats(configurations: ["Default", "Other"], atMost: 2, isDynamic: true))
  }

  @Test func `a new session has the configuration that its host chooses, and the limits of the manifest's`() throws {
    let stage = dynamic()
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    #expect(stage.asked.map(\.question.member) == ["ConfigurationForConnecting"])
    stage.hostAnswers(.configuration("Other"))
    let connect = try #require(stage.asked.first?.question.connect)
    #expect((connect.session, connect.configuration) == (session, "Other"))
    #expect(stage.shelf.sessions[session]?.configuration == "Other")
    stage.hostAnswersAll()
    // A session that was connected keeps its configuration.
    stage.call(.disconnect(session), by: .host)
    stage.drop(key: "1")
    #expect(stage.asked.map(\.question.member) == ["ConnectScene"])
    stage.hostAnswersAll()
    for key in ["2", "3"] as [Text] {
      #expect(stage.drop(key: key)?.delivered != nil)
      stage.hostAnswers(.configuration(.empty))
      stage.hostAnswersAll()
    }
    #expect(stage.drop(key: "4")?.refusal?.name == .routing("org.stagedoor.Error.RequestDenied"))
  }

  @Test(arguments: [
    HostAnswer.configuration(.empty), .configuration("Default"), .configuration("Screen"), .configuration("Nowhere"),
    .refused("no"), .timedOut,
  ])
  func `no answer, one of no use, an error or silence: the manifest's choice`(_ answer: HostAnswer) throws {
    let stage = Stage(
      hosting: cats(configurations: ["Default", "Other", "Screen"], isDynamic: true) {
        $0.configurations[2].role = "UIWindowSceneSessionRoleExternalDisplayNonInteractive"
      })
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    let asked = try #require(stage.asked.first)
    #expect(asked.question.member == "ConfigurationForConnecting" && asked.within == 1_000_000)
    stage.hostAnswers(answer)
    let connect = try #require(stage.asked.first?.question.connect)
    #expect((connect.session, connect.configuration) == (session, "Default"))
    // A late answer changes nothing.
    stage.play(.hostAnswered(asked.errand, .configuration("Other")))
    stage.hostAnswersAll()
    #expect(stage.shelf.sessions[session]?.configuration == "Default")
  }

  @Test func `a session that is gone before its host has chosen is not connected`() throws {
    let stage = dynamic()
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    stage.call(.destroy(delivered.session, animation: "standard"))
    #expect(stage.progress(of: delivered.delivery)?.state == .failed)
    stage.hostAnswers(.configuration("Other"))
    #expect(stage.asked.map(\.question) == [.discarded([delivered.session])])
  }

  // MARK: Starts

  @Test func `an application that the bus cannot start is started by its command`() {
    let stage = Stage(cats(exec: "cats"))
    stage.drop(key: "1") { $0.activationToken = "now" }
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    #expect(
      stage.errands.last == .run(application: "org.example.Cats", number: 1, command: "cats", activationToken: "now"))
    stage.play(.launch(application: "org.example.Cats", number: 1, .commandEnded(failure: nil)))
    #expect(stage.memory.starts["org.example.Cats"] == .ended(until: stage.now.uptime + Start.followsBy))
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.memory.starts["org.example.Cats"] == .ended(until: stage.now.uptime))
    let delivery = stage.shelf.deliveryOrder[0]
    #expect(
      stage.progress(of: delivery)?.error?.message
        == Text("org.example.Cats was started and did not attach, so no host took the delivery \(delivery) in time"))
    stage.drop(key: "2")
    #expect(stage.errands.last == .launch(application: "org.example.Cats", number: 2, name: "org.example.Cats"))
  }

  @Test func `what is held is started when an installed manifest says how, and a registered one says nothing of it`() {
    var stage = Stage(cats())
    stage.drop(key: "1")
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    stage.play(.declared(cats(exec: "cats")))
    stage.play(.launch(application: "org.example.Cats", number: 2, .unknown))
    #expect(
      stage.errands.last == .run(application: "org.example.Cats", number: 2, command: "cats", activationToken: nil))
    stage = Stage()
    stage.call(.register(cats(exec: "cats"), size: 1))
    stage.drop(key: "1")
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    #expect(!stage.errands.contains { if case .run = $0 { true } else { false } })
  }

  @Test(arguments: [LaunchNews.failed("no"), .commandEnded(failure: "no"), .left(wasStarted: true)])
  func `where a start fails all that is held fails, the last first`(_ news: LaunchNews) {
    let stage = Stage(cats(exec: "cats"))
    for _ in 0..<2 { stage.drop(key: "1") }
    stage.play(.launch(application: "org.example.Cats", number: 1, .started))
    stage.play(.launch(application: "org.example.Cats", number: 1, news))
    #expect(
      stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.error?.name == "org.stagedoor.Error.LaunchFailed" }
    )
    #expect(stage.sessions().isEmpty)
    #expect(stage.memory.starts.isEmpty)
    // A report about an earlier start has no effect.
    stage.drop(key: "1")
    stage.play(.launch(application: "org.example.Cats", number: 1, news))
    #expect(stage.memory.starts["org.example.Cats"] == .asking(number: 2, isKnown: false))
  }

  @Test func `a program that was there already and leaves without having attached is no failed start`() {
    let stage = Stage(cats())
    stage.drop(key: "1")
    stage.play(.launch(application: "org.example.Cats", number: 1, .started))
    stage.play(.launch(application: "org.example.Cats", number: 1, .left(wasStarted: false)))
    #expect(stage.memory.starts["org.example.Cats"] == .asking(number: 2, isKnown: false))
    stage.attach()
    #expect(stage.questions.count == 1)
  }

  @Test func `whether something that cannot be started can be is asked again after a while`() {
    let stage = Stage(cats())
    stage.drop(key: "1")
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    stage.drop(key: "2")
    #expect(stage.errands.count == 1)
    stage.pass(seconds: 10)
    stage.drop(key: "3")
    #expect(stage.errands.count == 2)
    stage.attach()
    #expect(stage.errands.contains(.forgetLaunch(application: "org.example.Cats", number: 2)))
  }

  @Test func `a bus that starts a slow program is no host that took nothing`() throws {
    let stage = Stage(cats())
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.play(.launch(application: "org.example.Cats", number: 1, .isKnown))
    stage.passUntilQuiet(seconds: 21)
    #expect(stage.progress(of: delivery)?.error?.message.string.contains("did not attach") == true)
  }

  // MARK: Sessions that are kept

  /// The host of an application that keeps no session without a scene.
  private func keepingNone() -> Stage { Stage(hosting: cats(exec: "cats") { $0.keptSessions = 0 }) }

  @Test func `a session without a scene is not kept when its forwarded delivery is handled`() throws {
    let stage = keepingNone()
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.call(.putOff(delivery, seconds: 60), by: .host)
    stage.hostAnswers(.refused("no window"))
    #expect(stage.sessions().count == 1)
    #expect(stage.call(.finish(delivery, error: "", message: ""), by: .host) == .done)
    #expect(stage.sessions().isEmpty)
  }

  @Test func `a session without a scene is not kept when its last delivery fails`() throws {
    let stage = keepingNone()
    _ = try stage.window("1")
    stage.drop(key: "1")
    stage.hostLeaves()
    #expect(stage.sessions().count == 1)
    let start = try #require(stage.memory.starts["org.example.Cats"]?.number)
    stage.play(.launch(application: "org.example.Cats", number: start, .failed("no")))
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.sessions().isEmpty)
  }

  @Test func `a session without a scene is not kept when its only delivery goes elsewhere`() throws {
    let stage = keepingNone()
    let other = try stage.window("2")
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    #expect(stage.call(.redirect(delivery, to: other))?.refusal == nil)
    // Its window was about to open.
    #expect(stage.sessions().count == 2)
    stage.hostAnswers(.refused("no window"))
    #expect(stage.sessions().map(\.identifier) == [other])
  }

  @Test(arguments: [true, false])
  func `a session whose window is being opened stays, whatever becomes of its delivery`(opens: Bool) throws {
    let stage = keepingNone()
    let delivery = try #require(stage.drop(key: "1")?.delivered?.delivery)
    stage.call(.putOff(delivery, seconds: 60), by: .host)
    stage.call(.finish(delivery, error: "", message: ""), by: .host)
    #expect(stage.sessions().count == 1)
    stage.hostAnswers(opens ? .done : .refused("no window"))
    #expect(stage.sessions().count == (opens ? 1 : 0))
  }

  @Test func `a session with a delivery on its way pushes no other out`() throws {
    let stage = Stage(cats(exec: "cats") { $0.keptSessions = 1 })
    let kept = try #require(stage.call(.newSession(application: "org.example.Cats", configuration: ""))?.delivered)
    let awaited = try #require(stage.drop(key: "1")?.delivered)
    let cancelled = try #require(stage.drop(key: "2")?.delivered)
    #expect(stage.call(.cancel(cancelled.delivery)) == .done)
    #expect(stage.sessions().map(\.identifier) == [kept.session, awaited.session])
  }

  @Test func `a sandbox does not learn how many windows another application has`() throws {
    let stage = Stage(cats())
    for key in 0..<102 { stage.drop(key: Text("\(key)")) }
    func explained(to caller: Caller) throws -> Explanation {
      try #require(stage.explain(stage.activity("view", "other"), by: caller))
    }
    #expect(try explained(to: .shell).candidates.count == 100)
    #expect(try explained(to: .shell).candidatesLeftOut == 2)
    #expect(try explained(to: .sandbox("org.example.Cats")).candidatesLeftOut == 2)
    #expect(try explained(to: .sandbox("org.example.Mail")).candidates == [])
    #expect(try explained(to: .sandbox("org.example.Mail")).candidatesLeftOut == 0)
  }
}
