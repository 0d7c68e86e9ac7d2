import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// Promises of senders that are restarted, and when promises end.
@Suite struct PromiseTests {
  // MARK: A sender that was restarted

  private static let mail: Text = "org.example.Mail"

  /// An application sends a promise to another under the token `t`.
  private func stageWithPromise(deadline: Double = 60) throws -> (stage: Stage, delivered: Delivered) {
    let stage = Stage(hosting: cats(), cats(Self.mail))
    stage.attach(Self.mail, as: .other)
    let delivered = try stage.handled(.promise(), by: .other) {
      Self.underToken(&$0)
      $0.statedDeadline = deadline
    }
    return (stage, delivered)
  }

  private static func underToken(_ options: inout PayloadOptions) {
    options.application = "org.example.Cats"
    options.token = "t"
    options.statedDeadline = 60
  }

  /// The service starts again, and the host attaches with its window.
  private func restart(_ stage: Stage, showing delivered: Delivered) {
    stage.restart(cats(), cats(Self.mail))
    stage.attach(showing: [delivered.session])
  }

  private func asked(_ stage: Stage) -> [Text] {
    stage.baggage.openings.compactMap {
      if case .promise(let promise) = $0.parcel.content { promise.source } else { nil }
    }
  }

  @Test(arguments: [true, false])
  func `a load waits for a sender that was restarted, and asks its new connection`(begunAnew: Bool) throws {
    let (stage, delivered) = try stageWithPromise()
    if begunAnew {
      restart(stage, showing: delivered)
      stage.open(delivered)
    } else {
      stage.open(delivered)
      stage.hostLeaves(Self.mail, .other)
      stage.sourceLeaves()
    }
    let load = stage.lastCall
    #expect(stage.answers[load] == nil && stage.baggage.openings.isEmpty)
    let again = Caller.shell(7)
    #expect(stage.call(.renewPromises(token: "t"), by: again)?.refusal?.name == .accessDenied)
    stage.attach(Self.mail, as: again)
    #expect(stage.call(.renewPromises(token: "other"), by: again)?.refusal?.name == .noSuchDelivery)
    #expect(stage.call(.renewPromises(token: "t"), by: again) == .done)
    #expect(asked(stage) == [":2.7"])
    stage.baggageOpens(size: 3)
    #expect(stage.answers[load]?.size == 3)
    // Later loads ask at once.
    stage.open(delivered)
    #expect(asked(stage) == [":2.7"])
    stage.baggageOpens(size: 3)
    stage.call(.release(delivered.delivery), by: .host)
    #expect(stage.endedPromises == [["/cat"]])
    #expect(stage.call(.renewPromises(token: "t"), by: again)?.refusal?.name == .noSuchItem)
  }

  /// A hand-over: the next run takes the sender's place while a load is under way, and the former one leaves later.
  @Test func `a load begins anew at once if the promise was renewed before its source was found gone`() throws {
    let (stage, delivered) = try stageWithPromise()
    stage.open(delivered)
    let load = stage.lastCall
    let again = Caller.shell(7)
    stage.attach(Self.mail, as: again)
    #expect(stage.call(.renewPromises(token: "t"), by: again) == .done)
    #expect(asked(stage) == [":1.2"])
    stage.sourceLeaves()
    try #require(asked(stage) == [":2.7"])
    // The next run leaves as well: now there is nobody to ask.
    stage.sourceLeaves()
    #expect(asked(stage).isEmpty && stage.answers[load] == nil)
    stage.passUntilQuiet(seconds: 61)
    #expect(stage.answers[load]?.refusal?.name == .sourceGone)
  }

  @Test(arguments: [1, 3600] as [Double])
  func `a load waits for a minute, whatever the deadline of the delivery`(deadline: Double) throws {
    let (stage, delivered) = try stageWithPromise(deadline: deadline)
    // The contents outlive the deadline, and so does the wish to open them.
    stage.passUntilQuiet(seconds: 10)
    restart(stage, showing: delivered)
    stage.open(delivered)
    let load = stage.lastCall
    stage.passUntilQuiet(seconds: 59)
    #expect(stage.answers[load] == nil)
    stage.passUntilQuiet(seconds: 2)
    #expect(stage.answers[load]?.refusal?.name == .sourceGone)
    #expect(stage.memory.transfers.isEmpty)
    // The host may try again, and has a minute again, even if it waited in vain before.
    stage.open(delivered)
    let other = stage.lastCall
    stage.passUntilQuiet(seconds: 30)
    stage.attach(Self.mail, as: .other)
    #expect(stage.call(.renewPromises(token: "t"), by: .other) == .done)
    stage.passUntilQuiet(seconds: 20)
    stage.sourceLeaves()
    stage.passUntilQuiet(seconds: 59)
    #expect(stage.answers[other] == nil)
    stage.passUntilQuiet(seconds: 2)
    #expect(stage.answers[other]?.refusal?.name == .sourceGone)
  }

  @Test func `a load waits no longer than the contents stay`() throws {
    let (stage, delivered) = try stageWithPromise()
    restart(stage, showing: delivered)
    stage.passUntilQuiet(seconds: 590)
    stage.open(delivered)
    stage.passUntilQuiet(seconds: 11)
    #expect(stage.answer?.refusal?.name == .cancelled)
    #expect(stage.memory.transfers.isEmpty)
  }

  @Test func `who renews what is asked of it already stores nothing`() throws {
    let (stage, delivered) = try stageWithPromise()
    #expect(stage.play(.call(1_000, .other, .renewPromises(token: "t"))).records.isEmpty)
    #expect(stage.answers[1_000] == .done)
    // After a restart the service asks nobody until somebody says so.
    restart(stage, showing: delivered)
    stage.attach(Self.mail, as: .other)
    #expect(stage.play(.call(1_001, .other, .renewPromises(token: "t"))).records.count == 1)
    #expect(stage.play(.call(1_002, .other, .renewPromises(token: "t"))).records.isEmpty)
    stage.open(delivered)
    #expect(asked(stage) == [":1.2"])
  }

  /// The service stored a delivery, and ended before it answered: the sender repeats its call with its token.
  @Test func `a repeated call takes up its promises`() throws {
    let (stage, delivered) = try stageWithPromise()
    restart(stage, showing: delivered)
    stage.open(delivered)
    let load = stage.lastCall
    // Somebody else with the same document hands in nothing, and may forget what it promised.
    #expect(repeated(by: .shell, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]] && stage.baggage.openings.isEmpty)
    // The sender has not attached yet. Its objects are still those that may be asked.
    #expect(repeated(by: .other, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]] && stage.baggage.openings.isEmpty)
    stage.attach(Self.mail, as: .other)
    #expect(repeated(by: .other, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]])
    try #require(asked(stage) == [":1.2"])
    stage.baggageOpens(size: 3)
    #expect(stage.answers[load]?.size == 3)
    // Its next run repeats the call as well, and a call that changes nothing stores nothing.
    let again = Caller.shell(7)
    stage.attach(Self.mail, as: again)
    #expect(repeated(by: again, stage)?.delivered == delivered)
    stage.open(delivered)
    #expect(asked(stage) == [":2.7"])
    let payload = stage.payload([.promise()], "1", Self.underToken)
    #expect(stage.play(.call(1_000, again, .deliver(payload, digest: "digest", size: 100))).records.isEmpty)
    #expect(stage.answers[1_000]?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"]])
    stage.call(.release(delivered.delivery), by: .host)
    #expect(repeated(by: again, stage)?.delivered == delivered)
    #expect(stage.endedPromises == [["/cat"], ["/cat"], ["/cat"]])
  }

  private func repeated(by caller: Caller, _ stage: Stage) -> CallAnswer? {
    stage.drop(.promise(), by: caller, Self.underToken)
  }

  @Test func `what a connection without an application has promised is nobody else's`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try stage.handled(.promise()) { $0.token = "t" }
    stage.open(delivered)
    stage.sourceLeaves()
    #expect(stage.answer?.refusal?.name == .sourceGone)
    #expect(stage.call(.renewPromises(token: "t"))?.refusal?.name == .noSuchItem)
  }

  // MARK: Promises

  @Test func `the promises of a call that is refused, and those that a sandbox may not hand over, end`() throws {
    let stage = Stage(cats())
    stage.drop(.promise("/refused")) { $0.application = "org.example.Nobody" }
    #expect(stage.answer?.refusal != nil)
    stage.drop(.file(), .promise("/fails"))
    stage.baggageFails()
    stage.drop(.promise("/kept")) { $0.keepPromises = true }
    stage.baggageFails()
    stage.drop(.promise("/undeclared"), by: .sandbox("org.example.Mail"))
    #expect(stage.answer?.delivered != nil)
    #expect(stage.endedPromises == [["/refused"], ["/fails"], ["/kept"], ["/undeclared"]])
  }

  @Test func `the promises of a call that was carried out before end, unless they are those of the first`() throws {
    let stage = Stage(cats())
    stage.drop(.promise("/first")) { $0.token = "t" }
    stage.drop(.promise("/first")) { $0.token = "t" }
    #expect(stage.endedPromises == [])
    stage.drop(.promise("/second")) { $0.token = "t" }
    #expect(stage.answer?.delivered != nil)
    #expect(stage.endedPromises == [["/second"]])
  }

  @Test func `promises of one object end with the last delivery that has some`() throws {
    let stage = Stage(hosting: cats())
    let one = try stage.handled(.promise("/a"), key: "1")
    let other = try stage.handled(.promise("/a"), key: "2")
    stage.call(.release(one.delivery), by: .host)
    #expect(stage.endedPromises == [])
    stage.call(.release(other.delivery), by: .host)
    #expect(stage.endedPromises == [["/a"]])
  }
}
