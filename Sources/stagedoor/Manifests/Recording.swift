import Glibc
import SceneModel
import SceneRouting
import ServiceSupport
import StagedoorKit
import TextRules

/// Decisions, recorded with everything that they depend on, so that they can be made again.
///
/// ```json
/// {"cases": [{"name": "…", "time": "…", "payload": {…}, "sessions": [{…}], "preferences": {"TYPE": "APP"},
///             "disk": {"/src/main.c": "text/x-csrc"}, "decision": {…}}]}
/// ```
enum Recording {
  struct World: Sendable {
    var sessions: [Value] = []
    var preferences = UserInfo()
    var disk = Disk(nil)
  }

  /// Adds a case to a file, and makes the file if it does not exist. A case of the same given name is replaced.
  static func add(_ payload: Value, _ decision: Value, _ world: World, named name: String?, to path: String)
    throws(Problem)
  {
    var cases = access(path, F_OK) == 0 ? try cases(in: path) : []
    let single = Printed.object([
      ("name", .text(name ?? unused(Recording.name(payload, decision), among: cases))),
      ("time", .text(Clock.now().rfc3339)), ("payload", payload),
      ("sessions", world.sessions.isEmpty ? nil : .array(world.sessions)),
      ("preferences", world.preferences.isEmpty ? nil : .dictionary(world.preferences)), ("disk", world.disk.json),
      ("decision", decision),
    ])
    if let name, let place = cases.firstIndex(where: { $0["name"]?.string == name }) {
      cases[place] = single
    } else {
      cases.append(single)
    }
    try write(cases, to: path)
  }

  /// The case with another decision. A name that was made of the old decision is made anew.
  static func updated(_ single: Value, _ decision: Value, among cases: [Value]) -> Value {
    let payload = single["payload"] ?? .null
    let made = name(payload, single["decision"] ?? .null)
    let updated = single.adding("decision", decision)
    guard let old = single["name"]?.string, old == made || old.hasPrefix(made + " (") else { return updated }
    let others = cases.filter { $0["name"]?.string != old }
    return updated.adding("name", .text(unused(name(payload, decision), among: others)))
  }

  private static func unused(_ name: String, among cases: [Value]) -> String {
    let taken = Set(cases.compactMap { $0["name"]?.string })
    if !taken.contains(name) { return name }
    var number = 2
    while taken.contains("\(name) (\(number))") { number += 1 }
    return "\(name) (\(number))"
  }

  static func decide(
    _ document: Value, _ world: World, at time: Instant, _ manifests: [Manifest], _ given: RuleSet
  ) throws(Fault) -> Value {
    let rules = ReadingRules(types: ManifestFile.types)
    var state = State(types: ManifestFile.types, isComplete: true)
    for manifest in manifests { state.register(manifest) }
    for session in world.sessions { state.update(try Session(json: JSON.text(of: session), rules)) }
    for entry in world.preferences.entries {
      state.setPreferredApplication(entry.value.string.map { Text($0) }, for: entry.key)
    }
    var payload = try Payload(json: JSON.text(of: document), rules)
    var said: RulesAnswer?
    if !given.isEmpty, state.asksRules(of: payload) {
      switch world.disk.consultation(on: payload, given) {
      case .rule(let rule, let made): (said, payload) = (.made(rule, made), made)
      case .none(let failures): said = .passed(failures)
      case .asks, .exhausted: throw Fault(at: .document, "the rules take too long on this text")
      }
    }
    let request = Request(payload, newSession: UniqueIdentifier(high: 0, low: 0), listsCandidates: true)
    guard case .decided(let decision) = SceneRouting.decide(state, request, at: time) else {
      preconditionFailure("a state that is complete needs nothing")
    }
    return try JSON.value(decision.explained { $0.rules = said }.json)
  }

  static func cases(in path: String) throws(Problem) -> [Value] {
    let text = try InputFile.text(path, limit: 64 << 20)
    do throws(Fault) {
      // A case has all windows of an application, and each has a dozen values: the length is the limit.
      guard case .array(let cases)? = try JSON.value(Text(text), atMost: 64 << 20, values: .max)["cases"] else {
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
    let type = decision.decidingType ?? payload["activity"]?["activityType"]?.string
    let words = [type ?? "payload", decision["key"]?["value"]?.string, decision["outcome"]?.string]
    return words.compactMap(\.self).joined(separator: " ")
  }

  /// The sessions and the preferences that a decision depends on: those of every application that takes the type.
  static func world(of decision: Value, _ client: Client) async throws -> World {
    let type = decision.decidingType
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
      for try await page in client.stagedoor.sessionPages(of: application) {
        for summary in page {
          guard let document = try? await client.stagedoor.document(of: summary.session) else { continue }
          sessions.append(session(document, wasConnected: restored == summary.session.description))
        }
      }
    }
    return World(sessions: sessions, preferences: preferences)
  }

  private static func session(_ document: UserInfo, wasConnected: Bool) -> Value {
    var fields = document
    // A decision does not depend on it.
    fields["userInfo"] = nil
    fields["hasBeenConnected"] = .bool(wasConnected || document["connected"] == .bool(true))
    fields["targetContentIdentifier"] = nil
    if document["userActivity"] == nil { fields["openedContent"] = document["targetContentIdentifier"] }
    return .dictionary(fields)
  }
}
