import SceneModel
import SceneRouting
import ServiceSupport

/// Makes recorded decisions again, with the present manifests.
enum TestCommand {
  static func run(_ invocation: Invocation) async throws -> Status {
    let manifests = try manifests(invocation.all(.manifests))
    let screen = invocation.screen
    var (passed, failed) = (0, 0)
    for path in invocation.arguments {
      var cases = try Recording.cases(in: path)
      for (number, single) in cases.enumerated() {
        let name = single["name"]?.string ?? "case \(number + 1)"
        let made: Value
        do throws(Fault) { made = try decision(of: single, manifests) } catch {
          throw Problem.failed("\(path.printable): cases[\(number)]: \(error)")
        }
        let differences = Difference.all(single["decision"] ?? .null, made)
        if differences.isEmpty {
          passed += 1
          if !invocation.has(.quiet) { try Output.line("\(screen.styled("same", .good))     \(name.printable)") }
          continue
        }
        failed += 1
        try Output.line("\(screen.styled("differs", .bad))  \(name.printable)")
        for difference in differences { try Output.line("           \(difference.printable)") }
        cases[number] = single.adding("decision", made)
      }
      if invocation.has(.update) { try Recording.write(cases, to: path) }
    }
    if !invocation.has(.quiet) {
      try Output.line("\(passed) as recorded, \(failed) \(invocation.has(.update) ? "updated" : "different")")
    }
    return failed == 0 || invocation.has(.update) ? .done : .failed
  }

  private static func manifests(_ paths: [String]) throws(Problem) -> [Manifest] {
    if !paths.isEmpty {
      var all: [Manifest] = []
      for path in paths {
        switch try ManifestFile(path).parsed {
        case .success(let manifest): all.append(manifest)
        case .failure(let faults): throw .failed("\(path.printable): \(faults.all[0])")
        }
      }
      return all
    }
    return ManifestFile.installed.read().found.values.map(\.manifest)
  }

  private static func decision(of single: Value, _ manifests: [Manifest]) throws(Fault) -> Value {
    let rules = ReadingRules(types: ManifestFile.types)
    func text(_ key: String) throws(Fault) -> Text {
      guard let value = single[key] else { throw .expected("a key \"\(key)\"", at: .document) }
      return JSON.text(of: value)
    }
    var state = State(types: ManifestFile.types, isComplete: true)
    for manifest in manifests { state.register(manifest) }
    for session in single["sessions"]?.elements ?? [] {
      state.update(try Session(json: JSON.text(of: session), rules))
    }
    if case .dictionary(let preferences)? = single["preferences"] {
      for entry in preferences.entries {
        state.setPreferredApplication(entry.value.string.map { Text($0) }, for: entry.key)
      }
    }
    guard let now = single["time"]?.string.flatMap({ Instant(rfc3339: Text($0)) }) else {
      throw .expected("a key \"time\" with an RFC 3339 date", at: .document)
    }
    let payload = try Payload(json: try text("payload"), rules)
    let request = Request(payload, newSession: UniqueIdentifier(high: 0, low: 0), listsCandidates: true)
    guard case .decided(let decision) = decide(state, request, at: now) else {
      preconditionFailure("a state that is complete needs nothing")
    }
    return try JSON.value(decision.json)
  }
}

/// The differences between two decisions. Reasons are not compared: they are sentences for people, and a new version may word them better.
private enum Difference {
  static func all(_ recorded: Value, _ made: Value) -> [String] { all(compared(recorded), compared(made), at: "") }

  private static func all(_ recorded: Value, _ made: Value, at place: String) -> [String] {
    switch (recorded, made) {
    case (.dictionary(let one), .dictionary(let other)):
      let keys = Set(one.entries.map(\.key.string) + other.entries.map(\.key.string))
      return keys.sorted().flatMap { key in
        all(one[Text(key)] ?? .null, other[Text(key)] ?? .null, at: place.isEmpty ? key : "\(place).\(key)")
      }
    case (.array(let one), .array(let other)) where one.count == other.count:
      return one.indices.flatMap { all(one[$0], other[$0], at: "\(place)[\($0)]") }
    case (.array(let one), .array(let other)):
      return other.difference(from: one).map { change in
        switch change {
        case .remove(let number, let element, _):
          "\(place)[\(number)]: \(shown(element)) was recorded, and is not there now"
        case .insert(let number, let element, _):
          "\(place)[\(number)]: \(shown(element)) is there now, and was not recorded"
        }
      }
    case _ where recorded == made: return []
    default: return ["\(place): \(shown(recorded)) was recorded, and now it is \(shown(made))"]
    }
  }

  /// The value without the parts that are not compared.
  private static func compared(_ value: Value) -> Value {
    switch value {
    case .dictionary(let fields):
      Printed.object(
        fields.entries.filter { !["because", "message", "path"].contains($0.key.string) }
          .map { ($0.key.string, compared($0.value)) })
    case .array(let elements): .array(elements.map(compared))
    default: value
    }
  }

  private static func shown(_ value: Value) -> String { value == .null ? "nothing" : Printed.shown(value) }
}
