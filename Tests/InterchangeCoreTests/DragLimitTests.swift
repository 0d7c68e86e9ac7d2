import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// How much drags may take, and drags that end in great numbers.
@Suite struct DragLimitTests {
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
    let stage = Stage(hosting: cats()) { $0.dragBytes = 40_000 }
    func text(_ count: Int) -> Representation { .text(Text(String(repeating: "x", count: count))) }
    let drag = try stage.dragging(text(10_000))
    #expect(stage.add(text(20_000), to: drag)?.refusal?.name == .limitsExceeded)
    let rest = 19_000 - stage.book.ledger.total(.dragBytes)
    #expect(stage.add(text(rest), to: drag) == .done)
    #expect(stage.begin(.text(), by: .other)?.begun != nil)
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

  @Test func `the drag of a script that has left is charged to those that have left when it is dropped`() throws {
    let (stage, _, drag) = try Stage.dragging(.file(), isScript: true)
    stage.callerLeaves(.shell)
    stage.hostLeaves()
    #expect(stage.drop(drag, on: nil, by: .other) == nil)
    stage.baggagePacks([10])
    #expect(stage.answer?.delivered != nil)
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == Allowance.smallestDelivery)
    #expect(stage.book.ledger.taken(.baggage, by: .departed) == Allowance.smallestBaggage)
    stage.checkItself()
  }
}
