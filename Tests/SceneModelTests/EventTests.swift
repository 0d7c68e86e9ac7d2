import SceneModel
import SceneTestSupport
import Testing

@Suite struct EventTests {
  private static let (session, delivery) = (UniqueIdentifier(high: 1, low: 2), UniqueIdentifier(high: 3, low: 4))
  private static let odd = Text("12 34:\u{1F}\"é\n")

  private static let kinds: [Event.Kind] =
    [
      .routed(
        outcome: "created", configuration: odd, activityType: "", targetContentIdentifier: odd, delivery: delivery),
      .handled(delivery: delivery), .forwarded(delivery: delivery), .unclaimed(delivery: delivery),
      .deliveryFailed(delivery: delivery, error: "org.example.Error", message: odd),
      .sessionConnected(configuration: "Main"), .sessionDisconnected, .sessionDiscarded(animation: ""),
      .sessionRefreshRequested,
    ] + SceneState.allCases.map { .sessionStateChanged($0) }

  private func stored(_ event: Event, _ arguments: Text) -> StoredEvent {
    StoredEvent(
      sequence: event.sequence, name: event.name, application: event.application, arguments: arguments,
      at: Instant(microseconds: 0))
  }

  @Test(arguments: EventTests.kinds) func `a stored event has its document, as it had in earlier versions`(
    kind: Event.Kind
  ) {
    let event = Event(kind, application: "org.example.A", session: Self.session, sequence: 7)
    #expect(stored(event, event.stored).document == event.arguments)
    #expect(stored(event, event.arguments).document == event.arguments)
  }

  @Test(arguments: EventTests.kinds) func `a damaged event has an empty document`(kind: Event.Kind) {
    let event = Event(kind, application: "org.example.A", session: Self.session, sequence: 7)
    let bytes = event.stored.string.utf8
    for end in 0..<bytes.count {
      guard let part = String(bytes.prefix(end)) else { continue }
      #expect(stored(event, Text(part)).document == "{}", "\(end)")
    }
  }
}
