import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// How drags are dropped and end, and who hears of it.
@Suite struct DropOfDragTests {
  private static let noSession: Text = "org.stagedoor.Error.NoSuchSession"

  // MARK: Dropping

  @Test func `a drop makes a delivery of the drag's name, with all it carries`() throws {
    let (stage, window, drag) = try Stage.dragging(.descriptor(), .file(), .promise(), .text())
    stage.open(drag, by: .target)
    let count = stage.sayings.count
    stage.drop(drag, on: window, by: .target)
    #expect(stage.baggage.packings.first?.orders.map(\.number) == [1])
    #expect(stage.state(of: drag) == "dropped")
    stage.baggagePacks()
    let call = stage.lastCall
    let delivered = try #require(stage.answers[call]?.delivered)
    #expect(delivered.delivery == drag && delivered.session == window)
    let baggage = try #require(stage.shelf.baggage[drag]).items[0].map(\.parcel.content)
    #expect(baggage[0] == .held(0) && baggage[1] == .kept(1))
    #expect(baggage[2] == .promise(Promise(source: ":1.1", path: "/cat", item: 0, type: "image/jpeg")))
    #expect(stage.news(since: count) == ["drag State :1.1 :3.9"])
    let words = stage.said(since: count).map(\.word)
    #expect(words.first == "drag State" && words.last == "answer" && words.contains("Routed"), "\(words)")
    // A copy ends as soon as it was handled, and can still be opened.
    stage.hostAnswersAll()
    #expect(stage.news(since: count).dropFirst() == ["drag State :1.1 :3.9", "Ended copy :1.1"])
    #expect(stage.target(of: drag) == window)
    stage.open(delivered)
    stage.baggageOpens()
    #expect(stage.answer?.size == 100)
  }

  @Test func `a drag is dropped once, on the edge for a new session, and what is dropped is not cancelled`() throws {
    let stage = Stage(hosting: cats())
    let drag = try stage.dragging(.file())
    stage.drop(drag, on: nil)
    let first = stage.lastCall
    for ask in [
      .drop(drag, on: nil, operation: "copy"), .cancelDrag(drag), .propose(drag, on: nil),
      .addItems([], to: drag, size: 1),
    ] as [Ask] { #expect(stage.call(ask)?.refusal?.name == .requestDenied) }
    stage.baggagePacks()
    #expect(stage.answers[first]?.delivered?.outcome == "created")
    #expect(stage.drop(drag, on: nil)?.refusal?.name == .requestDenied)
    #expect(stage.shelf.deliveries.count == 1)
  }

  @Test func `an operation that is none, or that the source does not allow, is refused`() throws {
    let (stage, _, drag) = try Stage.dragging(.text())
    #expect(stage.drop(drag, on: nil, "link")?.refusal?.name == .invalidArgs)
    #expect(stage.drop(drag, on: nil, "move")?.refusal?.name == .requestDenied)
    let unknown = UniqueIdentifier(high: 1, low: 1)
    #expect(stage.drop(drag, on: unknown)?.refusal?.errorName == Self.noSession)
    #expect(stage.state(of: drag) == "dragging")
  }

  @Test func `a drop that is refused leaves the drag as it was, and it can be dropped again`() throws {
    let (stage, window, drag) = try Stage.dragging(.descriptor(), .file(), .file("b", type: "text/x-b"))
    // A file is missing.
    stage.drop(drag, on: window)
    stage.baggageFails()
    #expect(stage.answer?.refusal != nil)
    #expect(stage.state(of: drag) == "dragging")
    #expect(stage.parcels == [drag: [0]])
    stage.drop(drag, on: window)
    stage.turn(refused: true) { $0.baggagePacks() }
    #expect(stage.parcels == [drag: [0]] && stage.shelf.baggage.isEmpty)
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
    let (stage, window, drag) = try Stage.dragging(.text()) { $0.wait = .handled }
    stage.open(drag, by: .host)
    #expect(stage.drop(drag, on: window, by: .host)?.delivered != nil)
    stage.hostAnswersAll()
    let other = try stage.dragging(.text()) { $0.wait = .handled }
    #expect(stage.drop(other, on: window) == nil)
    stage.hostAnswersAll()
    #expect(stage.answer?.delivered != nil)
  }

  // MARK: Ending

  private static func moving() throws -> (stage: Stage, window: UniqueIdentifier, drag: UniqueIdentifier) {
    let (stage, window, drag) = try Stage.dragging(.text()) { $0.allowedOperations = [.move] }
    stage.drop(drag, on: window, "move")
    return (stage, window, drag)
  }

  @Test(arguments: [true, false])
  func `what is moved ends when its host has handled and released it, in either order`(isHandledFirst: Bool) throws {
    let (stage, window, drag) = try Self.moving()
    if isHandledFirst { stage.hostAnswersAll() }
    let count = stage.sayings.count
    #expect(stage.state(of: drag) == "dropped")
    stage.call(.release(drag), by: .host)
    if !isHandledFirst {
      #expect(stage.news(since: count) == [])
      stage.hostAnswersAll()
    }
    #expect(stage.news(since: count) == ["drag State :1.1", "Ended move :1.1"])
    #expect(stage.target(of: drag) == window)
  }

  @Test func `what is moved and carries nothing ends when it was handled`() throws {
    let (stage, _, drag) = try Stage.dragging() { $0.allowedOperations = [.move] }
    stage.drop(drag, on: nil, "move")
    stage.hostAnswersAll()
    #expect(stage.news().last == "Ended move :1.1")
  }

  @Test func `a source does not delete what no host has said that it has`() throws {
    for isDiscarded in [true, false] {
      let (stage, window, _) = try Self.moving()
      stage.hostAnswersAll()
      if isDiscarded {
        stage.call(.destroy(window, animation: "standard"))
      } else {
        stage.passUntilQuiet(seconds: 601)
      }
      #expect(stage.news().last == "Ended copy :1.1")
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
      #expect(stage.news(since: count) == ["drag State :1.1", "Ended cancel :1.1"])
      #expect(stage.target(of: drag) == nil)
    }
    #expect(stage.parcels.isEmpty)
  }

  @Test func `a drag is cancelled by its source, and freed once`() throws {
    let (stage, _, drag) = try Stage.dragging(.descriptor(), .promise("/a"))
    stage.open(drag, by: .target)
    let count = stage.sayings.count
    #expect(stage.call(.cancelDrag(drag)) == .done)
    #expect(stage.call(.cancelDrag(drag))?.refusal?.name == .requestDenied)
    #expect(stage.news(since: count) == ["drag State :1.1 :3.9", "Ended cancel :1.1"])
    #expect(stage.freed(drag) == 1 && stage.parcels.isEmpty)
    #expect(stage.endedPromises == [["/a"]])
    #expect(stage.book.ledger.total(.baggage) == 0)
    // The drag still tells how it ended, but cannot be opened any more, and is forgotten soon.
    #expect(stage.book.viewOfDrag(drag, for: .target)?.state == "cancelled")
    #expect(stage.open(drag, by: .other)?.refusal?.name == .unknownObject)
    stage.passUntilQuiet(seconds: 11)
    #expect(stage.memory.drags.isEmpty && stage.memory.tickets.isEmpty)
    #expect(stage.book.ledger.accountCount == 0)
  }

  @Test(arguments: [Caller.shell, .sandbox("org.example.Mail")])
  func `a source that leaves cancels its drag, also while that begins, in a sandbox or outside`(source: Caller) throws {
    let (stage, _, drag) = try Stage.dragging(.descriptor(), by: source)
    stage.callerLeaves(source)
    #expect(stage.book.viewOfDrag(drag, for: source)?.state == "cancelled" && stage.parcels.isEmpty)
    #expect(stage.book.ledger.total(.baggage) == 0)
    let other = Stage(hosting: cats())
    other.begin(.descriptor(), by: source)
    other.callerLeaves(source)
    #expect(other.memory.drags.isEmpty && other.parcels.isEmpty)
    #expect(other.book.ledger.accountCount == 0)
    // A later report of the baggage store changes nothing.
    other.baggageFails(InterchangeError(.cancelled, "nobody waits for it"))
    #expect(other.memory.drags.isEmpty && other.parcels.isEmpty)
  }

  @Test func `the drag of a script outlives its connections, and any of them goes on with it`() throws {
    let (stage, _, drag) = try Stage.dragging(.descriptor(), by: .shell(1), isScript: true)
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
    let (stage, _, drag) = try Stage.dragging(.descriptor())
    let long = try stage.dragging(.text()) { $0.statedDeadline = 400 }
    stage.passUntilQuiet(seconds: 299)
    #expect(stage.state(of: drag) == "dragging")
    stage.passUntilQuiet(seconds: 1)
    #expect(stage.state(of: drag) == "cancelled" && stage.parcels.isEmpty)
    #expect(stage.news().last == "Ended cancel :1.1")
    #expect(stage.state(of: long) == "dragging")
    stage.passUntilQuiet(seconds: 101)
    #expect(stage.state(of: long) == "cancelled")
  }

  @Test(arguments: [true, false], [true, false])
  func `a source's departure and a deadline wait for a drop that is packed`(isDeadline: Bool, isRefused: Bool) throws {
    let (stage, _, drag) = try Stage.dragging(.descriptor(), .file())
    stage.open(drag, by: .target)
    stage.drop(drag, on: nil, by: .target)
    if isDeadline { stage.passUntilQuiet(seconds: 301) } else { stage.callerLeaves(.shell) }
    if isRefused {
      stage.baggageFails()
      if isDeadline { stage.passUntilQuiet(seconds: 0) }
      #expect(stage.answer?.refusal != nil)
      #expect(stage.book.viewOfDrag(drag, for: .target)?.state == "cancelled" && stage.parcels.isEmpty)
    } else {
      stage.baggagePacks()
      #expect(stage.answer?.delivered != nil)
      stage.hostAnswersAll()
      #expect(stage.news().last == "Ended copy :1.1")
    }
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
    #expect(stage.news().last == "Ended copy :3.0")
    #expect(stage.book.viewOfDrag(drag, for: source)?.operation == "copy")
  }

  @Test func `a source does not delete what only a host had that has gone`() throws {
    let (stage, _, drag) = try Self.moving()
    stage.call(.release(drag), by: .host)
    stage.hostLeaves()
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.news().last == "Ended copy :1.1")
  }

  @Test func `a drag says how it ended, and nothing before`() throws {
    for operation in ["copy", "move"] as [Text] {
      let (stage, _, drag) = try Stage.dragging(.text(), isScript: true) { $0.allowedOperations = [.copy, .move] }
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == "")
      stage.drop(drag, on: nil, operation, by: .other)
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == "")
      stage.hostAnswersAll()
      if operation == "move" { stage.call(.release(drag), by: .host) }
      #expect(stage.book.viewOfDrag(drag, for: .other)?.operation == operation)
    }
    let (stage, _, drag) = try Stage.dragging(.text(), isScript: true)
    stage.call(.cancelDrag(drag))
    #expect(stage.book.viewOfDrag(drag, for: .shell)?.operation == "cancel")
  }

  // MARK: Promises

  @Test func `a promise is asked of the connection that made it`() throws {
    for keeps in [false, true] {
      let (stage, window, drag) = try Stage.dragging(.promise("/first"), isScript: true) { $0.keepPromises = keeps }
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
    let (stage, _, drag) = try Stage.dragging(.promise("/a"))
    for path in ["/a", "/b"] as [Text] {
      stage.add(.promise(path), .descriptor(0), to: drag)
      stage.baggageFails()
    }
    #expect(stage.endedPromises == [["/b"]])
  }
}
