import SceneModel
import Testing
import Theatre

@testable import InterchangeCore

/// How much the contents of deliveries may take, and which contents make space for others.
@Suite struct BaggageLimitTests {
  private let stage = small(4)

  private static func small(_ count: Int) -> Stage {
    Stage(hosting: cats()) { $0.baggage = count * Allowance.smallestBaggage }
  }

  @Test func `one sender takes half of what there is, and not one more`() throws {
    stage.hostLeaves()
    for key in ["1", "2"] as [Text] { #expect(stage.drop(.text(), key: key)?.delivered != nil) }
    let refusal = stage.drop(.text(), key: "3")?.refusal
    #expect(refusal?.name == .limitsExceeded)
    // Another sender takes half of the rest.
    #expect(stage.drop(.text(), key: "3", by: .other)?.delivered != nil)
    #expect(stage.drop(.text(), key: "4", by: .other)?.refusal?.name == .limitsExceeded)
    #expect(stage.shelf.baggage.count == 3)
  }

  @Test func `what was handled makes space, the oldest first`() throws {
    let first = try stage.handled(.descriptor(), key: "1")
    let second = try stage.handled(.descriptor(), key: "2")
    let third = try stage.handled(.text(), key: "3")
    #expect(stage.freed(first.delivery) == 1 && stage.freed(second.delivery) == 0)
    #expect(Set(stage.shelf.baggage.keys) == [second.delivery, third.delivery])
    // Another sender frees none of these contents.
    _ = try stage.handled(.text(), key: "4", by: .other)
    #expect(stage.drop(.text(), key: "5", by: .other)?.delivered != nil)
    #expect(stage.shelf.baggage[second.delivery] != nil && stage.shelf.baggage[third.delivery] != nil)
  }

  @Test func `two calls in one turn push out no more than they need`() throws {
    let stage = Self.small(8)
    let handled = try ["1", "2", "3", "4"].map { try stage.handled(.text(), key: $0) }
    stage.turn { stage in
      stage.drop(.text(), key: "5")
      stage.drop(.text(), key: "6")
    }
    #expect(handled.map { stage.shelf.baggage[$0.delivery] != nil } == [false, false, true, true])
  }

  @Test func `a call that is refused all the same pushes nothing out`() throws {
    let first = try stage.handled(.descriptor(), key: "1")
    stage.drop(.file(), key: "2")
    stage.baggagePacks([Int64(5 * Allowance.smallestBaggage)])
    #expect(stage.answer?.refusal?.name == .limitsExceeded)
    #expect(stage.parcels == [first.delivery: [0]])
    #expect(stage.shelf.baggage[first.delivery] != nil)
  }

  @Test func `the baggage store is told how much it may take, with what would make space`() throws {
    let stage = Self.small(8)
    _ = try stage.handled(.text(), key: "1")
    stage.drop(.file(), key: "2")
    #expect(stage.baggage.packings.first?.rest == 4 * Allowance.smallestBaggage)
    stage.baggagePacks([Int64(4 * Allowance.smallestBaggage)])
    #expect(stage.answer?.delivered != nil)
    stage.drop(.descriptor(), key: "3", by: .other)
    #expect(stage.baggage.packings.first?.rest == 2 * Allowance.smallestBaggage)
  }

  @Test func `calls that copy at the same time share their sender's space, and leave half of the places`() throws {
    let stage = Stage(cats())
    let most = Allowance.copyingCalls / 2
    for number in 0..<most { #expect(stage.drop(.file(), key: Text("\(number)")) == nil) }
    #expect(stage.drop(.file(), key: "more")?.refusal?.name == .limitsExceeded)
    // What is not copied needs no place.
    #expect(stage.drop(.text(), key: "more")?.delivered != nil)
    #expect(stage.drop(.file(), key: "other", by: .other) == nil)
    let shares = stage.baggage.packings.prefix(most).map(\.rest)
    #expect(shares.prefix(3) == [shares[0], shares[0] / 4, shares[0] / 9])
    #expect(shares.reduce(0, +) < 2 * shares[0])
    #expect(stage.baggage.packings.last?.rest ?? 0 > shares[0] / 2)
    for _ in 0..<2 { stage.baggagePacks([10]) }
    #expect(stage.drop(.file(), key: "more") == nil)
  }

  @Test func `what a connection handed in that has left is charged on, until it goes`() throws {
    let delivered = try stage.handled(.text(), key: "1")
    stage.callerLeaves(.shell)
    #expect(stage.book.ledger.taken(.baggage, by: .departed) == Allowance.smallestBaggage)
    stage.call(.release(delivered.delivery), by: .host)
    #expect(stage.book.ledger.total(.baggage) == 0)
  }

  @Test func `what is packed when its sender leaves is charged to those that have left, and not awaited`() throws {
    #expect(stage.drop(.file(), key: "1") { $0.wait = .handled } == nil)
    stage.callerLeaves(.shell)
    stage.baggagePacks([10])
    #expect(stage.answer?.delivered != nil)
    #expect(stage.book.ledger.taken(.baggage, by: .departed) == Allowance.smallestBaggage)
    #expect(stage.book.ledger.taken(.waiting, by: .departed) == Allowance.smallestDelivery)
    #expect(stage.book.ledger.total(.calls) == 0)
    stage.checkItself()
  }

  @Test func `a descriptor counts as one, and its bytes as nothing`() throws {
    let stage = Stage(cats()) { ($0.baggage, $0.descriptors) = (100 * Allowance.smallestBaggage, 4) }
    for key in ["1", "2"] as [Text] {
      stage.drop(.descriptor(), key: key)
      stage.baggagePacks([1 << 50])
      #expect(stage.answer?.delivered != nil)
    }
    #expect(stage.book.ledger.total(.baggage) == 2 * Allowance.smallestBaggage)
    stage.drop(.descriptor(), key: "3")
    stage.baggagePacks()
    #expect(stage.answer?.refusal?.name == .limitsExceeded && stage.parcels.count == 2)
    let third = try stage.packed(.descriptor(), key: "3", by: .other)
    stage.restart(cats())
    #expect(stage.book.ledger.total(.descriptors) == 0)
    stage.attach()
    stage.hostAnswersAll()
    #expect(stage.open(third)?.refusal?.name == .sourceGone)
  }

  @Test func `each content in a file of its own is charged as a block`() throws {
    let stage = Stage(cats())
    let promises = (0..<100).map { Representation.promise(Text("/\($0)"), type: Text("image/x-\($0)")) }
    stage.call(.deliver(stage.payload(promises) { $0.keepPromises = true }, digest: "digest", size: 100))
    stage.baggagePacks((0..<100).map { _ in 4 })
    #expect(stage.answer?.delivered != nil)
    #expect(stage.book.ledger.total(.baggage) == 100 * Parcel.smallestFile)
    // Beside the delivery they take no file.
    stage.drop(.text("a"), .text("b", type: "text/html"), by: .other)
    #expect(stage.book.ledger.total(.baggage) == 100 * Parcel.smallestFile + Allowance.smallestBaggage)
  }

  @Test func `a delivery that is redirected makes no space while it is on its way`() throws {
    let first = try stage.handled(.text(), key: "1")
    let second = try stage.handled(.text(), key: "2")
    stage.call(.redirect(first.delivery, to: second.session))
    stage.drop(.text(), key: "3")
    #expect(stage.shelf.baggage[first.delivery] != nil && stage.shelf.baggage[second.delivery] == nil)
  }
}
