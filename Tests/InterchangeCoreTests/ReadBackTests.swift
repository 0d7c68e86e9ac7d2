import DamagedStores
import SceneModel
import Testing

@testable import InterchangeCore

/// The data of the store is older than the turn: if the core reads in the middle of a turn, it does not take the result as news.
@Suite struct ReadBackTests {
  /// A payload that is not remembered beyond its turn.
  private func long(_ stage: Stage, _ key: Text, _ change: (inout PayloadOptions) -> Void = { _ in }) -> Payload {
    var payload = stage.activity("view", key, change)
    payload.items[0].activities[0].userInfo = ["much": .string(Text(String(repeating: "x", count: 70_000)))]
    return payload
  }

  @Test(arguments: [false, true])
  func `a token finds the delivery that was handled in the same turn, stored or refused`(isRefused: Bool) throws {
    let stage = Stage(hosting: cats())
    let payload = long(stage, "1") { ($0.token, $0.wait) = ("once", .handled) }
    stage.call(.deliver(payload, digest: "d", size: 70_000))
    let errand = stage.asked[0].errand
    stage.turn(refused: isRefused) { stage in
      stage.play(.hostAnswered(errand, .done))
      stage.call(.deliver(payload, digest: "d", size: 70_000))
    }
    let delivery = stage.shelf.deliveryOrder[0]
    let remembered = stage.book.recentDelivery(delivery)
    if isRefused {
      #expect(remembered == nil || remembered == stage.shelf.deliveries[delivery])
    } else {
      #expect(remembered?.progress.state ?? .handled == .handled)
      #expect(stage.answer?.delivered?.delivery == delivery)
      #expect(stage.memory.waiters.isEmpty, "nobody waits for ever")
    }
  }

  @Test func `a drop on a session that must be read does what it does on one that is remembered`() throws {
    let steps = [false, true].map { isForgotten in
      let stage = Stage(cats())
      for key in ["1", "2"] as [Text] { stage.drop(key: key) { $0.disposition = .new } }
      if isForgotten { stage.rest() }
      stage.drop(key: "1")
      return stage.lastStep
    }
    #expect("\(steps[0])" == "\(steps[1])")
    #expect(steps[0].records.count == 3)
  }

  @Test func `a session that was activated stays activated when its host says something in the same turn`() throws {
    let stage = Stage(cats())
    let session = try #require(stage.drop(key: "1")?.delivered?.session)
    stage.restart(cats())
    stage.pass(seconds: 5)
    stage.turn { stage in
      stage.activate(session)
      stage.call(.write(session, .title("Cat")))
    }
    #expect(stage.shelf.sessions[session]?.title == "Cat")
    #expect(stage.shelf.sessions[session]?.lastActivated == stage.now.time)
  }

  @Test func `a follower whose predecessor failed in the same turn puts back what stood before both`() throws {
    let stage = Stage(hosting: cats())
    let session = try stage.window("1")
    for key in ["2", "3"] as [Text] {
      stage.call(.deliver(long(stage, key) { $0.session = Text("\(session)") }, digest: "", size: 70_000))
    }
    let errand = stage.asked[0].errand
    stage.turn { stage in
      stage.play(.hostAnswered(errand, .refused("no")))
      stage.hostLeaves()
      stage.call(.cancel(stage.shelf.deliveryOrder[2]))
    }
    #expect(stage.answer == .done)
    #expect(stage.shelf.sessions[session]?.userActivity?.key == "1")
  }

  @Test func `orphans that the store still has are not the last`() throws {
    let stage = Stage(cats(configurations: ["Default", "Other"]))
    let count = PromptBook.orphansAtOnce + 44
    for key in 0..<count { stage.drop(key: Text("\(key)")) { $0.configuration = "Other" } }
    #expect(stage.sessions().count == count)
    stage.turn { stage in
      stage.call(.register(cats(), size: 100))
      stage.play(.moment)
    }
    while let moment = stage.lastStep.callAgain, moment <= stage.now.uptime, !stage.memory.orphaned.isEmpty {
      stage.play(.moment)
    }
    #expect(stage.sessions().isEmpty)
    #expect(stage.memory.sessionCounts["org.example.Cats"] == nil)
  }

  @Test func `a session whose configuration comes back before it was discarded is found again`() throws {
    let stage = Stage(cats(configurations: ["Default", "Other"]))
    let session = try #require(stage.drop(key: "1") { $0.configuration = "Other" }?.delivered?.session)
    stage.restart(cats())
    #expect(stage.drop(key: "2", to: session)?.refusal?.name != nil)
    stage.play(.declared(cats(configurations: ["Default", "Other"])))
    #expect(stage.drop(key: "2", to: session)?.delivered?.session == session)
  }

  @Test func `of applications without sessions nothing is read`() throws {
    let stage = Stage()
    let pictures = (0..<40).map { number in
      cats(Text("org.example.A\(number)")) { $0.contentTypes = [ContentType("image/png")].compactMap(\.self) }
    }
    for manifest in pictures { stage.call(.register(manifest, size: 100)) }
    #expect(
      stage.call(
        .deliver(Payload(items: [Item(representations: [.text("x", type: "image/png")])]), digest: "", size: 100))?
        .delivered != nil)
    #expect(stage.restarts == 0)
  }

  @Test func `a session that was kept out of routing by a manifest that was not stored is found again`() throws {
    let whole = cats(configurations: ["Default", "Other"], isDynamic: true)
    let stage = Stage(whole)
    let session = try #require(stage.drop(key: "1") { $0.configuration = "Other" }?.delivered?.session)
    stage.drop(key: "2")
    stage.restart()
    stage.turn(refused: true) { stage in
      stage.call(.register(cats(isDynamic: true), size: 100))
      // All sessions are read.
      stage.drop("view") { $0.disposition = .existing }
    }
    stage.play(.moment)
    stage.call(.register(whole, size: 100))
    #expect(stage.drop(key: "1")?.delivered?.session == session)
  }

  @Test func `a delivery whose session the store has lost fails, and is not read again and again`() throws {
    let stage = Stage(cats())
    let delivered = try #require(stage.drop(key: "1")?.delivered)
    stage.alterStore(.sessionDiscarded(delivered.session))
    stage.restart(cats())
    stage.attach()
    #expect(stage.progress(of: delivered.delivery)?.state == .failed)
  }
}

/// Whole stores with numbers that no service would write. A trap ends the tests.
@Suite(.serialized) struct DamagedStoreTests {
  private static let numbers: [Int64] = [.min, -1, 1 << 40, 1 << 62, .max]

  @Test(arguments: DamagedStore.numbers)
  func `whatever number stands in a column, a service starts and works`(column: String) throws {
    let store = DamagedStore(in: "/tmp")
    for number in Self.numbers {
      try store.fill()
      try store.set(column, to: number)
      // A ledger that does not add up is set aside, and the service begins a new store.
      #expect(store.use(), "\(column) = \(number)")
    }
  }

  @Test func `whatever number stands in an entry of the log, a service starts and works`() throws {
    let store = DamagedStore(in: "/tmp")
    // An integer in an entry is a byte 1 and up to ten bytes, of which all but the last have the highest bit.
    for length in 2...9 {
      for place in 20..<220 where place % 5 == length % 5 {
        try store.fill()
        try store.change(
          "UPDATE log SET body = CAST(substr(body, 1, \(place)) || x'01\(String(repeating: "FF", count: length - 1))7F' "
            + "|| substr(body, \(place + length + 2)) AS BLOB) WHERE length(body) > \(place + length + 2)")
        #expect(store.use(), "\(length) bytes at \(place)")
      }
    }
  }
}
