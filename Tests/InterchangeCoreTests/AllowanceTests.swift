import SceneModel
import Testing

@testable import InterchangeCore

/// Every limit at n and at n + 1, who is charged, and when the charge ends.
@Suite struct AllowanceTests {
  private let stage = Stage(hosting: cats())

  @Test func `deliveries that wait leave as much space for others as their sender has taken`() {
    let stage = Stage(cats()) { $0.waiting = 8 * 4096 }
    for key in ["1", "2", "3", "4"] as [Text] { #expect(stage.drop(key: key)?.delivered != nil) }
    #expect(stage.drop(key: "5")?.refusal?.name == .limitsExceeded)
    for key in ["5", "6"] as [Text] { #expect(stage.drop(key: key, by: .other)?.delivered != nil) }
    #expect(stage.drop(key: "7", by: .other)?.refusal?.name == .limitsExceeded)
    #expect(stage.drop(key: "7", by: .shell(1))?.delivered != nil)
    #expect(stage.drop(key: "8", by: .shell(2))?.delivered != nil)
    #expect(stage.drop(key: "9", by: .shell(3))?.refusal?.name == .limitsExceeded)
    #expect(stage.book.ledger.total(.waiting) == 8 * 4096)
    // A delivery that its host has taken waits no more.
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.book.ledger.total(.waiting) == 0)
    #expect(stage.drop(key: "9")?.delivered != nil)
  }

  @Test func `a delivery that waits is charged for the content before it as well`() throws {
    var long = stage.activity("view", "1")
    long.items[0].activities[0].userInfo = ["much": .string(Text(String(repeating: "x", count: 1 << 20)))]
    let first = try #require(stage.call(.deliver(long, digest: "", size: 1))?.delivered)
    stage.hostAnswersAll()
    #expect(stage.book.ledger.total(.waiting) == 0)
    stage.hostLeaves()
    let second = try #require(stage.drop(key: "2", to: first.session)?.delivered)
    #expect(stage.book.ledger.total(.waiting) > 1 << 20)
    stage.drop(key: "3", to: first.session)
    let both = stage.book.ledger.total(.waiting)
    // The activity that the second delivery replaced passes to the third.
    stage.call(.cancel(second.delivery))
    #expect(stage.book.ledger.total(.waiting) > 1 << 20 && stage.book.ledger.total(.waiting) < both)
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.book.ledger.total(.waiting) == 0)
  }

  @Test func `a caller that has left holds no space, but all that have left do together`() {
    let stage = Stage(cats()) { $0.waiting = 4 * 4096 }
    for number in 0..<4 {
      #expect(stage.drop(key: Text("\(number)"), by: .shell(number))?.delivered != nil)
      stage.play(.callerLeft(connection: Text(":2.\(number)")))
    }
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == 4 * 4096)
    #expect(!stage.book.matters(":2.0"))
    #expect(stage.drop(key: "5", by: .shell(5))?.refusal?.name == .limitsExceeded)
    #expect(stage.call(.cancel(stage.shelf.deliveryOrder[0])) == .done)
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == 3 * 4096)
    #expect(stage.drop(key: "5", by: .shell(5))?.delivered != nil)
  }

  @Test func `callers that left before their calls were carried out are one principal, and wait for nothing`() {
    let stage = Stage(cats()) { $0.waiting = 4 * 4096 }
    for number in 0..<2 { #expect(stage.drop(key: Text("\(number)"), by: .shell(number).left)?.delivered != nil) }
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == 2 * 4096)
    #expect(stage.drop(key: "3", by: .shell(3).left)?.refusal?.name == .limitsExceeded)
    #expect(stage.drop(key: "4", by: .shell(4))?.delivered != nil)
    #expect(stage.call(.cancel(stage.shelf.deliveryOrder[0])) == .done)
    #expect(stage.drop(key: "5", by: .shell(5).left) { $0.wait = .handled }?.delivered != nil)
    #expect(stage.book.ledger.total(.calls) == 0)
    stage.checkItself()
  }

  @Test func `what waited when the service ended is charged to those that have left`() {
    let stage = Stage(cats()) { $0.waiting = 8 * 4096 }
    stage.drop(key: "1")
    stage.restart(cats())
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == 4096)
  }

  @Test func `strangers are one principal, and a sandbox is one however many connections it has`() {
    let stage = Stage(cats()) { $0.waiting = 4 * 4096 }
    #expect(stage.drop(key: "1", by: .stranger)?.delivered != nil)
    let other = Caller(connection: ":1.21", isSandboxed: true, application: .empty)
    #expect(stage.drop(key: "2", by: other)?.delivered != nil)
    #expect(stage.book.ledger.taken(.waiting, by: .strangers) == 2 * 4096)
    #expect(stage.drop(key: "3", by: .stranger)?.refusal?.name == .limitsExceeded)
    #expect(stage.drop(key: "3", by: .sandbox("org.example.Dogs", 1))?.delivered != nil)
    #expect(stage.drop(key: "4", by: .sandbox("org.example.Dogs", 2))?.refusal?.name == .limitsExceeded)
    #expect(stage.book.ledger.taken(.waiting, by: .sandbox("org.example.Dogs")) == 4096)
  }

  @Test func `calls that were not answered are counted, and given back with their answers`() {
    let stage = Stage(cats()) { $0.calls = 2 }
    for key in ["1", "2"] as [Text] { #expect(stage.drop(key: key) { $0.wait = .handled } == nil) }
    #expect(stage.drop(key: "3")?.refusal?.name == .limitsExceeded)
    #expect(stage.drop(key: "3", by: .other)?.delivered != nil)
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.answers[1]?.delivered != nil)
    #expect(stage.book.ledger.total(.calls) == 0)
    #expect(stage.drop(key: "3")?.delivered != nil)
  }

  @Test func `documents of calls that were not answered are counted`() {
    let stage = Stage(cats()) { $0.callBytes = 200 }
    #expect(stage.drop(key: "1") { $0.wait = .handled } == nil)
    #expect(stage.drop(key: "2")?.delivered != nil)
    #expect(stage.drop(key: "2") { $0.wait = .handled } == nil)
    #expect(stage.answer == nil)
    #expect(stage.drop(key: "3")?.refusal?.name == .limitsExceeded)
    #expect(stage.book.ledger.total(.callBytes) == 200)
  }

  @Test func `manifests take 4 KiB at least, and one that is replaced gives its space back`() {
    let stage = Stage(cats()) { $0.manifests = 2 * 4096 }
    for name in ["org.example.A", "org.example.B", "org.example.B"] as [Text] {
      #expect(stage.call(.register(cats(name), size: 1)) == .application(name))
    }
    #expect(stage.call(.register(cats("org.example.C"), size: 1))?.refusal?.name == .limitsExceeded)
    #expect(stage.call(.register(cats("org.example.B"), size: 4097))?.refusal?.name == .limitsExceeded)
    #expect(stage.call(.unregister("org.example.A")) == .done)
    #expect(stage.call(.register(cats("org.example.B"), size: 4097)) == .application("org.example.B"))
    #expect(stage.book.ledger.total(.manifests) == 4097)
  }

  @Test func `sessions of one application leave as many places for those of others`() {
    let stage = Stage(cats()) { $0.sessions = 4 }
    stage.call(.register(cats("org.example.Dogs"), size: 1))
    stage.call(.register(cats("org.example.Owls"), size: 1))
    stage.call(.register(cats("org.example.Fish"), size: 1))
    func make(_ application: Text) -> CallAnswer? {
      stage.call(.newSession(application: application, configuration: .empty))
    }
    for _ in 0..<2 { #expect(make("org.example.Cats")?.delivered != nil) }
    #expect(make("org.example.Cats")?.refusal?.name == .limitsExceeded)
    #expect(make("org.example.Dogs")?.delivered != nil)
    #expect(make("org.example.Dogs")?.refusal?.name == .limitsExceeded)
    #expect(make("org.example.Owls")?.delivered != nil)
    #expect(make("org.example.Owls")?.refusal?.name == .limitsExceeded)
    // A discarded session keeps its place until its host has heard of it.
    #expect(stage.call(.destroy(stage.sessions()[0].identifier, animation: "standard")) == .done)
    #expect(stage.memory.places == 4)
    stage.attach()
    #expect(stage.memory.places == 3)
    #expect(make("org.example.Fish")?.delivered != nil)
  }

  @Test func `preferences and scenes have their limits`() {
    let stage = Stage(cats()) {
      $0.preferences = 1
      $0.scenes = 2
    }
    stage.call(.register(cats("org.example.Dogs") { $0.activityTypes = ["view", "bark"] }, size: 1))
    #expect(stage.call(.prefer("org.example.Dogs", type: "view")) == .done)
    #expect(stage.call(.prefer("org.example.Cats", type: "view")) == .done)
    #expect(stage.call(.prefer("org.example.Dogs", type: "bark"))?.refusal?.name == .limitsExceeded)
    #expect(stage.call(.prefer(nil, type: "view")) == .done)
    #expect(stage.call(.prefer("org.example.Dogs", type: "bark")) == .done)
    func attach(_ unknown: [Text]) -> CallAnswer? {
      stage.call(.attach(application: "org.example.Cats", shown: [], unknown: unknown, HostOptions()), by: .host)
    }
    #expect(attach(["/1", "/2", "/3"])?.refusal?.name == .limitsExceeded)
    #expect(attach(["/1", "/2"]) == nil)
    stage.play(.ownership(stage.lastQuestion, isOwner: true))
    #expect(stage.answer == .attached(application: "org.example.Cats", discarded: ["/1", "/2"]))
  }

  @Test func `a host is asked about so many sessions at once, and each other session waits for it once`() throws {
    let session = try stage.window("first")
    stage.call(.setState(session, .background), by: .host)
    for key in 0...Host.maximumRunning { stage.drop(key: Text("\(key)")) }
    for _ in 0..<10 { stage.call(.refresh(session)) }
    #expect(stage.memory.queue["org.example.Cats"].count == 2)
    for _ in 0..<2 {
      #expect(stage.asked.count == Host.maximumRunning)
      stage.hostAnswers(.refused("no"))
    }
    #expect(stage.asked.last?.question == .refresh(session))
    stage.hostAnswersAll()
    #expect(stage.memory.hosts["org.example.Cats"]?.running == 0)
    #expect(stage.memory.lanes.isEmpty)
  }

  @Test(
    arguments: [
      ([.shell(1), .shell(1), .other, .shell(1)], [1, 2, 4]),
      ([.sandbox("org.example.Mail", 0), .sandbox("org.example.Mail", 1), .sandbox("org.example.Mail", 2)], [2]),
    ] as [([Caller], [CallNumber])])
  func `calls of a caller that left are forgotten, and others wait on`(callers: [Caller], forgotten: [CallNumber]) {
    let stage = Stage(cats())
    for caller in callers { stage.drop(key: "1", by: caller) { ($0.token, $0.wait) = ("once", .handled) } }
    #expect(stage.shelf.deliveries.count == 1)
    #expect(stage.book.ledger.total(.calls) == callers.count)
    stage.callerLeaves(callers[1])
    #expect(stage.answers.keys.sorted() == forgotten)
    #expect(stage.book.ledger.total(.calls) == callers.count - forgotten.count)
    #expect(stage.book.disagreements == [])
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.answers.values.count { $0.delivered != nil } == callers.count - forgotten.count)
    #expect(stage.memory.waitingFor.keys.isEmpty)
  }

  @Test func `deadlines of what is over do not pile up`() {
    for _ in 0..<3 * Memory.passedDeadlines {
      stage.drop(key: "1") { $0.statedDeadline = 3_600 }
      stage.hostAnswersAll()
    }
    #expect(stage.memory.noted <= Memory.passedDeadlines + 1)
  }
}
