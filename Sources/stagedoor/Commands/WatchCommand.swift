import SceneModel
import ServiceSupport
import StagedoorKit

enum WatchCommand {
  typealias Row = (event: StagedoorKit.Event, time: Instant?)

  static let fields: [Field<Row>] = [
    Field("sequence", .init(title: "NUMBER"), value: { .integer(Int64(clamping: $0.event.sequence)) }),
    Field("time", .init(title: "TIME"), value: { $0.time.map { .text($0.rfc3339) } }) {
      $0.time.map(Moment.inColumns) ?? ""
    },
    Field("event", .init(title: "EVENT"), value: { .text(word($0.event)) }),
    Field("application", .init(title: "APPLICATION"), value: { .text($0.event.application) }),
    Field("session", .init(title: "SESSION"), value: { .text($0.event.session.description) }),
    Field("delivery", .init(title: "DELIVERY"), value: { .text($0.event.arguments["delivery"] ?? "") }),
    Field("about", .init(title: "ABOUT"), value: { .text(about($0.event, isCut: false)) }),
  ]

  static func run(_ invocation: Invocation, _ client: Client) async throws {
    let application = try await client.application(of: invocation)
    do {
      // This refuses an application without sessions and without a manifest: no event would ever come. And it refuses a program in a sandbox that
      // names no application.
      _ = try await client.stagedoor.sessionList(of: application, limit: 1)
    } catch  where error.code == .accessDenied {
      throw Problem(
        .refused, "AccessDenied: in a sandbox you hear of the windows of your own application only; name it with --app",
        error: error.code.rawValue)
    } catch {
      throw error
    }
    let stagedoor = client.stagedoor
    let isPast = invocation.has(.past)
    var since = invocation[.since].flatMap { UInt64($0) }
    // 0 means all events that the service has kept.
    if since == 0 || since == nil && isPast { since = try await stagedoor.oldestEventSequence() }
    let newest = try await stagedoor.eventSequence()
    // In a sandbox the newest event may be somebody else's, so the stored events end where no more come.
    if isPast, var last = since {
      var isEmpty = true
      while case let page = try await stagedoor.storedEvents(after: last).events, let end = page.last {
        for event in page where event.sequence <= newest && (application ?? event.application) == event.application {
          try print(event, newest, invocation)
          isEmpty = false
        }
        last = end.sequence
        if last >= newest { break }
      }
      if isEmpty { Output.note("no events yet") }
      return
    }
    // This reads the events of all applications, because the newest event may be another application's.
    for try await event in try await stagedoor.events(since: since)
    where application == nil || event.application == application {
      try print(event, newest, invocation)
    }
  }

  private static func print(_ event: StagedoorKit.Event, _ newest: UInt64, _ invocation: Invocation) throws {
    let told = event.arguments["time"].flatMap { Instant(rfc3339: Text($0)) }
    // An older service does not tell the times of kept events, but these did not happen now.
    let time = told ?? (event.sequence > newest ? Clock.now() : nil)
    if invocation.has(.json) {
      try Output.line(Printed.shown(json(event, time)))
    } else if invocation.has(.print()) || !invocation.screen.isTerminal {
      try Listing(invocation, fields).answer((event, time))
    } else {
      try Output.line(shown(event, time, invocation.screen))
    }
    // A reader of a pipe gets each event as it happens.
    try Output.flush()
  }

  private static func json(_ event: StagedoorKit.Event, _ time: Instant?) -> Value {
    var fields = UserInfo()
    for (name, value) in event.arguments { fields[Text(name)] = .text(value) }
    fields["event"] = .text(event.name)
    fields["sequence"] = .integer(Int64(clamping: event.sequence))
    fields["session"] = .text(event.session.description)
    fields["time"] = time.map { .text($0.rfc3339) }
    return .dictionary(fields)
  }

  private static func shown(_ event: StagedoorKit.Event, _ time: Instant?, _ screen: Screen) -> String {
    let (word, about) = (word(event), about(event, isCut: true))
    let head = (time.map { Moment.clock($0) } ?? "        ") + "  "
    let identifiers = [event.session.description, event.arguments["delivery"] ?? ""].map { $0.prefix(8) }
      .joined(separator: " ").padded(17)
    let plain = "\(word.padded(12)) \(identifiers)  \(event.application.printable)"
    let room = max(0, screen.width - head.columns - plain.columns - 2)
    return screen.styled(head, .aside) + screen.styled(word.padded(12), Style(of: word)) + " "
      + screen.styled(identifiers, .identifier) + "  \(event.application.printable)"
      + (about.isEmpty || room < 4 ? "" : "  " + about.printable.fitted(room))
  }

  private static func word(_ event: StagedoorKit.Event) -> String {
    switch event.kind {
    case .routed(let routing): routing.outcome.rawValue
    case .handled: "handled"
    case .forwarded: "forwarded"
    case .unclaimed: "unclaimed"
    case .deliveryFailed(_, let error): error.code == .cancelled ? "cancelled" : "failed"
    case .sessionConnected: "connected"
    case .sessionStateChanged: "state"
    case .sessionDisconnected: "disconnected"
    case .sessionDiscarded: "discarded"
    case .sessionRefreshRequested: "refresh"
    case .other(let name): name.lowercased()
    }
  }

  /// The details of an event.
  ///
  /// - Parameter isCut: the end may be cut off, so the most distinctive detail comes first.
  private static func about(_ event: StagedoorKit.Event, isCut: Bool) -> String {
    switch event.kind {
    case .routed(let routing):
      let about = [routing.activityType, routing.targetContentIdentifier].filter { !$0.isEmpty }
      return (isCut ? about.reversed() : about).joined(separator: " ")
    case .deliveryFailed(_, let error): return error.message
    case .sessionConnected(let configuration): return configuration
    case .sessionStateChanged(let state): return state.rawValue
    case .sessionDiscarded(let animation): return animation == .standard ? "" : animation.rawValue
    case .handled, .forwarded, .unclaimed, .sessionDisconnected, .sessionRefreshRequested, .other: return ""
    }
  }
}
