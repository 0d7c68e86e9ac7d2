import SceneModel
import ServiceSupport
import StagedoorKit

enum ExplainCommand {
  typealias Row = (decision: Value, payload: Value)

  static let fields: [Field<Row>] = [
    field("outcome", "outcome"), field("session", "chosen", "session"), field("application", "application", "chosen"),
    field("configuration", "configuration", "chosen"), field("key", "key", "value"), field("error", "error"),
    field("message", "message"),
  ]

  private static func field(_ name: String, _ path: Text...) -> Field<Row> {
    Field(name, value: { row in path.reduce(row.decision) { $0?[$1] } })
  }

  static func run(_ invocation: Invocation) async throws {
    if let delivery = invocation[.ofDelivery] {
      let other = invocation.command.options.first {
        invocation.has($0) && ![Option.ofDelivery, .json, .quiet, .print()].map(\.name).contains($0.name)
      }
      if let other {
        throw Problem.usage("--\(other.name) cannot be combined with --delivery, which was decided already")
      }
      if !invocation.arguments.isEmpty { throw Problem.usage("a delivery was decided already; leave the files out") }
      let client = try await Client(invocation)
      let decision = try Printed.value(
        try await client.stagedoor.delivery(try await client.delivery(delivery)).decision.json)
      try show(decision, .null, invocation)
      return try refuse(decision)
    }
    if invocation.has(.caseName), !invocation.has(.record) {
      throw Problem.usage("--case names a recorded case, and needs --record")
    }
    if invocation.has(.manifests) { return try await explainHere(invocation) }
    if invocation.has(.rules) {
      throw Problem.usage("--rules needs --manifest; the service asks the installed rules")
    }
    let client = try await Client(invocation)
    let payload = try await PayloadArguments(invocation, client, isHandedIn: false)
    var document = payload.document
    let decision: Value
    do {
      decision = try await Printed.value(client.stagedoor.explain(document: Printed.json(document)).json)
    } catch let error as StagedoorError where error.code == .accessDenied && payload.namesFiles {
      document = payload.withoutFiles
      decision = try await Printed.value(client.stagedoor.explain(document: Printed.json(document)).json)
    }
    if let file = invocation[.record] {
      var world = try await Recording.world(of: decision, client)
      let rules = try GivenRules.all(invocation)
      do throws(Fault) { world.disk = try Disk(askedBy: rules, about: document) } catch {
        throw Problem(.refused, "\(error)")
      }
      try Recording.add(document, decision, world, named: invocation[.caseName], to: file)
    }
    try show(decision, document, invocation)
    try Output.flush()
    if payload.isLongText, !invocation.has(.quiet) {
      Output.note("stagedoor: `drop -` hands in more than 32 KiB as a file, so rules do not see the text")
    }
    if decision["error"]?.string == StagedoorError.Code.activityTypeNotDeclared.rawValue, !invocation.has(.quiet),
      let type = payload.activityType, let nearest = await UndeclaredType.nearest(to: type, client)
    {
      Output.note("stagedoor: \(nearest)")
    }
    let made = decision["rule"]?["payload"]?.firstActivity
    if let type = payload.typeBesideData ?? made?["activityType"]?.string {
      await UndeclaredType.note(type, decision, client)
    }
    if !invocation.has(.quiet) { await noteMissingFile(decision["rule"]?["payload"] ?? document, decision, client) }
    try refuse(decision)
  }

  /// Decides here, by the given manifests, as if there were no windows yet.
  private static func explainHere(_ invocation: Invocation) async throws {
    let manifests = try ManifestFile.manifests(invocation)
    let rules = try GivenRules.all(invocation)
    let payload = try await PayloadArguments(invocation, manifests, isHandedIn: false)
    var world = Recording.World()
    let decision: Value
    do throws(Fault) {
      world.disk = try Disk(askedBy: rules, about: payload.document)
      decision = try Recording.decide(payload.document, world, at: Clock.now(), manifests.all, rules)
    } catch {
      throw Problem(.refused, "\(error)")
    }
    if let file = invocation[.record] {
      try Recording.add(payload.document, decision, world, named: invocation[.caseName], to: file)
    }
    try show(decision, payload.document, invocation)
    try refuse(decision)
  }

  /// The understudy opens files only. It refuses anything else when the drop has been answered.
  private static func noteMissingFile(_ payload: Value, _ decision: Value, _ client: Client) async {
    let contents = (payload["items"]?.elements ?? []).flatMap { $0["representations"]?.elements ?? [] }
    guard decision["error"] == nil, !contents.isEmpty, !contents.contains(where: { $0["file"] != nil }),
      let identifier = decision["application"]?["chosen"]?.string,
      let application = try? await client.stagedoor.application(identifier),
      application.isUnderstudied, application.manifestPath.isEmpty
    else { return }
    Output.note(
      "stagedoor: \(application.name.printable) has an understudy, which opens files only; save it as a file, and drop that"
    )
  }

  private static func show(_ decision: Value, _ payload: Value, _ invocation: Invocation) throws(Problem) {
    if invocation.has(.print()) {
      try Listing(invocation, fields).answer((decision, payload))
    } else if invocation.has(.json) {
      try Output.line(Printed.shown(decision))
    } else if !invocation.has(.quiet) {
      try Output.write(DecisionPicture.text(decision, payload, invocation.screen))
    }
  }

  private static func refuse(_ decision: Value) throws(Status) {
    // The decision of a delivery that was made is no refusal.
    if let error = decision["error"]?.string { throw Status(StagedoorError.Code(rawValue: error)) }
  }
}

/// A decision as a picture: the question, each step with its reason, every candidate with its tier, and the choice.
enum DecisionPicture {
  static func text(_ decision: Value, _ payload: Value, _ screen: Screen) -> String {
    var lines = [screen.styled(subject(decision, payload).printable, .heading), "|"]
    if let rule = decision["rule"] {
      let place = "\(Printed.text(rule["file"])):\(rule["line"]?.number.map { "\($0)" } ?? "")"
      lines.append(fitted("+- rule           \(Printed.text(rule["name"]))", screen, note: place))
      lines += made(rule["payload"] ?? .null, of: payload).map { "|    \($0.printable)" }
    }
    let failed = decision["rules"]?.elements ?? []
    if !failed.isEmpty {
      lines.append("+- no rule takes it")
      for rule in failed {
        lines.append(fitted("|    \(Printed.text(rule["name"]))", screen, note: Printed.text(rule["because"])))
      }
    }
    for (name, value): (Text, Text) in [("application", "chosen"), ("configuration", "chosen"), ("key", "value")] {
      guard let step = decision[name], let chosen = step[value]?.string else { continue }
      let because = Printed.text(step["because"] ?? step["from"])
      lines.append(fitted("+- \(name.string.padded(13))  \(chosen.printable)", screen, note: because))
    }
    let candidates = decision["candidates"]?.elements ?? []
    if !candidates.isEmpty {
      lines.append("+- candidates")
      let chosen = decision["chosen"]?["session"]?.string
      for candidate in candidates { lines.append(row(candidate, chosen, screen)) }
      if let more = decision["candidatesLeftOut"]?.number { lines.append("|    and \(more) more") }
    }
    if lines.count > 2 { lines.append("|") }
    return (lines + end(decision, screen)).map { $0 + "\n" }.joined()
  }

  /// The payload that a rule made, in the words of rules.
  private static func made(_ made: Value, of payload: Value) -> [String] {
    let (items, before) = (made["items"]?.elements ?? [], payload["items"]?.elements ?? [])
    let item = items.count > before.count || items.isEmpty ? items.first : nil
    var lines: [String] = []
    let activity = made.firstActivity
    if let type = activity?["activityType"]?.string {
      let key = activity?["targetContentIdentifier"]?.string.map { " key '\($0)'" } ?? ""
      lines.append("activity '\(type)'\(key)")
      if let title = activity?["title"]?.string { lines.append("title '\(title)'") }
      if case .dictionary(let info)? = activity?["userInfo"] {
        lines += info.entries.map { "info \($0.key) '\($0.value.string ?? Printed.json($0.value))'" }
      }
    }
    for content in item?["representations"]?.elements ?? [] {
      let type = content["type"]?.string ?? ""
      if let file = content["file"]?.string { lines.append("file '\(file)'") }
      // A link is also a list of one link.
      if let text = content["text"]?.string, type != "text/uri-list" {
        lines.append("\(type.hasPrefix("x-scheme-handler/") ? "link" : "text") '\(text)'")
      }
    }
    for name: Text in ["application", "configuration", "disposition"] {
      if let value = made["options"]?[name]?.string, payload["options"]?[name] == nil {
        lines.append("\(name) '\(value)'")
      }
    }
    return lines
  }

  private static func subject(_ decision: Value, _ payload: Value) -> String {
    if let type = decision.decidingType { return type }
    if let session = payload["options"]?["session"]?.string { return "the session \(session)" }
    return payload["options"]?["application"]?.string ?? payload["activity"]?["activityType"]?.string ?? "the payload"
  }

  private static func row(_ candidate: Value, _ chosen: String?, _ screen: Screen) -> String {
    let (session, tier) = (Printed.text(candidate["session"]), Printed.text(candidate["tier"]))
    let mark = session == chosen ? ">" : " "
    let head =
      "|  \(mark) \(screen.styled(tier.padded(7), Style(of: tier)))  \(screen.styled(screen.identifier(session), .identifier))"
    let used = 13 + screen.identifier(session).columns
    let because = Printed.text(candidate["because"])
    return "\(head)  \(screen.isTerminal ? because.fitted(max(10, screen.width - used - 2)) : because)"
  }

  private static func end(_ decision: Value, _ screen: Screen) -> [String] {
    let outcome = Printed.text(decision["outcome"])
    let shown = screen.styled(outcome, Style(of: outcome))
    if let message = decision["message"]?.string { return ["=> \(shown): \(message.printable)"] }
    let session = decision["chosen"]?["session"]?.string.map { " " + screen.identifier($0.printable) } ?? ""
    let because = Printed.text(decision["chosen"]?["because"])
    return ["=> \(shown)\(screen.styled(session, .identifier)): \(because)"]
  }

  /// A line with its reason behind it, or below it if the line is too narrow.
  private static func fitted(_ line: String, _ screen: Screen, note: String) -> String {
    if note.isEmpty { return line }
    if !screen.isTerminal || line.columns + note.columns + 4 <= screen.width {
      return "\(line)  \(screen.styled("(\(note))", .aside))"
    }
    return "\(line)\n|    \(screen.styled("(\(note))".fitted(max(20, screen.width - 5)), .aside))"
  }
}

extension Value {
  fileprivate var firstActivity: Value? {
    self["activity"] ?? self["items"]?.elements.first?["activities"]?.elements.first
  }

  /// The type of the activity, or else of the data, by which a decision was made.
  var decidingType: String? { self["routingActivity"]?["activityType"]?.string ?? self["contentType"]?.string }
}

extension Printed {
  static func value(_ json: String) throws(Problem) -> Value {
    do throws(Fault) { return try JSON.value(Text(json)) } catch {
      throw Problem(.refused, "the service answered a document that cannot be read: \(error)")
    }
  }
}
