import SceneModel
import StagedoorKit

enum ExplainCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let client = try await Client(invocation)
    let payload = try await PayloadArguments(invocation, client, isHandedIn: false)
    let decision = try await client.stagedoor.explain(document: Printed.json(payload.document))
    let document = try Printed.value(decision.json)
    if let file = invocation[.record] { try await Recording.add(payload.document, document, to: file, client) }
    if invocation.has(.json) {
      try Output.line(decision.json.printableJSON)
    } else if invocation.has(.quiet) {
      if let session = document["chosen"]?["session"]?.string { try Output.line(session) }
    } else {
      try Output.write(DecisionPicture.text(document, payload.document, invocation.screen))
    }
    if case .refused(let code) = decision.outcome { return Status(code) }
    return .done
  }
}

/// A decision as a picture: the question, each step with its reason, every candidate with its tier, and the choice.
enum DecisionPicture {
  static func text(_ decision: Value, _ payload: Value, _ screen: Screen) -> String {
    var lines = [screen.styled(subject(decision, payload).printable, .heading), "|"]
    for (name, value) in [("application", "chosen"), ("configuration", "chosen"), ("key", "value")] {
      guard let step = decision[name], let chosen = step[value]?.string else { continue }
      let because = step["because"]?.string ?? step["from"]?.string ?? ""
      lines.append(fitted("+- \(name.padded(13))  \(chosen.printable)", screen, note: because.printable))
    }
    let candidates = decision["candidates"]?.elements ?? []
    if !candidates.isEmpty {
      lines.append("+- candidates")
      let chosen = decision["chosen"]?["session"]?.string
      for candidate in candidates { lines.append(row(candidate, chosen, screen)) }
      if let more = decision["candidatesLeftOut"]?.number { lines.append("|    and \(more) more") }
    }
    lines.append("|")
    return (lines + end(decision, screen)).map { $0 + "\n" }.joined()
  }

  private static func subject(_ decision: Value, _ payload: Value) -> String {
    let type = decision["routingActivity"]?["activityType"]?.string ?? decision["contentType"]?.string
    if let type { return type }
    if let session = payload["options"]?["session"]?.string { return "the session \(session)" }
    return payload["options"]?["application"]?.string ?? payload["activity"]?["activityType"]?.string ?? "the payload"
  }

  private static func row(_ candidate: Value, _ chosen: String?, _ screen: Screen) -> String {
    let session = candidate["session"]?.string ?? ""
    let tier = candidate["tier"]?.string ?? ""
    let mark = session == chosen ? ">" : " "
    let head =
      "|  \(mark) \(screen.styled(tier.padded(7), Style(of: tier)))  \(screen.styled(screen.identifier(session), .identifier))"
    let used = 13 + screen.identifier(session).columns
    let because = candidate["because"]?.string ?? ""
    return
      "\(head)  \(screen.isTerminal ? because.printable.fitted(max(10, screen.width - used - 2)) : because.printable)"
  }

  private static func end(_ decision: Value, _ screen: Screen) -> [String] {
    let outcome = decision["outcome"]?.string ?? ""
    let shown = screen.styled(outcome, Style(of: outcome))
    if let message = decision["message"]?.string { return ["=> \(shown): \(message.printable)"] }
    let session = decision["chosen"]?["session"]?.string.map { " " + screen.identifier($0) } ?? ""
    let because = decision["chosen"]?["because"]?.string ?? ""
    return ["=> \(shown)\(screen.styled(session, .identifier)): \(because.printable)"]
  }

  /// A line with its reason behind it, or below it if there is little room.
  private static func fitted(_ line: String, _ screen: Screen, note: String) -> String {
    if note.isEmpty { return line }
    if !screen.isTerminal || line.columns + note.columns + 4 <= screen.width {
      return "\(line)  \(screen.styled("(\(note))", .aside))"
    }
    return "\(line)\n|    \(screen.styled("(\(note))".fitted(max(20, screen.width - 5)), .aside))"
  }
}

extension Printed {
  static func value(_ json: String) throws(Problem) -> Value {
    do throws(Fault) { return try JSON.value(Text(json)) } catch {
      throw Problem(.refused, "the service answered a document that cannot be read: \(error)")
    }
  }
}
