import SceneModel
import SceneRouting
import Testing

@testable import InterchangeCore

/// Deliveries whose host takes them at once and tells their end later.
@Suite struct ForwardingTests {
  private static let application: Text = "org.example.Relay"

  /// A relay with a session for a device, whose window is open. It may have two deliveries that it has forwarded.
  private let stage = Stage(hosting: relay()) { $0.forwarded = 2 }
  private let laptop: UniqueIdentifier

  init() throws { laptop = try Self.adopt("laptop", stage) }

  private static func relay() -> Manifest { cats(application) { $0.forwards = true } }

  private static func adopt(_ device: Text, _ stage: Stage) throws -> UniqueIdentifier {
    let ask = Ask.adopt(application: application, configuration: "", nil, title: device)
    return try #require(stage.call(ask, by: .host)?.adopted)
  }

  /// Something for the device, which its host has not acknowledged.
  @discardableResult
  private func send(
    _ key: Text = "1", waits: Bool = false, isPrivate: Bool = false
  ) throws -> (delivery: UniqueIdentifier, call: CallNumber) {
    stage.drop(key: key, to: laptop) { ($0.isPrivate, $0.wait) = (isPrivate, waits ? .handled : .routed) }
    let last = stage.memory.deliveries.values.values.max { $0.order < $1.order }
    return (try #require(last?.identifier), stage.lastCall)
  }

  /// Something for the device, which its host has taken and acknowledges later.
  private func deferred(
    seconds: UInt32 = 60, waits: Bool = false, isPrivate: Bool = false
  ) throws -> (delivery: UniqueIdentifier, call: CallNumber) {
    let (delivery, call) = try send(waits: waits, isPrivate: isPrivate)
    stage.call(.putOff(delivery, seconds: seconds), by: .host)
    stage.hostAnswersAll()
    return (delivery, call)
  }

  private func finish(
    _ delivery: UniqueIdentifier, _ error: Text = "", _ message: Text = "", by caller: Caller = .host
  ) -> CallAnswer? {
    stage.call(.finish(delivery, error: error, message: message), by: caller)
  }

  @Test func `a deferred delivery holds up nothing, and ends when its host says so`() throws {
    let (first, call) = try send(waits: true)
    let before = stage.sayings.count
    #expect(stage.call(.putOff(first, seconds: 600), by: .host) == .done)
    #expect(stage.said(since: before).map(\.word) == ["Forwarded", "answer"])
    #expect(stage.progress(of: first)?.state == .forwarded)
    // The next is given as soon as this call has returned.
    try send("2")
    stage.hostAnswersAll()
    #expect(stage.memory.lanes.isEmpty)
    #expect(stage.memory.deliveries.values.count == 1)
    #expect(stage.answers[call] == nil)
    stage.pass(seconds: 500)
    #expect(finish(first) == .done)
    #expect(stage.progress(of: first)?.state == .handled)
    #expect(stage.answers[call]?.delivered?.session == laptop)
    #expect(finish(first)?.refusal?.name == .noSuchDelivery)
    #expect(stage.book.ledger.total(.forwarded) == 0 && stage.book.ledger.total(.waiting) == 0)
  }

  @Test func `a window comes to the front also if the end is told before the host's call returns`() throws {
    for error in ["", "org.example.Away"] as [Text] {
      let first = try send().delivery
      stage.call(.putOff(first, seconds: 60), by: .host)
      _ = finish(first, error)
      stage.hostAnswers(.done)
      #expect(stage.asked.map(\.question.member) == (error.isEmpty ? ["ActivateScene"] : []))
      stage.hostAnswersAll()
      #expect(stage.memory.lanes.isEmpty)
    }
  }

  @Test func `an error that comes after it is ignored`() throws {
    let first = try send().delivery
    stage.call(.putOff(first, seconds: 60), by: .host)
    stage.hostAnswers(.refused("late"))
    #expect(stage.progress(of: first)?.state == .forwarded)
    #expect(stage.asked.isEmpty)
    // Nor does silence matter.
    let second = try send("2").delivery
    stage.call(.putOff(second, seconds: 60), by: .host)
    stage.hostAnswers(.timedOut)
    #expect(stage.progress(of: second)?.state == .forwarded)
  }

  @Test func `a failure has the name and the words that its host gives`() throws {
    let (first, call) = try deferred(waits: true)
    #expect(finish(first, "org.example.Away", "it is away") == .done)
    let told = InterchangeError(.routing("org.example.Away"), "it is away")
    #expect(stage.answers[call] == .refused(told))
    #expect(stage.progress(of: first)?.error == DeliveryError(name: "org.example.Away", message: "it is away"))
  }

  @Test func `of a private delivery only its sender hears the words`() throws {
    let (first, call) = try deferred(waits: true, isPrivate: true)
    let before = stage.sayings.count
    _ = finish(first, "org.example.Secret", "secret")
    #expect(stage.answers[call]?.refusal?.message == "secret")
    for case .event(let event) in stage.said(since: before) {
      #expect(!event.arguments.string.lowercased().contains("secret"))
    }
    #expect(stage.progress(of: first)?.error?.name == "org.stagedoor.Error.HostRefused")
  }

  /// The words may be about the private content, and the sender of this delivery does not know that.
  @Test func `nobody hears the words about a window that keeps what its host wrote in private`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window { $0.isPrivate = true }
    #expect(stage.call(.write(window, .userInfo(["of": .string("the first")])), by: .host) == .done)
    let delivered = try #require(stage.drop(key: "2", to: window)?.delivered)
    #expect(stage.call(.putOff(delivered.delivery, seconds: 60), by: .host) == .done)
    stage.hostAnswersAll()
    #expect(stage.shelf.sessions[window]?.isPrivate == false)
    let before = stage.sayings.count
    let finish = Ask.finish(delivered.delivery, error: "org.example.Secret", message: "secret")
    #expect(stage.call(finish, by: .host) == .done)
    #expect(stage.progress(of: delivered.delivery)?.error?.name == "org.stagedoor.Error.HostRefused")
    for saying in stage.sayings.dropFirst(before) { #expect(!"\(saying)".lowercased().contains("secret")) }
  }

  @Test func `its deadline is now so far away, and ends it`() throws {
    let first = try deferred(seconds: 604_800).delivery
    stage.passUntilQuiet(seconds: 604_799)
    #expect(stage.progress(of: first)?.state == .forwarded)
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.progress(of: first)?.error?.name == "org.stagedoor.Error.HostTimeout")
    #expect(finish(first)?.refusal?.name == .noSuchDelivery)
  }

  // MARK: Restarts

  @Test func `it survives its host, is not given again, and any later host may end it`() throws {
    let first = try send().delivery
    stage.call(.putOff(first, seconds: 600), by: .host)
    stage.hostLeaves(Self.application)
    #expect(stage.progress(of: first)?.state == .forwarded)
    #expect(stage.progress(of: first)?.attempt == 1)
    stage.attach(Self.application, as: .other)
    #expect(stage.asked.isEmpty)
    #expect(finish(first)?.refusal?.name == .accessDenied)
    #expect(finish(first, by: .other) == .done)
    #expect(stage.progress(of: first)?.state == .handled)
  }

  @Test func `it survives the service, with its deadline and its charge`() throws {
    let first = try deferred(seconds: 7200).delivery
    stage.restart(Self.relay())
    #expect(stage.memory.deliveries[first]?.due == stage.now.uptime + 7_200_000_000)
    #expect(stage.book.ledger.taken(.forwarded, by: .host(Self.application)) == 1)
    // Nobody is started for it.
    #expect(!stage.errands.contains { if case .launch = $0 { true } else { false } })
    stage.attach(Self.application)
    #expect(stage.asked.isEmpty)
    #expect(finish(first) == .done)
  }

  // MARK: Others

  @Test func `its sender may cancel it, and nobody may redirect it`() throws {
    let phone = try Self.adopt("phone", stage)
    let first = try deferred().delivery
    #expect(stage.call(.redirect(first, to: phone))?.refusal?.name == .requestDenied)
    #expect(stage.call(.cancel(first)) == .done)
    #expect(stage.progress(of: first)?.state == .cancelled)
  }

  @Test func `it goes with its session`() throws {
    let first = try deferred().delivery
    stage.call(.destroy(laptop, animation: "standard"))
    #expect(stage.progress(of: first)?.error?.name == "org.stagedoor.Error.NoSuchSession")
    #expect(stage.memory.deliveries.values.isEmpty)
  }

  // MARK: What is refused

  @Test func `only what the host has in hand is deferred, once, and for a week at most`() throws {
    let first = try send().delivery
    for seconds in [0, 604_801] as [UInt32] {
      #expect(stage.call(.putOff(first, seconds: seconds), by: .host)?.refusal?.name == .invalidArgs)
    }
    #expect(stage.call(.putOff(first, seconds: 1), by: .other)?.refusal?.name == .accessDenied)
    #expect(stage.call(.putOff(first, seconds: 1), by: .host) == .done)
    #expect(stage.call(.putOff(first, seconds: 1), by: .host)?.refusal?.name == .noSuchDelivery)
    let queued = try send("2").delivery
    #expect(stage.call(.putOff(queued, seconds: 1), by: .host)?.refusal?.name == .noSuchDelivery)
    stage.hostAnswersAll()
    #expect(stage.call(.putOff(queued, seconds: 1), by: .host)?.refusal?.name == .noSuchDelivery)
    #expect(finish(queued)?.refusal?.name == .noSuchDelivery)
  }

  @Test func `an application has so many of them`() throws {
    for number in 0..<3 {
      let delivery = try send(Text("\(number)")).delivery
      let answer = stage.call(.putOff(delivery, seconds: 60), by: .host)
      #expect((answer?.refusal?.name == .limitsExceeded) == (number == 2))
      stage.hostAnswersAll()
    }
    #expect(stage.book.ledger.total(.forwarded) == 2)
  }

  @Test func `contents are charged to the application from then on`() throws {
    var payload = Payload(items: [Item(representations: [.text("hello")])])
    payload.options.session = Text("\(laptop)")
    stage.call(.deliver(payload, digest: .empty, size: 10))
    let first = try #require(stage.memory.deliveries.values.keys.first)
    #expect(stage.book.ledger.taken(.baggage, by: Caller.shell.principal) > 0)
    stage.call(.putOff(first, seconds: 60), by: .host)
    stage.hostAnswersAll()
    #expect(stage.book.ledger.taken(.baggage, by: Caller.shell.principal) == 0)
    #expect(stage.book.ledger.taken(.baggage, by: .host(Self.application)) > 0)
    #expect(stage.memory.baggage[first] != nil)
  }

  // MARK: Applications that forward

  @Test func `a device's session keeps its title and its activity, also after a private delivery`() throws {
    stage.call(.write(laptop, .userActivity(UserActivity(activityType: "device"))), by: .host)
    for isPrivate in [false, true] {
      try send("key", isPrivate: isPrivate)
      stage.hostAnswersAll()
      let session = try #require(stage.shelf.sessions[laptop])
      #expect((session.title, session.userActivity?.activityType, session.isPrivate) == ("laptop", "device", false))
      #expect(session.asSeen.title == "laptop")
    }
  }

  @Test(arguments: [false, true])
  func `a sandbox or a stranger sends only what is declared, and only if the host takes it`(isStranger: Bool) throws {
    let sender = isStranger ? Caller.other : .sandbox("org.example.Mail")
    func refusal(_ type: Text) -> InterchangeError.Name? {
      stage.drop(type, key: "1", to: laptop, by: sender) { $0.isFromStranger = isStranger }?.refusal?.name
    }
    let denied = InterchangeError.Name.routing("org.freedesktop.DBus.Error.AccessDenied")
    #expect(refusal("view") == denied)
    stage.attach(Self.application, showing: [laptop], HostOptions(acceptsSandboxed: true))
    #expect(refusal("undeclared") == denied)
    #expect(refusal("view") == nil)
  }
}
