import SceneModel
import StagedoorKit

enum WatchCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    var application: String?
    if let text = invocation[.ofApp] { application = try await client.application(text) }
    let screen = invocation.screen
    let since = invocation[.since].flatMap { UInt64($0) }
    // An older service does not say when what it kept has happened; it was not now.
    let past = since == nil ? 0 : try await client.stagedoor.eventSequence()
    for try await event in try await client.stagedoor.events(since: since, of: application) {
      let told = event.arguments["time"].flatMap { Instant(rfc3339: Text($0)) }
      let time = told ?? (event.sequence > past ? Moment.now : nil)
      let line =
        invocation.has(.json)
        ? Printed.json(json(event, time))
        : invocation.has(.quiet) ? event.session.description : shown(event, time, screen)
      try Output.line(line)
      // Whoever reads along in a pipe sees each as it happens.
      try Output.flush()
    }
    return .done
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
    let (word, rest) = told(event)
    guard screen.isTerminal else {
      return [
        "\(event.sequence)", time?.rfc3339 ?? "", word, event.application, event.session.description, rest.printable,
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

  /// What happened in a word, and what to know of it.
  private static func told(_ event: StagedoorKit.Event) -> (String, String) {
    let delivery = event.arguments["delivery"] ?? ""
    switch event.kind {
    case .routed(let routing):
      let about = [routing.activityType, routing.targetContentIdentifier].filter { !$0.isEmpty }
      return (routing.outcome.rawValue, about.joined(separator: " "))
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
