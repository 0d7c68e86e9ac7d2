import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Work on all deliveries of an application: in pieces, each of which reads what it needs at once. The stage itself refuses a cue that begins again
/// more than a dozen times, or stores more than a turn holds.
@Suite struct RoundTests {
  private static let application: Text = "org.example.Cats"

  /// A stage with held deliveries, whose core has forgotten everything that it remembers for speed.
  private func holding(_ count: Int) -> Stage {
    let stage = Stage(cats(exec: "cats"))
    for key in 0..<count { stage.drop(key: Text("\(key)"), by: .shell(key)) { $0.statedDeadline = 3_600 } }
    stage.play(.launch(application: Self.application, number: 1, .started))
    stage.rest()
    return stage
  }

  /// Plays moments until the core has nothing left to do now. Returns their number, and the most that one of them ended.
  @discardableResult
  private func finish(_ stage: Stage) -> (moments: Int, mostFailed: Int) {
    var (moments, most) = (0, 0)
    while stage.memory.hasMoreToDo {
      let before = stage.book.openCount
      stage.play(.moment)
      most = max(most, before - stage.book.openCount)
      moments += 1
    }
    return (moments, most)
  }

  private func fail(_ stage: Stage) { stage.play(.launch(application: Self.application, number: 1, .failed("no"))) }

  @Test func `where a start fails for five thousand deliveries, they fail a hundred at a time`() {
    let stage = holding(5_000)
    fail(stage)
    #expect(stage.book.openCount == 4_900)
    // The sessions of the piece, and nothing else: each session goes with the delivery that made it.
    #expect(stage.restarts == 1)
    let (moments, most) = finish(stage)
    #expect(moments == 49)
    #expect(most == 100)
    #expect(stage.sessions().isEmpty)
    #expect(stage.memory.starts.isEmpty)
    #expect(
      stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.error?.name == "org.stagedoor.Error.LaunchFailed" }
    )
  }

  @Test func `sessions that stay show what they showed before, and the deliveries for that are read at once`() {
    let stage = Stage(hosting: cats(exec: "cats"))
    for key in 0..<120 { stage.drop(key: Text("\(key)")) }
    stage.hostAnswersAll()
    let before = stage.sessions()
    stage.hostLeaves()
    for session in before {
      for _ in 0..<2 { stage.drop(key: "another", to: session.identifier) }
    }
    let start = stage.memory.starts[Self.application]?.number ?? 0
    stage.rest()
    stage.play(.launch(application: Self.application, number: start, .failed("no")))
    #expect(stage.restarts <= 2)
    finish(stage)
    #expect(before.map { stage.shelf.sessions[$0.identifier]?.userActivity } == before.map(\.userActivity))
    #expect(stage.book.openCount == 0)
  }

  @Test func `what comes while a failed start is told waits for a start of its own`() {
    let stage = holding(150)
    fail(stage)
    let late = stage.drop(key: "late")?.delivered?.delivery
    #expect(stage.memory.starts.isEmpty)
    finish(stage)
    #expect(stage.progress(of: late)?.isOpen == true)
    #expect(stage.book.openCount == 1)
    #expect(stage.errands.last == .launch(application: Self.application, number: 2, name: Self.application))
  }

  @Test func `a host that attaches while a failed start is told gets the rest`() {
    let stage = holding(250)
    fail(stage)
    stage.attach()
    finish(stage)
    stage.hostAnswersAll()
    let states = stage.shelf.deliveryOrder.map { stage.progress(of: $0)?.state }
    #expect(states.count { $0 == .failed } == 100)
    #expect(states.prefix(150).allSatisfy { $0 == .handled })
  }

  @Test func `a host gets what is held in the order in which it came, some at a time`() throws {
    let stage = holding(450)
    stage.attach()
    #expect(stage.shelf.deliveryOrder.count { stage.progress(of: $0)?.state == .routed } == 100)
    // One that comes meanwhile to a session of the others comes behind them.
    let last = try #require(stage.shelf.deliveryOrder.last)
    let session = try #require(stage.progress(of: last)?.session)
    let behind = try #require(stage.drop(key: "449")?.delivered)
    #expect(behind.session == session)
    #expect(stage.memory.deliveriesToSession[session].map(\.identifier) == [last, behind.delivery])
    finish(stage)
    #expect(stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.state == .routed })
    stage.hostAnswersAll()
    #expect(stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.state == .handled })
  }

  @Test func `what a host left is held again, also before the service has come to say so`() throws {
    let stage = holding(450)
    stage.attach()
    finish(stage)
    stage.hostLeaves()
    let late = stage.shelf.deliveryOrder[440]
    #expect(stage.progress(of: late)?.state == .routed)
    #expect(stage.call(.cancel(late)) == .done)
    finish(stage)
    let open = stage.shelf.deliveryOrder.compactMap { stage.progress(of: $0) }.filter(\.isOpen)
    #expect(open.count == 449)
    #expect(open.allSatisfy { $0.state == .held })
    // Of those that the host was working on, it may have seen something.
    #expect(open.count { $0.attempt == 2 } == Host.maximumRunning)
  }

  @Test func `after a restart each delivery that a host had is another attempt, once`() {
    let stage = holding(450)
    stage.attach()
    finish(stage)
    stage.restart(cats(exec: "cats"))
    // The first hundred were held again; a host attaches before the others are.
    stage.attach()
    finish(stage)
    let attempts = stage.shelf.deliveryOrder.compactMap { stage.progress(of: $0)?.attempt }
    #expect(attempts.allSatisfy { $0 == 2 }, "\(Set(attempts))")
    stage.hostAnswersAll()
    #expect(stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.state == .handled })
  }

  @Test func `the windows of an earlier run are disconnected some at a time, and a host may keep them`() throws {
    let stage = Stage(hosting: cats())
    for key in 0..<250 { stage.drop(key: Text("\(key)")) }
    stage.hostAnswersAll()
    stage.restart(cats())
    let sessions = stage.sessions()
    #expect(sessions.count(where: \.isConnected) == 150)
    #expect(stage.said(since: 0).count { $0.word == "SessionDisconnected" } == 100)
    let before = stage.sayings.count
    let shown = try [false, true].map { isConnected in
      try #require(sessions.first { $0.isConnected == isConnected }).identifier
    }
    stage.attach(showing: shown)
    finish(stage)
    #expect(Set(stage.sessions().filter(\.isConnected).map(\.identifier)) == Set(shown))
    #expect(stage.said(since: before).map(\.word).filter { $0 == "SessionConnected" }.count >= 1)
  }

  @Test func `deadlines that come at the same time are read at once`() {
    let stage = Stage(cats(exec: "cats"))
    for key in 0..<250 { stage.drop(key: Text("\(key)")) }
    stage.play(.launch(application: Self.application, number: 1, .started))
    stage.rest()
    stage.pass(seconds: 21)
    stage.play(.moment)
    #expect(stage.restarts == 1)
    #expect(stage.book.openCount == 150)
    while stage.book.openCount > 0 { stage.play(.moment) }
    #expect(stage.sessions().isEmpty)
  }

  @Test func `a refused piece is done again`() {
    let stage = holding(150)
    stage.turn(refused: true) { $0.play(.launch(application: Self.application, number: 1, .failed("no"))) }
    #expect(stage.book.openCount == 150)
    fail(stage)
    stage.turn(refused: true) { $0.play(.moment) }
    #expect(stage.book.openCount == 50)
    finish(stage)
    #expect(stage.book.openCount == 0)
  }

  // MARK: Batches

  @Test func `the sessions that a batch activates or gives up are read at once`() {
    let stage = Stage(hosting: cats { $0.keptSessions = 100 })
    for key in 0..<100 { stage.drop(key: Text("\(key)")) }
    stage.hostAnswersAll()
    stage.hostLeaves()
    func batch(_ keys: Range<Int>) -> Ask {
      let items = keys.map {
        Item(activities: [UserActivity(activityType: "view", targetContentIdentifier: Text("\($0)"))])
      }
      return .deliverEach(Payload(items: items), digest: "d", size: 100)
    }
    stage.rest()
    #expect(stage.call(batch(0..<50))?.items?.count == 50)
    #expect(stage.restarts <= 3)
    stage.rest()
    #expect(stage.call(batch(200..<240))?.items?.count == 40)
    #expect(stage.restarts <= 3)
    // They count when their deliveries are over.
    #expect(stage.sessions().count == 140)
    let start = stage.memory.starts[Self.application]?.number ?? 0
    stage.play(.launch(application: Self.application, number: start, .unknown))
    stage.passUntilQuiet(seconds: 20)
    #expect(stage.sessions().count == 100)
  }

  // MARK: Discards

  /// A stage without a host, and a session to which so many deliveries are on their way.
  private func awaited(_ count: Int) throws -> (Stage, UniqueIdentifier) {
    let stage = Stage(cats(exec: "cats"))
    for number in 0..<count { stage.drop(key: "1", by: .shell(number / 50)) { $0.statedDeadline = 3_600 } }
    stage.play(.launch(application: Self.application, number: 1, .started))
    stage.rest()
    return (stage, try #require(stage.sessions().first?.identifier))
  }

  private func allFailed(in stage: Stage) -> Bool {
    stage.shelf.deliveryOrder.allSatisfy { stage.progress(of: $0)?.error?.name == "org.stagedoor.Error.NoSuchSession" }
  }

  @Test func `a destroyed session is gone at once, and its five thousand deliveries fail a hundred at a time`() throws {
    let (stage, session) = try awaited(5_000)
    #expect(stage.call(.destroy(session, animation: "standard")) == .done)
    #expect(stage.sessions().isEmpty)
    #expect(stage.book.openCount == 4_900)
    let (moments, most) = finish(stage)
    #expect(moments == 49)
    #expect(most == 100)
    #expect(allFailed(in: stage))
  }

  @Test func `a host that attaches while deliveries to a discarded session fail gets none of them`() throws {
    let (stage, session) = try awaited(450)
    stage.call(.destroy(session, animation: "standard"))
    stage.attach()
    finish(stage)
    stage.hostAnswersAll()
    #expect(stage.book.openCount == 0)
    #expect(allFailed(in: stage))
    #expect(!stage.said(since: 0).map(\.word).contains("SessionConnected"))
  }

  @Test func `after a restart the last deliveries to a discarded session fail`() throws {
    let (stage, session) = try awaited(450)
    stage.call(.destroy(session, animation: "standard"))
    stage.restart(cats(exec: "cats"))
    finish(stage)
    #expect(stage.book.openCount == 0)
    #expect(allFailed(in: stage))
  }

  @Test func `orphans with many deliveries are discarded some at a time`() throws {
    let stage = Stage(cats(configurations: ["Default", "Other"]))
    for number in 0..<6_000 {
      stage.drop(key: Text("\(number % 50)"), by: .shell(number / 50)) {
        ($0.configuration, $0.statedDeadline) = ("Other", 3_600)
      }
    }
    #expect(stage.sessions().count == 50)
    stage.call(.register(cats(), size: 100))
    finish(stage)
    #expect(stage.sessions().isEmpty)
    #expect(allFailed(in: stage))
  }

  @Test func `a host hears of many discards in pieces, and one that could not be asked is asked again`() throws {
    let stage = Stage(hosting: cats())
    for key in 0..<(PromptBook.toldAtOnce + 200) { stage.drop(key: Text("\(key)")) }
    stage.hostAnswersAll()
    stage.hostLeaves()
    for session in stage.sessions() { stage.call(.destroy(session.identifier, animation: "standard")) }
    stage.attach(hearsDiscards: false)
    func told() -> Int? {
      if case .discarded(let sessions)? = stage.asked.first?.question { sessions.count } else { nil }
    }
    #expect(told() == PromptBook.toldAtOnce)
    stage.hostAnswers(.failed("no memory"))
    #expect(stage.memory.hosts[Self.application]?.stage == .ready)
    #expect(stage.asked.isEmpty)
    #expect(stage.memory.owed.count(of: Self.application) == PromptBook.toldAtOnce + 200)
    stage.passUntilQuiet(seconds: 6)
    #expect(told() == PromptBook.toldAtOnce)
    stage.hostAnswers(.done)
    #expect(told() == 200)
    stage.hostAnswers(.refused("no"))
    #expect(stage.memory.owed.count(of: Self.application) == 0)
  }

  @Test
  func `the scenes of a host that leaves are disconnected in pieces, and those that a host shows no more at once`()
    throws
  {
    let stage = Stage(hosting: cats())
    let count = PromptBook.deliveriesAtOnce + 20
    let windows = try (0..<count).map { try stage.window(Text("\($0)")) }
    func connected() -> Int { windows.count { stage.shelf.sessions[$0]?.isConnected ?? false } }
    stage.turn { $0.hostLeaves() }
    #expect(connected() == 20)
    while let moment = stage.lastStep.callAgain, moment <= stage.now.uptime { stage.play(.moment) }
    #expect(connected() == 0)
    stage.attach(showing: windows)
    #expect(connected() == count)
    stage.attach(showing: [windows[0]])
    #expect(connected() == 1)
    #expect(stage.memory.scenes[Self.application] == [windows[0]])
  }

  @Test func `the longer the sessions of an application, the fewer are disconnected at once`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    #expect(stage.book.scenesAtOnce(of: Self.application) == PromptBook.deliveriesAtOnce)
    let much = Value.string(Text(String(repeating: "x", count: 1 << 20)))
    #expect(stage.call(.write(window, .userInfo(["much": much])), by: .host) == .done)
    #expect(stage.book.scenesAtOnce(of: Self.application) == 3)
  }
}
