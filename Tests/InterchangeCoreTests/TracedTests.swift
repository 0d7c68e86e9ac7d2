import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// Faults that were found by following an input to its end.
@Suite struct TracedTests {
  @Test(arguments: [0, 70_000], [false, true])
  func `a command gets the token of the last delivery, whatever that carries`(length: Int, isCarrying: Bool) {
    let stage = Stage(cats(exec: "cats"))
    var payload = stage.payload(isCarrying ? [.text()] : [], "1") { $0.activationToken = "now" }
    payload.items[0].activities[0].userInfo["x"] = Value.string(Text(String(repeating: "x", count: length)))
    stage.call(.deliver(payload, digest: .empty, size: 100))
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    #expect(
      stage.errands.last == .run(application: "org.example.Cats", number: 1, command: "cats", activationToken: "now"))
  }

  @Test func `what a command left behind has twenty seconds, also if the delivery is cancelled`() throws {
    let stage = Stage(cats(exec: "cats"))
    let first = try #require(stage.drop(key: "1")?.delivered)
    stage.play(.launch(application: "org.example.Cats", number: 1, .unknown))
    stage.play(.launch(application: "org.example.Cats", number: 1, .commandEnded(failure: nil)))
    stage.call(.cancel(first.delivery))
    stage.pass(seconds: 19)
    stage.drop(key: "2")
    #expect(!stage.errands.contains(.launch(application: "org.example.Cats", number: 2, name: "org.example.Cats")))
    stage.pass(seconds: 2)
    stage.drop(key: "3")
    #expect(stage.errands.last == .launch(application: "org.example.Cats", number: 2, name: "org.example.Cats"))
  }

  @Test func `a stored payload stays one when two of its types have become one`() throws {
    // The database of types may have learnt since that these are one.
    let item = Item(representations: [.text(type: "image/png"), .text(type: "public.png")])
    let document = Payload(items: [item]).json
    #expect(throws: Never.self) { try Payload(json: document, ReadingRules(storedIn: Stage.types)) }
    #expect(throws: Fault.self) { try Payload(json: document, ReadingRules(types: Stage.types)) }
  }

  @Test func `nobody hears why a private document cannot be read`() throws {
    let stage = Stage(cats())
    let delivered = try #require(stage.drop(key: "1") { $0.isPrivate = true }?.delivered)
    stage.rest()
    var stored = try #require(stage.shelf.deliveries[delivered.delivery])
    stored.payload = "{\"items\": \"s3cr3t\"}"
    stage.alterStore(.delivery(stored))
    stage.attach()
    let progress = stage.progress(of: delivered.delivery)
    #expect(progress?.error?.message == "what was delivered cannot be read")
  }

  @Test func `an object that made promises for several drags hears of their end once`() throws {
    let (stage, window, first) = try Stage.dragging(.promise())
    let second = try stage.dragging(.promise())
    stage.call(.cancelDrag(second))
    #expect(stage.endedPromises == [])
    // Also from a call whose contents are being packed.
    #expect(stage.drop(.file(), .promise(), key: "2") == nil)
    stage.call(.cancelDrag(first))
    #expect(stage.endedPromises == [])
    stage.baggageFails()
    #expect(stage.endedPromises == [["/cat"]])
    _ = window
    stage.checkItself()
  }

  @Test func `drags count at least four kibibytes, and those of one connection are found when it leaves`() throws {
    let stage = Stage(hosting: cats()) { $0.dragBytes = 8 * Allowance.smallestDrag }
    for number in 0..<4 {
      #expect(stage.begin(by: .shell(number), isScript: true)?.begun != nil)
      stage.callerLeaves(.shell(number))
    }
    #expect(stage.book.ledger.taken(.dragBytes, by: .departed) == 4 * Allowance.smallestDrag)
    let last = try #require(stage.begin(by: .shell(5))?.begun?.drag)
    stage.open(last, by: .other)
    #expect(stage.book.matters(":2.5") && stage.book.matters(":1.2"))
    stage.callerLeaves(.shell(5))
    #expect(stage.book.viewOfDrag(last, for: .other)?.state == "cancelled")
    #expect(!stage.book.matters(":1.2"))
    stage.checkItself()
  }

  @Test func `a drop that is refused again and again makes no appointment more`() throws {
    let (stage, window, drag) = try Stage.dragging(.file())
    let noted = stage.memory.noted
    for _ in 0..<10 {
      #expect(stage.drop(drag, on: window) == nil)
      stage.baggageFails()
      #expect(stage.answer?.refusal != nil)
    }
    #expect(stage.memory.noted == noted)
    stage.passUntilQuiet(seconds: Drag.time + 1)
    #expect(stage.state(of: drag) == "cancelled")
  }

  @Test func `a drag that was accepted can be dropped, whatever others have begun since`() throws {
    let stage = Stage(hosting: cats()) { $0.dragBytes = 16 * Allowance.smallestDrag }
    let drags = try (0..<7).map { _ in try stage.dragging(.text()) }
    for _ in 0..<4 { #expect(stage.begin(.text(), by: .other)?.begun != nil) }
    #expect(stage.drop(drags[0], on: nil)?.delivered != nil)
    stage.checkItself()
  }

  @Test func `a host that attaches again keeps what it has in hand`() throws {
    let stage = Stage(hosting: cats())
    let owed = try stage.window("1")
    let delivered = try #require(stage.drop(key: "2")?.delivered)
    stage.call(.destroy(owed, animation: "standard"))
    stage.attach(hearsDiscards: false)
    #expect(stage.call(.cancel(delivered.delivery))?.refusal?.name == .requestDenied)
  }

  @Test func `the error of a call from before a host attached again refuses nothing`() throws {
    let stage = Stage(hosting: cats())
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    stage.attach()
    stage.hostAnswers(.refused("NoReply"))
    #expect(stage.progress(of: delivered.delivery)?.isOpen == true)
    #expect(stage.progress(of: delivered.delivery)?.attempt == 2)
    // Its own error counts.
    stage.hostAnswers(.refused("no"))
    #expect(stage.progress(of: delivered.delivery)?.state == .failed)
    stage.checkItself()
  }

  @Test func `what was redirected since is not taken out of hand by that error`() throws {
    let stage = Stage(hosting: cats())
    let windows = [try stage.window("1"), try stage.window("2")]
    let delivered = try #require(stage.call(.deliver(stage.payload([.text()]), digest: .empty, size: 10))?.delivered)
    stage.attach(showing: windows)
    #expect(stage.call(.redirect(delivered.delivery, to: windows[1]))?.refusal == nil)
    stage.hostAnswers(.refused("NoReply"))
    #expect(stage.progress(of: delivered.delivery)?.state == .routed)
    stage.hostAnswers(.done)
    #expect(stage.progress(of: delivered.delivery)?.state == .handled)
    #expect(stage.progress(of: delivered.delivery)?.attempt == 2)
    stage.checkItself()
  }

  @Test func `a host that attached again hears of discarded sessions although its earlier run let the call go`() throws
  {
    let stage = Stage(hosting: cats())
    let gone = try stage.window("1")
    stage.call(.destroy(gone, animation: "standard"))
    stage.hostAnswers(.done)
    #expect(stage.asked.map(\.question) == [.discarded([gone])])
    stage.attach(hearsDiscards: false)
    stage.hostAnswers(.refused("NoReply"))
    #expect(stage.asked.map(\.question) == [.discarded([gone])])
    // Its own error counts: it has heard.
    stage.hostAnswers(.refused("no"))
    #expect(stage.asked.isEmpty && !stage.book.owes(gone, to: "org.example.Cats"))
    stage.checkItself()
  }

  @Test func `a sandboxed caller that leaves while its contents are packed waits for nothing`() throws {
    let (stage, caller) = (Stage(hosting: cats()), Caller.sandbox("org.example.Dogs", 1))
    #expect(stage.drop(.descriptor(), key: "1", by: caller) { $0.wait = .handled } == nil)
    #expect(stage.book.matters(":3.1"))
    stage.callerLeaves(caller)
    stage.baggagePacks([10])
    #expect(stage.answer?.delivered != nil)
    #expect(stage.book.ledger.total(.calls) == 0)
  }

  @Test func `a host is told the operation of the drop that was stored, and not of one that was refused`() throws {
    let (stage, _, drag) = try Stage.dragging(.text()) { $0.allowedOperations = [.copy, .move] }
    _ = stage.turn(refused: true) { $0.drop(drag, on: nil, "move") }
    stage.hostLeaves()
    #expect(stage.drop(drag, on: nil, "copy")?.delivered != nil)
    stage.attach()
    let options = stage.asked.compactMap(\.question.options)
    #expect(options.map { $0.string.contains(#""operation":"copy""#) } == [true])
  }

  @Test func `a sender sees its own parts again when what it sent is redirected`() throws {
    let stage = Stage(hosting: cats())
    let target = try stage.window("2")
    let delivered = try stage.handled(.text("mine", .ownProcess), by: .host)
    #expect(stage.call(.redirect(delivered.delivery, to: target), by: .host)?.refusal == nil)
    #expect(try #require(stage.asked.last?.question.options).string.contains("text/plain"))
  }

  @Test func `of handled deliveries with long documents the oldest lose theirs when there are too many`() throws {
    let stage = Stage(hosting: cats()) { $0.handledDocuments = 200_000 }
    let window = try stage.window("1")
    func send(_ number: Int, deadline: Double = 3600) throws -> UniqueIdentifier {
      var payload = stage.activity("view", "1") { $0.statedDeadline = deadline }
      payload.items[0].activities[0].userInfo["x"] = Value.string(Text(String(repeating: "x", count: 30_000 + number)))
      let delivered = try #require(stage.call(.deliver(payload, digest: .empty, size: 100))?.delivered)
      stage.hostAnswersAll()
      return delivered.delivery
    }
    // Documents that are gone already take no space, also where an older one stays.
    let patient = try send(9)
    for number in 0..<9 {
      _ = try send(number, deadline: 1)
      stage.pass(seconds: 2)
    }
    #expect(stage.shelf.deliveries[patient]?.isSpent(at: stage.now.time) == false)
    let all = try (0..<5).map { try send($0) }
    stage.pass(seconds: 1)
    stage.rest()
    #expect(all.map { stage.shelf.deliveries[$0]?.isSpent(at: stage.now.time) } == [true, true, false, false, false])
    #expect(stage.call(.redirect(all[0], to: window))?.refusal?.name == .requestDenied)
    #expect(stage.call(.redirect(all[4], to: window))?.refusal == nil)
    stage.checkItself()
  }
}
