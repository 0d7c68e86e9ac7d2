import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// Who may open which contents, and when the contents are freed.
@Suite struct BaggageTests {
  private let stage = Stage(hosting: cats())

  @Test(arguments: [Visibility.all, .application, .ownProcess])
  func `who may open`(_ visibility: Visibility) throws {
    let stage = Stage(hosting: cats(), cats("org.example.Dogs"))
    stage.attach("org.example.Dogs", as: .other)
    // From another application, from another connection of the same application, and from its host.
    let sandboxed = Caller.sandbox("org.example.Cats", 1)
    for sender in [Caller.shell, sandboxed, .host] {
      let delivered = try stage.handled(.text("x", visibility), key: "1", by: sender)
      let isAllowed =
        switch visibility {
        case .all: true
        case .application: sender != .shell
        case .ownProcess: sender == .host
        }
      stage.open(delivered)
      if isAllowed {
        stage.baggageOpens(size: 1)
        #expect(stage.answer?.size == 1)
      } else {
        #expect(stage.answer?.refusal?.name == .noSuchItem)
      }
      #expect(stage.baggage.openings.isEmpty)
      // The host of another application, the sender, and everyone else have no right to any content.
      for caller in [Caller.other, .shell, sandboxed, .stranger, .shell(7)] {
        #expect(stage.open(delivered, by: caller)?.refusal?.name == .accessDenied)
        #expect(stage.call(.release(delivered.delivery), by: caller)?.refusal?.name == .accessDenied)
      }
    }
  }

  @Test func `hidden representations are absent, also from what the refusal says`() throws {
    let delivered = try stage.handled(.text("x", type: "text/html", .ownProcess), .text("y"))
    stage.open(delivered)
    #expect(stage.baggage.openings.first?.parcel.content == .data(Array("y".utf8)))
    let refusal = stage.open(delivered, 0, "text/html")?.refusal
    #expect(refusal?.name == .noSuchItem)
    #expect(refusal?.message.contains("it has text/plain") == true)
  }

  @Test func `a type is found by conformance, and a type itself comes before one that conforms to it`() throws {
    let delivered = try stage.handled(
      .text("<p>x", type: "text/html"), .text("x"), .data(1, type: "image/png"), .data(2, type: "image/jpeg"))
    let expected: [(Text, String)] = [
      ("", "<p>x"), ("*/*", "<p>x"), ("text/*", "<p>x"), ("text/html", "<p>x"), ("text/plain", "x"),
      ("public.plain-text", "x"), ("image/png", "\u{7}"), ("public.png", "\u{7}"), ("image/*", "\u{7}"),
      ("public.image", "\u{7}"), ("image/jpeg", "\u{7}\u{7}"),
    ]
    for (type, content) in expected {
      stage.open(delivered, 0, type)
      let parcel = try #require(stage.baggage.openings.first, "\(type)").parcel
      #expect(parcel.content == .data(Array(content.utf8)) && parcel.size == Int64(content.utf8.count), "\(type)")
      stage.baggageOpens(size: 1)
    }
    #expect(stage.open(delivered, 0, "video/mp4")?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, 0, "no type")?.refusal?.name == .invalidArgs)
    #expect(stage.open(delivered, 1)?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, -1)?.refusal?.name == .noSuchItem)
    #expect(stage.open(delivered, .max)?.refusal?.name == .noSuchItem)
    let unknown = UniqueIdentifier(high: 1, low: 1)
    #expect(stage.call(.openItem(unknown, item: 0, type: .empty), by: .host)?.refusal?.name == .noSuchDelivery)
    #expect(stage.call(.release(unknown), by: .host)?.refusal?.name == .noSuchDelivery)
  }

  @Test func `a sandbox does not learn whose another's delivery is`() throws {
    let delivered = try stage.handled(.text())
    func refusal(_ caller: Caller) -> String? { stage.open(delivered, by: caller)?.refusal?.message }
    for stranger in [Caller.stranger, .sandbox("org.example.Dogs")] {
      #expect(refusal(stranger) == "only the attached host of its application may do that")
    }
    #expect(refusal(.sandbox("org.example.Cats")) == "only the attached host of org.example.Cats may do that")
    #expect(refusal(.other) == "only the attached host of org.example.Cats may do that")
  }

  @Test func `what the baggage store cannot open can be tried again`() throws {
    let delivered = try stage.handled(.promise())
    stage.open(delivered)
    stage.baggageCannotOpen()
    #expect(stage.answer?.refusal?.name == .sourceGone)
    for _ in 0..<2 { stage.open(delivered) }
    let last = stage.lastCall
    // Two openings at once are two questions.
    for _ in 0..<2 { stage.baggageOpens(size: nil) }
    #expect([last - 1, last].map { stage.answers[$0]?.size } == [-1, -1])
    #expect(stage.memory.transfers.isEmpty)
  }

  // MARK: Freeing

  @Test func `what its host releases is freed once, and its promises end`() throws {
    let delivered = try stage.handled(.descriptor(), .promise("/a"), .promise("/a", type: "image/tiff"))
    #expect(stage.call(.release(delivered.delivery), by: .host) == .done)
    #expect(stage.call(.release(delivered.delivery), by: .host) == .done)
    #expect(stage.freed(delivered.delivery) == 1 && stage.parcels.isEmpty && stage.shelf.baggage.isEmpty)
    #expect(stage.endedPromises == [["/a"]])
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
    stage.passUntilQuiet(seconds: 700)
    #expect(stage.freed(delivered.delivery) == 1)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `what is not released goes after its time, and what is being opened is called off`() throws {
    let delivered = try stage.handled(.descriptor())
    stage.passUntilQuiet(seconds: 599)
    #expect(!stage.parcels.isEmpty)
    stage.open(delivered)
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.answer?.refusal?.name == .cancelled)
    #expect(stage.freed(delivered.delivery) == 1 && stage.parcels.isEmpty)
  }

  @Test func `what is held stays as long as it is held`() throws {
    let stage = Stage(cats())
    stage.drop(.descriptor()) { $0.statedDeadline = 3_600 }
    stage.baggagePacks()
    let delivered = try #require(stage.answer?.delivered)
    stage.passUntilQuiet(seconds: 3_000)
    stage.attach()
    stage.hostAnswersAll()
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
  }

  @Test func `it goes with its session`() throws {
    let handled = try stage.handled(.descriptor())
    let open = try stage.packed(.descriptor())
    #expect(open.session == handled.session && stage.memory.baggageOfSession.count(of: open.session) == 2)
    stage.call(.destroy(handled.session, animation: "standard"))
    #expect(stage.parcels.isEmpty && stage.shelf.baggage.isEmpty)
    #expect(stage.freed(handled.delivery) == 1 && stage.freed(open.delivery) == 1)
  }

  @Test func `it goes when its delivery fails, is cancelled, or is claimed by nobody`() throws {
    let stage = Stage(cats())
    let cancelled = try stage.packed(.descriptor())
    #expect(stage.call(.cancel(cancelled.delivery)) == .done)
    #expect(stage.parcels.isEmpty && stage.freed(cancelled.delivery) == 1)
    // Nothing can start the application.
    let unclaimed = try stage.packed(.descriptor())
    let launch = stage.errands.compactMap { if case .launch(_, let number, _) = $0 { number } else { nil } }.last
    stage.play(.launch(application: "org.example.Cats", number: try #require(launch), .unknown))
    stage.passUntilQuiet(seconds: 21)
    #expect(stage.progress(of: unclaimed.delivery)?.state == .routed)
    #expect(stage.parcels.isEmpty && stage.freed(unclaimed.delivery) == 1)
    // The host refuses the delivery.
    stage.attach()
    let failed = try stage.packed(.descriptor())
    stage.hostAnswers(.refused("no"))
    #expect(stage.progress(of: failed.delivery)?.state == .failed)
    #expect(stage.parcels.isEmpty && stage.freed(failed.delivery) == 1)
  }

  @Test func `it goes where its delivery goes`() throws {
    let delivered = try stage.handled(.descriptor(), key: "1") { $0.statedDeadline = 3_600 }
    let other = try stage.handled(.text(), key: "2")
    stage.pass(seconds: 590)
    #expect(stage.call(.redirect(delivered.delivery, to: other.session)) == .outcome("activated"))
    stage.call(.destroy(delivered.session, animation: "standard"))
    #expect(stage.parcels.keys.contains(delivered.delivery))
    stage.hostAnswersAll()
    // The delivery has its whole time again.
    stage.passUntilQuiet(seconds: 599)
    #expect(stage.parcels.keys.contains(delivered.delivery))
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
    stage.call(.destroy(other.session, animation: "standard"))
    #expect(stage.parcels.isEmpty)
  }

  @Test func `a service that begins knows what is kept, and that promises and descriptors are gone`() throws {
    let handled = try stage.handled(
      .file("a.gif", type: "image/gif"), .descriptor(type: "image/bmp"), .promise(), key: "1")
    stage.call(.deliver(stage.payload([.text("x")], "2"), digest: "", size: 1))
    let open = try #require(stage.answer?.delivered)
    stage.restart(cats())
    #expect(stage.memory.baggage.count == 2)
    stage.attach(showing: [handled.session])
    stage.hostAnswersAll()
    stage.open(handled, 0, "image/gif")
    // The delivery is read, and what it carries.
    #expect(stage.restarts == 2)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
    for type in ["image/jpeg", "image/bmp"] as [Text] {
      #expect(stage.open(handled, 0, type)?.refusal?.name == .sourceGone)
    }
    stage.open(open)
    stage.baggageOpens(size: 1)
    #expect(stage.answer?.size == 1)
    stage.passUntilQuiet(seconds: 601)
    #expect(stage.shelf.baggage.isEmpty && stage.parcels.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `what the store has lost is told, and not asked for again and again`() throws {
    let delivered = try stage.handled(.text())
    stage.alterStore(.baggageReleased(delivered.delivery))
    #expect(stage.open(delivered)?.refusal?.name == .noSuchItem)
    #expect(stage.restarts <= 2)
  }

  @Test func `what its host has released cannot be redirected`() throws {
    let first = try stage.handled(.text(), key: "1")
    let second = try stage.handled(.text(), key: "2")
    stage.call(.release(first.delivery), by: .host)
    #expect(stage.call(.redirect(first.delivery, to: second.session))?.refusal?.name == .requestDenied)
    #expect(stage.call(.redirect(second.delivery, to: first.session)) == .outcome("activated"))
  }

  // MARK: Transfers

  @Test func `transfers are called off when the host leaves or the delivery is released, and answered once`() throws {
    let delivered = try stage.handled(.promise())
    stage.open(delivered)
    let first = stage.lastCall
    stage.open(delivered)
    stage.call(.release(delivered.delivery), by: .host)
    for call in [first, first + 1] {
      #expect(stage.answers[call]?.refusal?.name == .cancelled)
      #expect(stage.errands.contains(.callOff(call)))
      // A later report of the baggage store has no effect.
      stage.play(.opened(call, .opened(size: 1)))
      stage.play(.opened(call, .failed(InterchangeError(.sourceGone, ""))))
    }
    let other = try stage.handled(.promise(), key: "2")
    stage.open(other)
    let last = stage.lastCall
    stage.hostLeaves()
    #expect(stage.answers[last]?.refusal?.name == .cancelled)
    #expect(stage.memory.transfers.isEmpty)
  }
}
