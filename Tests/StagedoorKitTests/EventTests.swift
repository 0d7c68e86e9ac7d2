import DBus
import DBusTestSupport
import DaemonTestSupport
import StagedoorKit
import Testing

/// Events: first the kept ones, then the new ones, without a gap and without a duplicate.
@Suite struct EventTests {
  @Test(arguments: PrivateBus.Kind.available)
  func `who comes late learns what who watched has seen`(kind: PrivateBus.Kind) async throws {
    try await withClient(Manifests.cats, kind) { _, stagedoor in
      let live = try await stagedoor.events()
      let window = try await stagedoor.deliver(cat("cat1"), .lasting)
      try await stagedoor.refresh(window.session)
      try await stagedoor.destroy(window.session, animation: .decline)
      let seen = try await collect(4, from: live)
      #expect(seen.map(\.sequence) == [1, 2, 3, 4])
      #expect(seen.allSatisfy { $0.application == "org.example.Cats" && $0.session == window.session })
      guard case .routed(let routing) = seen[0].kind else {
        Issue.record("the first was \(seen[0])")
        return
      }
      #expect(routing.delivery == window.identifier)
      #expect(routing.outcome == .created)
      #expect(routing.configuration == "Cat Detail")
      #expect(routing.activityType == "viewCat")
      #expect(routing.targetContentIdentifier == "cat1")
      #expect(seen[1].kind == .sessionRefreshRequested)
      #expect(seen[2].kind == .sessionDiscarded(.decline))
      guard case .deliveryFailed(window.identifier, let error) = seen[3].kind else {
        Issue.record("the last was \(seen[3])")
        return
      }
      #expect(error.code == .noSuchSession)
      #expect(try await collect(4, from: stagedoor.events(since: 0)) == seen)
      #expect(try await collect(2, from: stagedoor.events(since: 2)) == Array(seen[2...]))
    }
  }

  @Test(.client()) func `events of one application are told without those of others`() async throws {
    try await stagedoor.register(manifest: Manifests.oneScene)
    let live = try await stagedoor.events(of: "org.example.Player")
    _ = try await stagedoor.deliver(cat("cat1"), .lasting)
    _ = try await stagedoor.deliver(UserActivity("play"), .lasting)
    _ = try await stagedoor.deliver(cat("cat1"), .lasting)
    _ = try await stagedoor.deliver(UserActivity("stop"), .lasting)
    #expect(try await collect(2, from: live).map(\.sequence) == [2, 4])
    #expect(
      try await collect(2, from: stagedoor.events(since: 0, of: "org.example.Player")).map(\.sequence) == [2, 4])
  }

  @Test func `what happened before the next service had the name is told without a signal`() async throws {
    let discarded = "SessionDiscarded"
    try await withPlayedService(events: [discarded]) { bus, first, stagedoor in
      let live = try await stagedoor.events(since: 0)
      let seen = Task { try await collect(3, from: live) }
      // The sequence has read the kept events, and waits.
      try await first.wait(for: "EventsSince 0")
      await first.close()
      let next = try await PlayedService(on: bus, events: [discarded, discarded, discarded])
      #expect(try await seen.value.map(\.sequence) == [1, 2, 3])
      await next.close()
    }
  }

  @Test(.played()) func `signals that did not arrive are read again, in their place`() async throws {
    let live = try await stagedoor.events()
    let (numbers, seen) = AsyncStream<UInt64>.makeStream()
    let watching = Task { for try await event in live { seen.yield(event.sequence) } }
    // In the first rounds the sequence may still be reading the kept events.
    for round in 0..<20 as Range<UInt64> {
      for isTold in [false, false, true] { try service.happen("SessionDisconnected", isTold: isTold) }
      #expect(try await collect(3, from: numbers) == [round * 3 + 1, round * 3 + 2, round * 3 + 3])
    }
    watching.cancel()
  }

  @Test(.client()) func `what is not kept is refused, and says where to go on`() async throws {
    let future = try await stagedoor.events(since: 1000)
    #expect(await code { for try await _ in future {} } == .eventsGone)
  }
}
