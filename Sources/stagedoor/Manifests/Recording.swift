import Glibc
import SceneModel
import StagedoorKit

/// Decisions, recorded with everything that they depend on, so that they can be made again.
///
/// ```json
/// {"cases": [{"name": "…", "time": "…", "payload": {…}, "sessions": [{…}], "preferences": {"TYPE": "APP"}, "decision": {…}}]}
/// ```
enum Recording {
  /// Adds a case to a file, and makes the file if it does not exist.
  static func add(_ payload: Value, _ decision: Value, to path: String, _ client: Client) async throws {
    var cases = access(path, F_OK) == 0 ? try cases(in: path) : []
    let (sessions, preferences) = try await world(of: decision, client)
    cases.append(
      Printed.object([
        ("name", .text(name(payload, decision))), ("time", .text(Moment.now.rfc3339)), ("payload", payload),
        ("sessions", sessions.isEmpty ? nil : .array(sessions)),
        ("preferences", preferences.isEmpty ? nil : .dictionary(preferences)), ("decision", decision),
      ]))
    try write(cases, to: path)
  }

  static func cases(in path: String) throws(Problem) -> [Value] {
    let bytes = try InputFile.read(path, limit: 64 << 20)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .failed("\(path.printable) is not UTF-8") }
    do throws(Fault) {
      guard case .array(let cases)? = try JSON.value(Text(text), atMost: 64 << 20)["cases"] else {
        throw Fault(at: .document, "expected a key \"cases\" with a list, as `stagedoor explain --record` writes it")
      }
      return cases
    } catch {
      throw .failed("\(path.printable): \(error)")
    }
  }

  /// Writes a line for each key of a case, because version control systems compare lines.
  static func write(_ cases: [Value], to path: String) throws(Problem) {
    var text = "{\"cases\": [\n"
    for (number, single) in cases.enumerated() {
      guard case .dictionary(let fields) = single else { continue }
      let lines = fields.entries.map { "  \(Printed.json(.string($0.key))): \(Printed.json($0.value))" }
      text += "{\n" + lines.joined(separator: ",\n") + "\n}" + (number < cases.count - 1 ? "," : "") + "\n"
    }
    try OutputFile.write(Array((text + "]}\n").utf8), to: path)
  }

  private static func name(_ payload: Value, _ decision: Value) -> String {
    let type =
      decision["routingActivity"]?["activityType"] ?? decision["contentType"] ?? payload["activity"]?["activityType"]
    let words = [type?.string ?? "payload", decision["key"]?["value"]?.string, decision["outcome"]?.string]
    return words.compactMap(\.self).joined(separator: " ")
  }

  /// The sessions and the preferences that a decision depends on: those of every application that takes the type.
  private static func world(of decision: Value, _ client: Client) async throws -> ([Value], UserInfo) {
    let type = decision["routingActivity"]?["activityType"]?.string ?? decision["contentType"]?.string
    var applications: Set<String> = []
    if let chosen = decision["application"]?["chosen"]?.string { applications.insert(chosen) }
    var preferences = UserInfo()
    if let type {
      applications.formUnion(try await client.stagedoor.handlers(of: type).map(\.identifier))
      if let preferred = try await client.stagedoor.preferredApplication(for: type) {
        preferences[Text(type)] = .text(preferred)
      }
    }
    let restored = decision["outcome"]?.string == "restored" ? decision["chosen"]?["session"]?.string : nil
    var sessions: [Value] = []
    for application in applications.sorted() {
      try await client.sessions(of: application) { page in
        for summary in page {
          guard let properties = try? await client.stagedoor.sessionProperties(summary.session) else { continue }
          sessions.append(try session(properties, wasConnected: restored == summary.session.description))
        }
      }
    }
    return (sessions, preferences)
  }

  private static func session(_ properties: [String: String], wasConnected: Bool) throws(Problem) -> Value {
    func text(_ name: String) -> Value? { properties[name].flatMap { $0.isEmpty ? nil : .text($0) } }
    func document(_ name: String) throws(Problem) -> Value? {
      guard let json = properties[name], !json.isEmpty else { return nil }
      return try Printed.value(json)
    }
    func time(_ name: String) -> Value? { properties[name].flatMap { UInt64($0) }.map { .text(Moment.rfc3339($0)) } }
    let activity = try document("UserActivity")
    let isConnected = properties["Connected"] == "true"
    return Printed.object([
      ("persistentIdentifier", text("PersistentIdentifier")), ("application", text("Application")),
      ("role", text("Role")),
      ("configuration", text("Configuration")), ("state", text("State")), ("connected", .bool(isConnected)),
      ("hasBeenConnected", .bool(isConnected || wasConnected)), ("created", time("Created")),
      ("lastActivated", time("LastActivated")), ("title", text("Title")), ("userActivity", activity),
      ("stateRestorationActivity", try document("StateRestorationActivity")),
      ("openedContent", activity == nil ? text("TargetContentIdentifier") : nil),
      ("canActivatePredicate", text("CanActivatePredicate")),
      ("prefersToActivatePredicate", text("PrefersToActivatePredicate")),
    ])
  }
}
