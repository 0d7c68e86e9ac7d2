import SceneModel
import Testing

@testable import InterchangeCore

/// Several items in one call, and tokens.
@Suite struct BatchTests {
  private let stage = Stage(cats())

  private func batch(_ keys: [Text], _ mode: PayloadOptions.Batch = .allOrNothing, token: Text? = nil) -> Ask {
    var payload = Payload(
      items: keys.map {
        Item(activities: [UserActivity(activityType: $0 == "?" ? "unknown" : "view", targetContentIdentifier: $0)])
      })
    (payload.options.batch, payload.options.token) = (mode, token)
    return .deliverEach(payload, digest: Text("each \(keys.map(\.string))"), size: 100)
  }

  @Test func `each item sees what those before it did`() throws {
    let items = try #require(stage.call(batch(["1", "2", "1"]))?.items)
    let delivered = items.compactMap(\.delivered)
    #expect(delivered.map(\.outcome) == ["created", "created", "activated"])
    #expect(delivered[0].session == delivered[2].session)
    #expect(stage.sessions().count == 2)
  }

  @Test func `one that is refused refuses all, or is passed by`() {
    let refusal = stage.call(batch(["1", "?", "2"]))?.refusal
    #expect(refusal?.message.hasPrefix("items[1]: ") == true)
    #expect(stage.shelf.sessions.isEmpty)
    #expect(stage.shelf.deliveries.isEmpty)
    #expect(stage.book.ledger.total(.waiting) == 0)
    let items = stage.call(batch(["1", "?", "2"], .bestEffort))?.items ?? []
    #expect(items.map { $0.delivered != nil } == [true, false, true])
    #expect(stage.sessions().count == 2)
  }

  @Test func `items for which there is no space are refused by themselves, and those before them are taken`() throws {
    let stage = Stage(cats()) { $0.waiting = 6 * Allowance.smallestDelivery }
    let words = Array(repeating: "1", count: 5) as [Text]
    let before = stage.call(batch(words))?.refusal
    #expect(before?.name == .limitsExceeded)
    #expect(stage.shelf.deliveries.isEmpty)
    let items = try #require(stage.call(batch(words, .bestEffort))?.items)
    #expect(items.map(\.refusal?.name) == [nil, nil, nil, .limitsExceeded, .limitsExceeded])
    #expect(items[4].refusal == before)
    #expect(stage.shelf.deliveries.count == 3)
    #expect(stage.sessions().count == 1)
  }

  @Test func `the same token gets the same answer, in the same turn and later`() {
    stage.turn { stage in
      for _ in 0..<2 { stage.call(batch(["1", "?"], .bestEffort, token: "once")) }
    }
    #expect(stage.answers[1] == stage.answers[2])
    #expect(stage.call(batch(["1", "?"], .bestEffort, token: "once")) == stage.answers[1])
    #expect(stage.shelf.deliveries.count == 1)
    #expect(stage.call(batch(["1"], .bestEffort, token: "once"))?.refusal?.name == .invalidPayload)
    let refusal = stage.drop(key: "1") { $0.token = "once" }?.refusal
    #expect(refusal?.name == .invalidPayload)
    #expect(
      refusal?.message
        == "options.token: expected the same call and document as before under \"once\", activation token included, got another: use a new token"
    )
    stage.restart(cats())
    #expect(stage.call(batch(["1", "?"], .bestEffort, token: "once")) == stage.answers[1])
  }

  @Test func `a token after a redirect answers as before it`() throws {
    let other = try #require(stage.drop(key: "2")?.delivered?.session)
    let first = try #require(stage.drop(key: "1") { $0.token = "once" }?.delivered)
    #expect(stage.call(.redirect(first.delivery, to: other)) == .outcome("activated"))
    #expect(stage.drop(key: "1") { $0.token = "once" }?.delivered == first)
  }

  @Test func `tokens of sandboxes are their own`() {
    let first = stage.drop(key: "1") { $0.token = "once" }?.delivered
    let other = stage.drop(key: "1", by: .sandbox("org.example.Dogs")) { $0.token = "once" }?.delivered
    #expect(first?.delivery != other?.delivery)
    #expect(stage.drop(key: "1", by: .other) { $0.token = "once" }?.delivered == first)
  }

  @Test func `what many items lack is read in a few rounds`() {
    let stage = Stage()
    let manifests = (0..<100).map { number in
      cats(Text("org.example.App\(number)")) { $0.activityTypes = [Text("view\(number)")] }
    }
    for manifest in manifests { stage.call(.register(manifest, size: 1)) }
    let items = manifests.map {
      Item(activities: [UserActivity(activityType: $0.activityTypes[0], targetContentIdentifier: "k")])
    }
    #expect(stage.call(.deliverEach(Payload(items: items), digest: "d", size: 100))?.items?.count == 100)
    #expect(stage.restarts <= 3)
  }
}
