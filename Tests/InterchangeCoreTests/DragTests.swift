import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// Drags that begin, who may look at them, and what hosts propose.
@Suite struct DragTests {
  private let stage = Stage(hosting: cats())

  // MARK: Beginning and adding

  @Test func `a drag begins, and what comes with the call is packed`() throws {
    stage.begin(.descriptor(), .data(Allowance.smallParcel + 1), .file(), .promise(), .text())
    let orders = try #require(stage.baggage.packings.first).orders
    // Files and promises are opened only at the drop.
    #expect(orders.map(\.number) == [0, 1])
    stage.baggagePacks()
    let drag = try #require(stage.answer?.begun)
    #expect(drag.ticket.string.hasPrefix("ticket "))
    #expect(orders.allSatisfy { $0.delivery == drag.drag })
    let view = try #require(stage.book.viewOfDrag(drag.drag, for: .shell))
    #expect(view.state == "dragging" && view.items[0].representations.count == 5)
    #expect(stage.shelf.deliveries.isEmpty)
  }

  @Test func `a drag of nothing can be dropped, and ends`() throws {
    let window = try stage.window()
    let begun = stage.call(.beginDrag(Payload(), ticket: "a ticket", outlivesSource: false, size: 2))
    let drag = try #require(begun?.begun).drag
    #expect(stage.drop(drag, on: window)?.delivered?.delivery == drag)
    stage.hostAnswersAll()
    #expect(stage.state(of: drag) == "ended")
  }

  @Test func `a drag that is refused leaves nothing`() throws {
    stage.begin(.descriptor(), .descriptor(1, type: "text/html"))
    stage.baggageFails()
    #expect(stage.answer?.refusal != nil && stage.parcels.isEmpty)
    stage.begin(.descriptor())
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.answer?.refusal?.name == .storageFailed && stage.parcels.isEmpty)
    #expect(stage.begin(.file(), by: .sandbox("org.example.Mail"))?.refusal?.name == .accessDenied)
    #expect(stage.memory.drags.isEmpty && stage.memory.tickets.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `items are added, and everyone who takes part is told`() throws {
    let (stage, _, drag) = try Stage.dragging(.text())
    stage.open(drag, by: .target)
    let count = stage.sayings.count
    #expect(stage.add(.text("b"), to: drag) == .done)
    #expect(stage.news(since: count) == ["drag Items :1.1 :3.9"])
    #expect(stage.book.viewOfDrag(drag, for: .target)?.items.count == 2)
    let refusal = stage.call(.addItems([], to: drag, size: 1), by: .target)?.refusal
    #expect(refusal?.name == .accessDenied)
    #expect(stage.call(.cancelDrag(drag), by: .target)?.refusal?.name == .accessDenied)
  }

  @Test func `two calls that add items at the same time add both`() throws {
    let (stage, window, drag) = try Stage.dragging(.descriptor())
    for number in 0..<2 {
      let item = Item(suggestedName: Text("\(number)"), representations: [.descriptor(number)])
      stage.call(.addItems([item], to: drag, size: 1))
    }
    #expect(stage.baggage.packings.map { $0.orders.map(\.number) } == [[1], [2]])
    let calls = stage.baggage.packings.map(\.number)
    stage.baggage.packings.reverse()
    stage.baggagePacks()
    stage.baggagePacks()
    #expect(calls.allSatisfy { stage.answers[$0] == .done })
    stage.drop(drag, on: window)
    let baggage = try #require(stage.shelf.baggage[drag])
    #expect(baggage.items.map { $0.map(\.parcel.content) } == [[.held(0)], [.held(2)], [.held(1)]])
  }

  @Test func `items that come when the drag is over are refused and freed`() throws {
    for isCancelled in [true, false] {
      let (stage, window, drag) = try Stage.dragging(.descriptor())
      stage.add(.descriptor(1), to: drag)
      let adding = stage.lastCall
      if isCancelled {
        stage.call(.cancelDrag(drag))
      } else {
        stage.drop(drag, on: window)
      }
      stage.baggagePacks()
      #expect(stage.answers[adding]?.refusal?.name == .requestDenied)
      #expect(stage.parcels == (isCancelled ? [:] : [drag: [0]]))
    }
  }

  @Test func `items that cannot be packed leave the others`() throws {
    let (stage, _, drag) = try Stage.dragging(.descriptor())
    stage.add(.descriptor(1), .descriptor(2, type: "text/html"), to: drag)
    stage.baggageFails()
    #expect(stage.parcels == [drag: [0]])
    stage.add(.descriptor(1), .descriptor(2, type: "text/html"), to: drag)
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.parcels == [drag: [0]])
    #expect(stage.book.viewOfDrag(drag, for: .shell)?.items.count == 1)
  }

  @Test func `a drag has as many items as a payload, also where calls add them at the same time`() throws {
    let (stage, _, drag) = try Stage.dragging(.text())
    let many = [Item](repeating: Item(suggestedName: "x"), count: Limits.items - 2)
    #expect(stage.call(.addItems(many, to: drag, size: 1)) == .done)
    for _ in 0..<2 { stage.add(.descriptor(), to: drag) }
    let calls = stage.baggage.packings.map(\.number)
    stage.baggagePacks()
    stage.baggagePacks()
    #expect(stage.answers[calls[0]] == .done)
    #expect(stage.answers[calls[1]]?.refusal?.name == .limitsExceeded)
    #expect(stage.parcels[drag]?.count == 1)
  }

  // MARK: Access

  @Test(arguments: [false, true])
  func `from its drop on, nobody but the source sees what a private drag carries`(isScript: Bool) throws {
    let (stage, window, drag) = try Stage.dragging(.text(), isScript: isScript) { $0.isPrivate = true }
    stage.open(drag, by: .other)
    func items(for caller: Caller) -> Int? { stage.book.viewOfDrag(drag, for: caller)?.items.count }
    #expect(items(for: .other) == 1)
    #expect(stage.call(.drop(drag, on: window, operation: "copy"), by: .other)?.delivered != nil)
    #expect([.other, .shell(3), .shell].map(items) == [0, 0, 1])
  }

  @Test func `who brings the ticket may look, and nobody else`() throws {
    let (stage, _, drag) = try Stage.dragging(.text(), by: .sandbox("org.example.Mail"))
    for caller in [.target, .sandbox("org.example.Mail", 5), .stranger, .other] as [Caller] {
      #expect(stage.book.viewOfDrag(drag, for: caller) == nil)
      for ask in [
        .propose(drag, on: nil), .drop(drag, on: nil, operation: "copy"), .cancelDrag(drag),
        .addItems([], to: drag, size: 1),
      ] as [Ask] { #expect(stage.call(ask, by: caller)?.refusal?.name == .unknownObject) }
      #expect(stage.call(.openDrag(ticket: "another"), by: caller)?.refusal?.name == .unknownObject)
    }
    #expect(stage.open(drag, by: .target) == .dragOpened(drag))
    #expect(stage.book.viewOfDrag(drag, for: .target) != nil)
    let early = stage.call(.openItem(drag, item: 0, type: .empty), by: .target)
    #expect(early?.refusal?.name == .notDropped)
    #expect(stage.book.viewOfDrag(drag, for: .sandbox("org.example.Target", 8)) == nil)
    #expect(stage.book.viewOfDrag(drag, for: .other) == nil)
    // Programs outside a sandbox share their rights: a script calls from another connection each time.
    stage.open(drag, by: .shell(1))
    #expect(stage.book.viewOfDrag(drag, for: .shell(2)) != nil)
    #expect(stage.call(.cancelDrag(drag), by: .shell(2))?.refusal?.name == .accessDenied)
  }

  @Test func `what is hidden is absent for others, also in the drag of a script`() throws {
    for isScript in [true, false] {
      let (stage, _, drag) = try Stage.dragging(
        .text("x"), .text("y", type: "text/html", .application), .text("z", type: "text/csv", .ownProcess), by: .host,
        isScript: isScript)
      stage.open(drag, by: .shell)
      stage.open(drag, by: .sandbox("org.example.Cats", 1))
      let seen: (Caller) -> [Text]? = { caller in
        stage.book.viewOfDrag(drag, for: caller)?.items[0].representations.map(\.type.name)
      }
      #expect(seen(.host) == ["text/plain", "text/html", "text/csv"])
      #expect(seen(.sandbox("org.example.Cats", 1)) == ["text/plain", "text/html"])
      #expect(seen(.shell) == ["text/plain"])
    }
  }

  @Test func `as many connections bring a ticket as are remembered, until one of them leaves`() throws {
    let (stage, _, drag) = try Stage.dragging(.text())
    for number in 0..<Allowance.dragOpeners { stage.open(drag, by: .sandbox("org.example.Target", number)) }
    let late = Caller.sandbox("org.example.Target", Allowance.dragOpeners)
    #expect(stage.open(drag, by: late)?.refusal?.name == .limitsExceeded)
    stage.callerLeaves(.sandbox("org.example.Target", 0))
    #expect(stage.open(drag, by: late) == .dragOpened(drag))
    #expect(stage.open(drag, by: .target) == .dragOpened(drag))
    #expect(stage.open(drag, by: .other) == .dragOpened(drag))
  }

  // MARK: Proposing

  private static let answers: [(HostAnswer, [PayloadOptions.Operation], Text)] = [
    (.operation("copy"), [.copy], "copy"), (.operation("copy"), [.move], "forbidden"),
    (.operation("copy"), [.copy, .move], "copy"), (.operation("move"), [.copy], "forbidden"),
    (.operation("move"), [.move], "move"), (.operation("move"), [.copy, .move], "move"),
    (.operation("cancel"), [.copy], "cancel"), (.operation("forbidden"), [.copy, .move], "forbidden"),
    (.operation("link"), [.copy], "forbidden"), (.operation(""), [.copy], "forbidden"),
    (.done, [.copy], "copy"), (.done, [.move], "move"), (.done, [.move, .copy], "copy"),
    (.timedOut, [.copy], "forbidden"), (.refused("no"), [.copy], "forbidden"), (.failed("no"), [.copy], "forbidden"),
    (.gone(neverReached: true), [.copy], "forbidden"), (.configuration("copy"), [.copy], "forbidden"),
  ]

  @Test func `what the host proposes is bounded by what the source allows`() throws {
    for (answer, allowed, expected) in Self.answers {
      let (stage, window, drag) = try Stage.dragging(.text()) { $0.allowedOperations = allowed }
      stage.open(drag, by: .target)
      stage.call(.propose(drag, on: window), by: .target)
      let asked = try #require(stage.asked.last)
      guard case .propose(window, let items, allowed) = asked.question else { return _ = Issue.record("\(asked)") }
      #expect(items.count == 1 && asked.within == 1_000_000)
      stage.hostAnswers(answer)
      #expect(stage.answer?.operation == expected, "\(answer) \(allowed)")
    }
  }

  @Test func `without a host that could be asked, the first operation that is allowed is proposed`() throws {
    for (allowed, expected) in [([.copy], "copy"), ([.move], "move"), ([.move, .copy], "copy")]
      as [([PayloadOptions.Operation], Text)]
    {
      let (stage, window, drag) = try Stage.dragging(.text()) { $0.allowedOperations = allowed }
      // The edge of the screen.
      #expect(stage.call(.propose(drag, on: nil))?.operation == expected)
      let unknown = UniqueIdentifier(high: 1, low: 1)
      #expect(stage.call(.propose(drag, on: unknown))?.refusal?.name == .noSuchSession)
      stage.hostLeaves()
      #expect(stage.call(.propose(drag, on: window))?.operation == expected)
      #expect(stage.asked.isEmpty)
    }
  }

  @Test func `a proposal ends with the host that was asked, and its late answer is nobody's`() throws {
    let (stage, window, drag) = try Stage.dragging(.text())
    stage.call(.propose(drag, on: window))
    let (call, errand) = (stage.lastCall, try #require(stage.asked.last?.errand))
    stage.hostLeaves()
    #expect(stage.answers[call]?.operation == "forbidden")
    // It attaches again on the same connection, and then answers.
    stage.attach(showing: [window])
    stage.play(.hostAnswered(errand, .operation("copy")))
    #expect(stage.memory.proposals.isEmpty)
    stage.checkItself()
  }

  @Test func `a drag that ends while a host is asked is forbidden everywhere`() throws {
    for answer in [HostAnswer.operation("copy"), .done] {
      let (stage, window, drag) = try Stage.dragging(.text())
      stage.call(.propose(drag, on: window))
      let call = stage.lastCall
      stage.call(.cancelDrag(drag))
      stage.passUntilQuiet(seconds: 20)
      #expect(stage.memory.drags.isEmpty)
      stage.hostAnswers(answer)
      #expect(stage.answers[call]?.operation == "forbidden")
    }
  }

  @Test func `an application that was asked hears how it ended, and a private activity only its own host sees`() throws
  {
    let (stage, window, drag) = try Stage.dragging(.text("x"), .text("y", type: "text/html", .ownProcess))
    stage.call(.propose(drag, on: window))
    guard case .propose(_, let items, _)? = stage.asked.last?.question else { return #expect(Bool(false)) }
    #expect(items[0].representations.map(\.type.name) == ["text/plain"])
    let count = stage.sayings.count
    stage.call(.cancelDrag(drag))
    #expect(stage.news(since: count) == ["drag State :1.1 :1.10", "Ended cancel :1.1 :1.10"])
  }

  @Test func `a host has as many proposals as it may, and not one more`() throws {
    let window = try stage.window()
    for number in 0..<Host.maximumProposing {
      let drag = try stage.dragging(.text(), by: .shell(number / 50))
      #expect(stage.call(.propose(drag, on: window), by: .shell(number / 50)) == nil)
    }
    let drag = try stage.dragging(.text())
    #expect(stage.call(.propose(drag, on: window))?.refusal?.name == .limitsExceeded)
    stage.hostAnswers(.operation("copy"))
    #expect(stage.call(.propose(drag, on: window)) == nil)
  }

  @Test func `a host is asked about a drag once at a time, and then about the newest place`() throws {
    let windows = try ["a", "b", "c"].map { try stage.window($0) }
    let drag = try stage.dragging(.text())
    let first = stage.lastCall + 1
    for place in [0, 1, 0, 2] { #expect(stage.call(.propose(drag, on: windows[place])) == nil) }
    func places() -> [UniqueIdentifier] {
      stage.asked.compactMap { if case .propose(let session, _, _) = $0.question { session } else { nil } }
    }
    #expect(places() == [windows[0]])
    stage.hostAnswers(.operation("copy"))
    #expect(stage.answers[first]?.operation == "copy" && stage.answers[first + 1] == nil)
    #expect(places() == [windows[2]])
    stage.hostAnswers(.operation("cancel"))
    for call in first + 1...first + 3 { #expect(stage.answers[call]?.operation == "cancel") }
    #expect(stage.asked.isEmpty && stage.memory.proposals.isEmpty)
    // Without the host nobody is asked.
    let last = stage.lastCall + 1
    for place in [0, 1] { #expect(stage.call(.propose(drag, on: windows[place])) == nil) }
    let errand = try #require(stage.asked.first).errand
    stage.hostLeaves()
    stage.play(.hostAnswered(errand, .gone(neverReached: false)))
    for call in last...last + 1 { #expect(stage.answers[call]?.operation == "forbidden") }
  }

  @Test func `proposals of one source take as many bytes of a host as they leave for others`() throws {
    let window = try stage.window()
    let items = (0..<50).map { Item(suggestedName: Text(String(repeating: "x", count: 12_000) + "\($0)")) }
    func begin(by caller: Caller) throws -> UniqueIdentifier {
      let payload = Payload(items: items)
      let ask = Ask.beginDrag(payload, ticket: Text("of \(stage.lastCall)"), outlivesSource: false, size: 100)
      return try #require(stage.call(ask, by: caller)?.begun).drag
    }
    // Each drag has more than half a megabyte.
    let drags = try (0..<2).map { _ in try begin(by: .shell) }
    #expect(stage.call(.propose(drags[0], on: window)) == nil)
    #expect(stage.call(.propose(drags[1], on: window))?.refusal?.name == .limitsExceeded)
    let other = try begin(by: .other)
    #expect(stage.call(.propose(other, on: window), by: .other) == nil)
    stage.hostAnswersAll(.operation("copy"))
    #expect(stage.call(.propose(drags[1], on: window)) == nil)
    stage.hostAnswersAll(.operation("copy"))
    // A drag that is longer than the limit is asked about alone.
    #expect(stage.call(.addItems(items, to: drags[0], size: 100)) == .done)
    #expect(stage.call(.propose(drags[0], on: window)) == nil)
    #expect(stage.call(.propose(drags[1], on: window))?.refusal?.name == .limitsExceeded)
    stage.hostAnswersAll(.operation("copy"))
    #expect(stage.drop(drags[0], on: window)?.delivered != nil)
  }
}
