import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// Each transition of a drag, and who hears of it.
@Suite struct DragTests {
  private static let target = Caller.sandbox("org.example.Target", 9)
  private static let noSession: Text = "org.stagedoor.Error.NoSuchSession"

  private func news(_ stage: Stage, since count: Int = 0) -> [String] {
    stage.sayings.dropFirst(count).compactMap { saying in
      guard case .drag(_, _, let listeners) = saying else { return nil }
      return "\(saying.word) \(listeners.map(\.string).joined(separator: " "))"
    }
  }

  // MARK: Beginning and adding

  @Test func `a drag begins, and what comes with the call is packed`() throws {
    let stage = Stage(hosting: cats())
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
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let begun = stage.call(.beginDrag(Payload(), ticket: "a ticket", outlivesSource: false, size: 2))
    let drag = try #require(begun?.begun).drag
    #expect(stage.drop(drag, on: window)?.delivered?.delivery == drag)
    stage.hostAnswersAll()
    #expect(stage.state(of: drag) == "ended")
  }

  @Test func `a drag that is refused leaves nothing`() throws {
    let stage = Stage(hosting: cats())
    stage.begin(.descriptor(), .descriptor(1, type: "text/html"))
    stage.baggageFails()
    #expect(stage.answer?.refusal != nil && stage.parcels.isEmpty)
    stage.begin(.descriptor())
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.answer?.refusal?.name == .storageFailed && stage.parcels.isEmpty)
    stage.turn(refused: true) { $0.begin(.text()) }
    #expect(stage.begin(.file(), by: .sandbox("org.example.Mail"))?.refusal?.name == .accessDenied)
    #expect(stage.memory.drags.isEmpty && stage.memory.tickets.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `items are added, and everyone who takes part is told`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    stage.open(drag, by: Self.target)
    let count = stage.sayings.count
    #expect(stage.add(.text("b"), to: drag) == .done)
    #expect(news(stage, since: count) == ["drag Items :1.1 :3.9"])
    #expect(stage.book.viewOfDrag(drag, for: Self.target)?.items.count == 2)
    // Only the source may add items.
    let refusal = stage.call(.addItems([], to: drag, size: 1), by: Self.target)?.refusal
    #expect(refusal?.name == .accessDenied)
    #expect(stage.call(.cancelDrag(drag), by: Self.target)?.refusal?.name == .accessDenied)
  }

  @Test func `two calls that add items at the same time add both`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor())
    let window = try stage.window()
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
      let stage = Stage(hosting: cats())
      let drag = try stage.dragging(.descriptor())
      let window = try stage.window()
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
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor())
    stage.add(.descriptor(1), .descriptor(2, type: "text/html"), to: drag)
    stage.baggageFails()
    #expect(stage.parcels == [drag: [0]])
    stage.add(.descriptor(1), .descriptor(2, type: "text/html"), to: drag)
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.parcels == [drag: [0]])
    stage.turn(refused: true) { $0.add(.descriptor(1), to: drag) }
    #expect(stage.book.viewOfDrag(drag, for: .shell)?.items.count == 1)
  }

  @Test func `a drag has as many items as a payload, also where calls add them at the same time`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
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

  @Test func `who brings the ticket may look, and nobody else`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text(), by: .sandbox("org.example.Mail"))
    for caller in [Self.target, .sandbox("org.example.Mail", 5), .stranger, .other] {
      #expect(stage.book.viewOfDrag(drag, for: caller) == nil)
      for ask in [
        .propose(drag, on: nil), .drop(drag, on: nil, operation: "copy"), .cancelDrag(drag),
        .addItems([], to: drag, size: 1),
      ] as [Ask] {
        #expect(stage.call(ask, by: caller)?.refusal?.name == .unknownObject)
      }
      #expect(stage.call(.openDrag(ticket: "another"), by: caller)?.refusal?.name == .unknownObject)
    }
    #expect(stage.open(drag, by: Self.target) == .dragOpened(drag))
    #expect(stage.book.viewOfDrag(drag, for: Self.target) != nil)
    let early = stage.call(.openItem(drag, item: 0, type: .empty), by: Self.target)
    #expect(early?.refusal?.name == .notDropped)
    #expect(stage.book.viewOfDrag(drag, for: .sandbox("org.example.Target", 8)) == nil)
    #expect(stage.book.viewOfDrag(drag, for: .other) == nil)
    // Programs outside a sandbox share their rights: a script calls from another connection each time.
    stage.open(drag, by: .shell(1))
    #expect(stage.book.viewOfDrag(drag, for: .shell(2)) != nil)
    #expect(stage.call(.cancelDrag(drag), by: .shell(2))?.refusal?.name == .accessDenied)
  }

  @Test func `a ticket whose turn is refused was not brought`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    stage.turn(refused: true) { $0.open(drag, by: Self.target) }
    #expect(stage.book.viewOfDrag(drag, for: Self.target) == nil)
  }

  @Test func `what is hidden is absent for others, also in the drag of a script`() throws {
    for isScript in [true, false] {
      let stage = Stage(hosting: cats())
      let drag = try stage.dragging(
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

  @Test func `as many connections bring a ticket as are remembered, and not one more`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    for number in 0..<Allowance.dragOpeners {
      stage.open(drag, by: .sandbox("org.example.Target", number))
    }
    let late = Caller.sandbox("org.example.Target", Allowance.dragOpeners)
    #expect(stage.open(drag, by: late)?.refusal?.name == .limitsExceeded)
    #expect(stage.open(drag, by: Self.target) == .dragOpened(drag))
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
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let drag = try stage.dragging(.text()) { $0.allowedOperations = allowed }
      stage.open(drag, by: Self.target)
      stage.call(.propose(drag, on: window), by: Self.target)
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
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let drag = try stage.dragging(.text()) { $0.allowedOperations = allowed }
      // The edge of the screen.
      #expect(stage.call(.propose(drag, on: nil))?.operation == expected)
      stage.hostLeaves()
      #expect(stage.call(.propose(drag, on: window))?.operation == expected)
      #expect(stage.asked.isEmpty)
    }
  }

  @Test func `a proposal for a session that is not there is refused`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    let unknown = UniqueIdentifier(high: 1, low: 1)
    #expect(stage.call(.propose(drag, on: unknown))?.refusal?.name == .noSuchSession)
    #expect(stage.asked.isEmpty)
  }

  @Test func `a proposal ends with the host that was asked, and its late answer is nobody's`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text())
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
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let drag = try stage.dragging(.text())
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
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text("x"), .text("y", type: "text/html", .ownProcess))
    stage.turn(refused: true) { $0.call(.propose(drag, on: window)) }
    #expect(stage.memory.drags[drag]?.asked == [])
    stage.call(.propose(drag, on: window))
    guard case .propose(_, let items, _)? = stage.asked.last?.question else { return #expect(Bool(false)) }
    #expect(items[0].representations.map(\.type.name) == ["text/plain"])
    let count = stage.sayings.count
    stage.call(.cancelDrag(drag))
    #expect(news(stage, since: count) == ["drag State :1.1 :1.10", "Ended cancel :1.1 :1.10"])
  }

  // MARK: Dropping

  @Test func `a drop makes a delivery of the drag's name, with all it carries`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.descriptor(), .file(), .promise(), .text())
    stage.open(drag, by: Self.target)
    let count = stage.sayings.count
    stage.drop(drag, on: window, by: Self.target)
    #expect(stage.baggage.packings.first?.orders.map(\.number) == [1])
    #expect(stage.state(of: drag) == "dropped")
    stage.baggagePacks()
    let call = stage.lastCall
    let delivered = try #require(stage.answers[call]?.delivered)
    #expect(delivered.delivery == drag && delivered.session == window)
    let baggage = try #require(stage.shelf.baggage[drag]).items[0].map(\.parcel.content)
    #expect(baggage[0] == .held(0) && baggage[1] == .kept(1))
    #expect(baggage[2] == .promise(Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")))
    #expect(news(stage, since: count) == ["drag State :1.1 :3.9"])
    // A copy ends as soon as it was handled, and can still be opened.
    stage.hostAnswersAll()
    #expect(news(stage, since: count).dropFirst() == ["drag State :1.1 :3.9", "Ended copy :1.1"])
    #expect(stage.target(of: drag) == window)
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
  }

  @Test func `what is dropped on the edge makes a session`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    let delivered = try #require(stage.drop(drag, on: nil)?.delivered)
    #expect(delivered.outcome == "created")
  }

  @Test func `a drag is dropped once, and what is dropped is not cancelled`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.file())
    stage.drop(drag, on: nil)
    let first = stage.lastCall
    for ask in [
      .drop(drag, on: nil, operation: "copy"), .cancelDrag(drag), .propose(drag, on: nil),
      .addItems([], to: drag, size: 1),
    ] as [Ask] {
      #expect(stage.call(ask)?.refusal?.name == .requestDenied)
    }
    stage.baggagePacks()
    #expect(stage.answers[first]?.delivered != nil)
    #expect(stage.drop(drag, on: nil)?.refusal?.name == .requestDenied)
    #expect(stage.shelf.deliveries.count == 1)
  }

  @Test func `an operation that is none, or that the source does not allow, is refused`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    #expect(stage.drop(drag, on: nil, "link")?.refusal?.name == .invalidArgs)
    #expect(stage.drop(drag, on: nil, "move")?.refusal?.name == .requestDenied)
    let unknown = UniqueIdentifier(high: 1, low: 1)
    #expect(stage.drop(drag, on: unknown)?.refusal?.errorName == Self.noSession)
    #expect(stage.state(of: drag) == "dragging")
  }

  @Test func `a drop that is refused leaves the drag as it was, and it can be dropped again`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.descriptor(), .file(), .file("b", type: "text/x-b"))
    // A file is missing.
    stage.drop(drag, on: window)
    stage.baggageFails()
    #expect(stage.answer?.refusal != nil)
    #expect(stage.state(of: drag) == "dragging")
    #expect(stage.parcels == [drag: [0]])
    // The store refuses the turn.
    stage.drop(drag, on: window)
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.parcels == [drag: [0]] && stage.shelf.baggage.isEmpty)
    stage.turn(refused: true) { $0.drop(drag, on: window) }
    #expect(stage.state(of: drag) == "dragging")
    // The window is destroyed meanwhile.
    stage.drop(drag, on: window)
    let late = stage.lastCall
    stage.call(.destroy(window, animation: "standard"))
    stage.baggagePacks()
    #expect(stage.answers[late]?.refusal?.errorName == Self.noSession)
    #expect(stage.parcels == [drag: [0]])
    stage.drop(drag, on: nil)
    stage.baggagePacks()
    #expect(stage.answer?.delivered?.delivery == drag)
    #expect(stage.parcels[drag]?.count == 3)
  }

  @Test func `whoever drops waits, and a host that drops on its own window does not`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text()) { $0.wait = .handled }
    stage.open(drag, by: .host)
    #expect(stage.drop(drag, on: window, by: .host)?.delivered != nil)
    stage.hostAnswersAll()
    let other = try stage.dragging(.text()) { $0.wait = .handled }
    #expect(stage.drop(other, on: window) == nil)
    stage.hostAnswersAll()
    #expect(stage.answer?.delivered != nil)
  }

  // MARK: Ending

  @Test func `what is moved ends when its host has released it`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text()) { $0.allowedOperations = [.move] }
    stage.drop(drag, on: window, "move")
    stage.hostAnswersAll()
    let count = stage.sayings.count
    #expect(stage.state(of: drag) == "dropped")
    stage.call(.release(drag), by: .host)
    #expect(news(stage, since: count) == ["drag State :1.1", "Ended move :1.1"])
    #expect(stage.target(of: drag) == window)
  }

  @Test func `what is moved and released before it was handled ends when it was handled`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text()) { $0.allowedOperations = [.move] }
    stage.drop(drag, on: window, "move")
    let count = stage.sayings.count
    stage.call(.release(drag), by: .host)
    #expect(news(stage, since: count) == [])
    stage.hostAnswersAll()
    #expect(news(stage, since: count) == ["drag State :1.1", "Ended move :1.1"])
    #expect(stage.target(of: drag) == window)
  }

  @Test func `what is moved and carries nothing ends when it was handled`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging() { $0.allowedOperations = [.move] }
    stage.drop(drag, on: nil, "move")
    stage.hostAnswersAll()
    #expect(news(stage).last == "Ended move :1.1")
  }

  @Test func `a source does not delete what no host has said that it has`() throws {
    for isDiscarded in [true, false] {
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let drag = try stage.dragging(.text()) { $0.allowedOperations = [.move] }
      stage.drop(drag, on: window, "move")
      stage.hostAnswersAll()
      if isDiscarded {
        stage.call(.destroy(window, animation: "standard"))
      } else {
        stage.passUntilQuiet(seconds: 601)
      }
      #expect(news(stage).last == "Ended copy :1.1")
    }
  }

  @Test func `a delivery that fails ends its drag with cancel`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    for operation in ["copy", "move"] as [Text] {
      let drag = try stage.dragging(.text()) { $0.allowedOperations = [.copy, .move] }
      stage.drop(drag, on: window, operation)
      let count = stage.sayings.count
      stage.hostAnswers(.refused("no"))
      #expect(news(stage, since: count) == ["drag State :1.1", "Ended cancel :1.1"])
      #expect(stage.target(of: drag) == nil)
    }
    #expect(stage.parcels.isEmpty)
  }

  @Test func `a drag is cancelled by its source, and freed once`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor(), .promise("/a"))
    stage.open(drag, by: Self.target)
    stage.turn(refused: true) { $0.call(.cancelDrag(drag)) }
    #expect(stage.state(of: drag) == "dragging" && !stage.parcels.isEmpty)
    let count = stage.sayings.count
    #expect(stage.call(.cancelDrag(drag)) == .done)
    #expect(stage.call(.cancelDrag(drag))?.refusal?.name == .requestDenied)
    #expect(news(stage, since: count) == ["drag State :1.1 :3.9", "Ended cancel :1.1"])
    #expect(stage.errands.count { $0 == .free([drag]) } == 1 && stage.parcels.isEmpty)
    #expect(stage.endedPromises == [["/a"]])
    #expect(stage.book.ledger.total(.baggage) == 0)
    // The drag still tells how it ended, but cannot be opened any more, and is forgotten soon.
    #expect(stage.book.viewOfDrag(drag, for: Self.target)?.state == "cancelled")
    #expect(stage.open(drag, by: .other)?.refusal?.name == .unknownObject)
    stage.passUntilQuiet(seconds: 11)
    #expect(stage.memory.drags.isEmpty && stage.memory.tickets.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test func `a source that leaves cancels its drag, in a sandbox or outside`() throws {
    for source in [Caller.shell, .sandbox("org.example.Mail")] {
      let stage = Stage(hosting: cats())
      let drag = try stage.dragging(.descriptor(), by: source)
      stage.callerLeaves(source)
      #expect(stage.book.viewOfDrag(drag, for: source)?.state == "cancelled")
      #expect(stage.parcels.isEmpty)
      #expect(stage.book.ledger.total(.baggage) == 0)
    }
  }

  @Test func `a source that leaves while its drag begins has begun none`() throws {
    for source in [Caller.shell, .sandbox("org.example.Mail")] {
      let stage = Stage(hosting: cats())
      stage.begin(.descriptor(), by: source)
      stage.callerLeaves(source)
      #expect(stage.memory.drags.isEmpty && stage.parcels.isEmpty)
      #expect(stage.book.ledger.accountCount == 0)
      // A later report of the baggage store changes nothing.
      stage.baggageFails(InterchangeError(.cancelled, "nobody waits for it"))
      #expect(stage.memory.drags.isEmpty && stage.parcels.isEmpty)
    }
  }

  @Test func `a source that leaves after the drop changes nothing`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.file())
    stage.open(drag, by: Self.target)
    stage.drop(drag, on: window, by: Self.target)
    stage.callerLeaves(.shell)
    stage.baggagePacks()
    #expect(stage.answer?.delivered != nil)
    stage.hostAnswersAll()
    #expect(news(stage).last == "Ended copy :1.1")
  }

  @Test func `a source that leaves while a drop is packed that fails has cancelled its drag`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor(), .file())
    stage.open(drag, by: Self.target)
    stage.drop(drag, on: nil, by: Self.target)
    stage.callerLeaves(.shell)
    stage.baggageFails()
    #expect(stage.answer?.refusal != nil)
    #expect(stage.book.viewOfDrag(drag, for: Self.target)?.state == "cancelled")
    #expect(stage.parcels.isEmpty)
  }

  @Test func `the drag of a script outlives its connections, and any of them goes on with it`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor(), by: .shell(1), isScript: true)
    stage.callerLeaves(.shell(1))
    #expect(stage.add(.text(), to: drag, by: .shell(2)) == .done)
    #expect(stage.call(.cancelDrag(drag), by: .sandbox("org.example.Mail"))?.refusal?.name == .unknownObject)
    #expect(stage.drop(drag, on: nil, by: .shell(3))?.delivered != nil)
    // The drag of a sandboxed application belongs to the application's own connections only.
    let other = try stage.dragging(.text(), by: .sandbox("org.example.Mail", 1), isScript: true)
    #expect(stage.call(.cancelDrag(other), by: .shell(2))?.refusal?.name == .unknownObject)
    #expect(stage.call(.cancelDrag(other), by: .sandbox("org.example.Mail", 2)) == .done)
    // The drags of callers that the service could not look at belong to nobody.
    let strange = try stage.dragging(.text(), by: .stranger, isScript: true)
    let stranger = Caller(connection: ":1.21", isSandboxed: true, application: .empty, isStranger: true)
    #expect(stage.call(.cancelDrag(strange), by: stranger)?.refusal?.name == .unknownObject)
  }

  @Test func `a drag ends at its deadline`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.descriptor())
    let long = try stage.dragging(.text()) { $0.statedDeadline = 400 }
    stage.passUntilQuiet(seconds: 299)
    #expect(stage.state(of: drag) == "dragging")
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.state(of: drag) == "cancelled" && stage.parcels.isEmpty)
    #expect(news(stage).last == "Ended cancel :1.1")
    #expect(stage.state(of: long) == "dragging")
    stage.passUntilQuiet(seconds: 101)
    #expect(stage.state(of: long) == "cancelled")
  }

  @Test func `a deadline that comes while a drop is packed waits for what becomes of it`() throws {
    for isRefused in [true, false] {
      let stage = Stage(hosting: cats())
      let drag = try stage.dragging(.descriptor(), .file())
      stage.drop(drag, on: nil)
      stage.passUntilQuiet(seconds: 301)
      if isRefused {
        stage.baggageFails()
        stage.passUntilQuiet(seconds: 0)
        #expect(stage.state(of: drag) == "cancelled" && stage.parcels.isEmpty)
      } else {
        stage.baggagePacks()
        #expect(stage.answer?.delivered != nil)
        stage.hostAnswersAll()
        #expect(news(stage).last == "Ended copy :1.1")
      }
    }
  }

  // MARK: Limits

  @Test func `one sender has as many drags as it may, and not one more`() throws {
    let stage = Stage(hosting: cats()) { $0.drags = 2 }
    let first = try stage.dragging(.text())
    _ = try stage.dragging(.text())
    #expect(stage.begin(.text())?.refusal?.name == .limitsExceeded)
    #expect(stage.begin(.text(), by: .other)?.begun != nil)
    stage.call(.cancelDrag(first))
    stage.passUntilQuiet(seconds: 11)
    #expect(stage.begin(.text())?.begun != nil)
  }

  @Test func `a drag is charged for all it has, and a drop does not charge it twice`() throws {
    let large = Representation.data(Allowance.smallParcel + 1)
    let stage = Stage(hosting: cats()) { $0.baggage = 8 * Allowance.smallestBaggage }
    stage.begin(large)
    stage.baggagePacks([Int64(3 * Allowance.smallestBaggage)])
    let drag = try #require(stage.answer?.begun).drag
    #expect(stage.book.ledger.total(.baggage) >= 3 * Allowance.smallestBaggage)
    stage.add(large, to: drag)
    stage.baggagePacks([Int64(Allowance.smallestBaggage) / 2])
    #expect(stage.answer == .done)
    stage.add(large, to: drag)
    #expect(stage.baggage.packings.first.map { $0.rest < 5 * Allowance.smallestBaggage } == true)
    stage.baggagePacks([Int64(5 * Allowance.smallestBaggage)])
    #expect(stage.answer?.refusal?.name == .limitsExceeded)
    let other = Stage(hosting: cats()) { $0.baggage = 20 * Allowance.smallestBaggage }
    other.begin(large)
    other.baggagePacks([Int64(6 * Allowance.smallestBaggage)])
    let dropped = try #require(other.answer?.begun).drag
    #expect(other.drop(dropped, on: nil)?.delivered != nil)
  }

  @Test func `the document of a drag is charged as long as the drag has it`() throws {
    let stage = Stage(hosting: cats())
    var payload = stage.payload([])
    payload.items[0].activities[0].userInfo = ["much": .string(Text(String(repeating: "x", count: 1 << 20)))]
    let begun = stage.call(.beginDrag(payload, ticket: "t", outlivesSource: false, size: 1 << 20))
    let drag = try #require(begun?.begun).drag
    #expect(stage.book.ledger.total(.dragBytes) > 1 << 20 && stage.book.ledger.total(.baggage) == 0)
    stage.call(.cancelDrag(drag))
    #expect(stage.book.ledger.total(.dragBytes) == 0)
    #expect(stage.memory.drags[drag]?.payload.items.isEmpty == true)
  }

  @Test func `drags have in memory as much as there is for them, and not one more`() throws {
    let stage = Stage(hosting: cats()) { $0.dragBytes = 4_000 }
    func text(_ count: Int) -> Representation { .text(Text(String(repeating: "x", count: count))) }
    let drag = try stage.dragging(text(1_000))
    #expect(stage.add(text(2_000), to: drag)?.refusal?.name == .limitsExceeded)
    let rest = 1_900 - stage.book.ledger.total(.dragBytes)
    #expect(stage.add(text(rest), to: drag) == .done)
    #expect(stage.begin(.text(), by: .other)?.begun != nil)
  }

  // MARK: Deleting at the source

  @Test func `a source does not delete what a sandbox could not hand over`() throws {
    let stage = Stage(hosting: cats())
    let source = Caller.sandbox("org.example.Mail")
    let drag = try stage.dragging(.text(), .text(type: "org.example.undeclared"), by: source) {
      $0.allowedOperations = [.move]
    }
    stage.drop(drag, on: nil, "move", by: source)
    stage.hostAnswersAll()
    stage.call(.release(drag), by: .host)
    #expect(news(stage).last == "Ended copy :3.0")
    #expect(stage.book.viewOfDrag(drag, for: source)?.operation == "copy")
  }

  @Test func `a source does not delete what only a host had that has gone`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    let drag = try stage.dragging(.text()) { $0.allowedOperations = [.move] }
    stage.drop(drag, on: window, "move")
    stage.call(.release(drag), by: .host)
    stage.hostLeaves()
    stage.attach()
    stage.hostAnswersAll()
    #expect(news(stage).last == "Ended copy :1.1")
  }

  @Test func `a drag says how it ended, and nothing before`() throws {
    for operation in ["copy", "move"] as [Text] {
      let stage = Stage(hosting: cats())
      let drag = try stage.dragging(.text(), isScript: true) { $0.allowedOperations = [.copy, .move] }
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == "")
      stage.drop(drag, on: nil, operation, by: .other)
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == "")
      stage.hostAnswersAll()
      if operation == "move" { stage.call(.release(drag), by: .host) }
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == operation)
    }
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text(), isScript: true)
    stage.call(.cancelDrag(drag))
    #expect(stage.book.viewOfDrag(drag, for: .shell)?.operation == "cancel")
  }

  // MARK: Promises

  @Test func `a promise is asked of the connection that made it`() throws {
    for keeps in [false, true] {
      let stage = Stage(hosting: cats())
      let window = try stage.window()
      let drag = try stage.dragging(.promise("/first"), isScript: true) { $0.keepPromises = keeps }
      #expect(stage.add(.promise("/second"), to: drag, by: .other) == .done)
      stage.drop(drag, on: window)
      let promises = [
        Promise(source: ":1.1", path: "/first", item: 0, type: "image/jpeg"),
        Promise(source: ":1.2", path: "/second", item: 1, type: "image/jpeg"),
      ]
      if keeps {
        #expect(stage.baggage.packings.first?.orders.map(\.source) == promises.map { .promise($0) })
        stage.baggagePacks()
      } else {
        #expect(stage.shelf.baggage[drag]?.promises == promises)
      }
    }
  }

  @Test func `items that are refused end their promises, and leave those of the drag`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.promise("/a"))
    for path in ["/a", "/b"] as [Text] {
      stage.add(.promise(path), .descriptor(0), to: drag)
      stage.baggageFails()
    }
    #expect(stage.endedPromises == [["/b"]])
  }

  // MARK: Large numbers

  @Test func `a host has as many proposals as it may, and not one more`() throws {
    let stage = Stage(hosting: cats())
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
    let stage = Stage(hosting: cats())
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
    let stage = Stage(hosting: cats())
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
    // A drag that is longer alone than the limit is never proposed, and can still be dropped.
    #expect(stage.call(.addItems(items, to: drags[0], size: 100)) == .done)
    #expect(stage.call(.propose(drags[0], on: window))?.refusal?.name == .limitsExceeded)
    #expect(stage.drop(drags[0], on: window)?.delivered != nil)
  }

  @Test func `the drags of a source that leaves end in portions, and nobody drops one meanwhile`() throws {
    let stage = Stage(hosting: cats())
    let window = try stage.window()
    var drags: [UniqueIdentifier] = []
    for _ in 0..<10 {
      let drag = try stage.dragging(.text(), .promise())
      for number in 0..<400 { stage.open(drag, by: .shell(number)) }
      drags.append(drag)
    }
    func over() -> Int { drags.count { stage.book.viewOfDrag($0, for: .shell)?.state == "cancelled" } }
    var step = stage.play(.callerLeft(connection: Caller.shell.connection ?? .empty))
    #expect(step.listeners < Drag.partsAtOnce + 2 * 402)
    #expect(0 < over() && over() < 5)
    for drag in drags where stage.state(of: drag) == "dragging" {
      #expect(stage.drop(drag, on: window, by: .shell(1))?.refusal?.name == .requestDenied)
    }
    var steps = 0
    while let moment = step.callAgain, moment <= stage.now.uptime {
      step = stage.play(.moment)
      #expect(step.listeners < 2 * (Drag.partsAtOnce + 402))
      steps += 1
    }
    #expect(over() == 10 && steps > 1)
  }

  @Test func `drags whose time is over at the same moment end in portions`() throws {
    let stage = Stage(hosting: cats())
    for _ in 0..<10 {
      let drag = try stage.dragging(.text())
      for number in 0..<400 { stage.open(drag, by: .shell(number)) }
    }
    stage.pass(seconds: Drag.time + 1)
    var steps = 0
    while case let step = stage.play(.moment), step.listeners > 0 {
      #expect(step.listeners < 2 * (Drag.partsAtOnce + 402))
      steps += 1
    }
    #expect(steps > 2)
    #expect(stage.memory.drags.values.values.allSatisfy { $0.state == .cancelled })
  }

  @Test func `whoever has left no longer brings the ticket`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.text())
    for number in 0..<Allowance.dragOpeners {
      stage.open(drag, by: .shell(number))
      stage.callerLeaves(.shell(number))
    }
    #expect(stage.open(drag, by: Self.target) == .dragOpened(drag))
  }
}

extension Stage {
  /// Begins a drag of an activity with representations.
  @discardableResult
  func begin(
    _ representations: Representation..., by caller: Caller = .shell, isScript: Bool = false,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) -> CallAnswer? {
    begin(representations, by: caller, isScript: isScript, change)
  }

  private func begin(
    _ representations: [Representation], by caller: Caller, isScript: Bool, _ change: (inout PayloadOptions) -> Void
  ) -> CallAnswer? {
    let ticket = Text("ticket \(lastCall + 1)")
    let payload = payload(representations, nil, change)
    return call(.beginDrag(payload, ticket: ticket, outlivesSource: isScript, size: 100), by: caller)
  }

  /// A drag that has begun.
  func dragging(
    _ representations: Representation..., by caller: Caller = .shell, isScript: Bool = false,
    _ change: (inout PayloadOptions) -> Void = { _ in }
  ) throws -> UniqueIdentifier {
    _ = begin(representations, by: caller, isScript: isScript, change)
    let call = lastCall
    while !baggage.packings.isEmpty { baggagePacks() }
    return try #require(answers[call]?.begun).drag
  }

  /// A caller brings the ticket of a drag.
  @discardableResult
  func open(_ drag: UniqueIdentifier, by caller: Caller) -> CallAnswer? {
    call(.openDrag(ticket: memory.drags[drag]?.ticket ?? .empty), by: caller)
  }

  /// The source adds an item with representations.
  @discardableResult
  func add(
    _ representations: Representation..., to drag: UniqueIdentifier, by caller: Caller = .shell
  ) -> CallAnswer? {
    call(.addItems([Item(representations: representations)], to: drag, size: 1), by: caller)
  }

  /// - Parameter window: The session on which it is dropped; without it, the edge of the screen.
  @discardableResult
  func drop(
    _ drag: UniqueIdentifier, on window: UniqueIdentifier?, _ operation: Text = "copy", by caller: Caller = .shell
  ) -> CallAnswer? {
    call(.drop(drag, on: window, operation: operation), by: caller)
  }

  func state(of drag: UniqueIdentifier) -> Text? { book.viewOfDrag(drag, for: .shell)?.state }

  /// The session that took the drop, as the participants heard.
  func target(of drag: UniqueIdentifier) -> UniqueIdentifier? {
    sayings.compactMap { saying -> UniqueIdentifier? in
      if case .drag(drag, .ended(_, let target), _) = saying { target } else { nil }
    }.last
  }
}
