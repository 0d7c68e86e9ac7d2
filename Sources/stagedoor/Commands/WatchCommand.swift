import SceneModel
import StagedoorKit

enum WatchCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    var application: String?
    if let text = invocation[.ofApp] {
      let identifier = try await client.application(text)
      // This refuses an application without sessions and without a manifest: no event would ever come.
      _ = try await client.stagedoor.sessionList(of: identifier, limit: 1)
      application = identifier
    }
    var since = invocation[.since].flatMap { UInt64($0) }
    // 0 means all events that the service has kept.
    if since == 0 || since == nil && invocation.has(.past) { since = try await client.stagedoor.oldestEventSequence() }
    let newest = try await client.stagedoor.eventSequence()
    let isPast = invocation.has(.past)
    if isPast, since == newest {
      if invocation.screen.isTerminal { Output.note("no events yet") }
      return .done
    }
    // This reads the events of all applications, because the newest event may be another application's.
    for try await event in try await client.stagedoor.events(since: since) {
      if application == nil || event.application == application { try print(event, newest, invocation) }
      if isPast, event.sequence >= newest { break }
    }
    return .done
  }

  private static func print(_ event: StagedoorKit.Event, _ newest: UInt64, _ invocation: Invocation) throws(Problem) {
    let told = event.arguments["time"].flatMap { Instant(rfc3339: Text($0)) }
    // An older service does not tell the times of kept events, but these did not happen now.
    let time = told ?? (event.sequence > newest ? Moment.now : nil)
    let line =
      invocation.has(.json)
      ? Printed.shown(json(event, time))
      : invocation.has(.quiet) ? event.session.description : shown(event, time, invocation.screen)
    try Output.line(line)
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
    let (word, rest) = told(event, isCut: screen.isTerminal)
    guard screen.isTerminal else {
      return [
        "\(event.sequence)", time.map(Moment.inColumns) ?? "", word, event.application, event.session.description,
        rest.printable,
      ]
      .joined(separator: "\t")
    }
    let head = (time.map { Moment.clock($0) } ?? "        ") + "  "
    let plain = "\(word.padded(12)) \(screen.identifier(event.session.description))  \(event.application.printable)"
    let room = max(0, screen.width - head.columns - plain.columns - 2)
    return screen.styled(head, .aside) + screen.styled(word.padded(12), Style(of: word)) + " "
      + screen.styled(screen.identifier(event.session.description), .identifier) + "  \(event.application.printable)"
      + (rest.isEmpty || room < 4 ? "" : "  " + rest.printable.fitted(room))
  }

  /// The event in one word, and its details.
  ///
  /// - Parameter isCut: the end may be cut off, so the most distinctive detail comes first.
  private static func told(_ event: StagedoorKit.Event, isCut: Bool) -> (String, String) {
    let delivery = event.arguments["delivery"] ?? ""
    switch event.kind {
    case .routed(let routing):
      let about = [routing.activityType, routing.targetContentIdentifier].filter { !$0.isEmpty }
      if about.isEmpty { return (routing.outcome.rawValue, delivery) }
      return (routing.outcome.rawValue, (isCut ? about.reversed() : about).joined(separator: " "))
    case .handled: return ("handled", delivery)
    case .unclaimed: return ("unclaimed", delivery)
    case .deliveryFailed(_, let error): return (error.code == .cancelled ? "cancelled" : "failed", error.message)
    case .sessionConnected(let configuration): return ("connected", configuration)
    case .sessionStateChanged(let state): return ("state", state.rawValue)
    case .sessionDisconnected: return ("disconnected", "")
    case .sessionDiscarded(let animation): return ("discarded", animation == .standard ? "" : animation.rawValue)
    case .sessionRefreshRequested: return ("refresh", "")
    case .other(let name): return (name.lowercased(), delivery)
    }
  }
}
