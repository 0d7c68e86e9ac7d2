import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import Testing

/// Deliveries after their reply: listed, taken back, redirected, and followed to their end.
@Suite struct DeliveryLaterTests {
  private func all(_ progress: ProgressSequence) async throws -> [DeliveryState] {
    try await withLimit(usualLimit, "the end of the delivery") { try await progress.reduce(into: []) { $0.append($1) } }
  }

  @Test(.client()) func `deliveries are listed newest first, page by page, and looked at`() async throws {
    var made: [Delivery] = []
    for name in ["cat1", "cat2", "cat1"] { made.append(try await stagedoor.deliver(cat(name), .lasting)) }
    let all = try await stagedoor.deliveries()
    #expect(all.map(\.identifier) == made.reversed().map(\.identifier))
    #expect(all.map(\.session) == made.reversed().map(\.session))
    #expect(all.allSatisfy { $0.state == .held && $0.application == "org.example.Cats" })
    #expect(try await stagedoor.deliveries(in: .held, limit: 2).count == 2)
    #expect(try await stagedoor.deliveries(after: made[1].identifier).map(\.identifier) == [made[0].identifier])
    #expect(try await stagedoor.deliveries(in: .cancelled).isEmpty)
    let (state, decision) = try await stagedoor.delivery(made[0].identifier)
    #expect(state == .held)
    #expect(decision.outcome == .delivered(.created))
    let nowhere = try #require(DeliveryIdentifier("00000000-0000-4000-8000-000000000000"))
    #expect(await code { _ = try await stagedoor.delivery(nowhere) } == .noSuchDelivery)
  }

  @Test(.client()) func `a delivery that is taken back says so to who follows it`() async throws {
    let delivery = try await stagedoor.deliver(cat("cat1"), .lasting)
    let progress = try await stagedoor.progress(of: delivery.identifier)
    try await stagedoor.cancel(delivery.identifier)
    #expect(try await all(progress) == [.held, .cancelled])
    #expect(await code { try await stagedoor.finished(delivery.identifier) } == .cancelled)
    #expect(await code { try await stagedoor.cancel(delivery.identifier) } == .requestDenied)
  }

  @Test(.client()) func `a delivery whose window goes fails, and says why`() async throws {
    let delivery = try await stagedoor.deliver(cat("cat1"), .lasting)
    let finished = Task { await code { try await stagedoor.finished(delivery.identifier) } }
    let progress = try await stagedoor.progress(of: delivery.identifier)
    try await stagedoor.destroy(delivery.session)
    let last = try await all(progress).last
    guard case .failed(let error) = last else {
      Issue.record("it ended as \(String(describing: last))")
      return
    }
    #expect(error.code == .noSuchSession)
    // `finished` may have started to follow before or after the end; after the end nobody knows the reason any more.
    #expect([.noSuchSession, .hostRefused].contains(await finished.value))
  }

  @Test(.played()) func `who follows a delivery asks about it once, and hears of its end`() async throws {
    let identifier = PlayedService.delivery
    let progress = try await stagedoor.progress(of: identifier)
    // From here on the service would give a wrong answer.
    service.states.withLock { $0 = ["failed"] }
    try service.tell("Forwarded", of: identifier)
    try service.tell(of: identifier)
    #expect(try await all(progress) == [.routed, .forwarded, .handled])
    #expect(service.states.withLock { $0 } == ["failed"])
    #expect(service.count(of: "GetDelivery") == 1)
  }

  @Test(.played()) func `who follows a delivery asks again when the service comes back`() async throws {
    let first = service
    let identifier = PlayedService.delivery
    let progress = try await stagedoor.progress(of: identifier)
    await first.close()
    let second = try await PlayedService(on: bus, states: ["held", "handled"])
    let steps = try await withLimit(usualLimit, "the end of the delivery") {
      var steps: [DeliveryState] = []
      for try await step in progress {
        steps.append(step)
        // The follower hears of this whether the service was asked before or later.
        if step == .held { try second.tell(of: identifier) }
      }
      return steps
    }
    #expect(steps == [.routed, .held, .handled])
  }

  @Test(.played()) func `who follows a delivery and is called off while it asks again asks later`() async throws {
    let first = service
    let reader = await Reader(try await stagedoor.progress(of: PlayedService.delivery))
    #expect(try await reader.next() == .routed)
    await first.close()
    let second = try await PlayedService(on: bus, states: ["handled"], answering: ["GetDelivery": [.later]])
    let cancelled = Task { try await reader.next() }
    try await second.wait(for: "GetDelivery")
    cancelled.cancel()
    #expect(try await cancelled.value == nil)
    let step = try await withLimit(usualLimit, "the next step") { try await reader.next() }
    #expect(step == .handled)
  }

  @Test(.client()) func `who follows a delivery, or events, can be called off`() async throws {
    let delivery = try await stagedoor.deliver(cat("cat1"), .lasting)
    let (progress, events) = (try await stagedoor.progress(of: delivery.identifier), try await stagedoor.events())
    let followed = Task { try await progress.reduce(into: []) { $0.append($1) } }
    let watched = Task { try await events.reduce(0) { count, _ in count + 1 } }
    followed.cancel()
    watched.cancel()
    let steps = try await withLimit(usualLimit, "the task that was cancelled") { try await followed.value }
    #expect(steps.isEmpty || steps == [.held])
    #expect(try await withLimit(usualLimit, "the other task") { try await watched.value } == 0)
  }
}
