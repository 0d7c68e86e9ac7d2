import SceneModel
import ServiceSupport
import TextRules

/// Makes recorded decisions again, with the present manifests.
enum TestCommand {
  struct Result: Sendable {
    let file: String
    let name: String
    let differences: [String]
    let isUpdated: Bool

    var word: String { differences.isEmpty ? "same" : isUpdated ? "updated" : "differs" }
  }

  private static let fields: [Field<Result>] = [
    Field("file", value: { .text($0.file) }), Field("name", value: { .text($0.name) }),
    Field("result", value: { .text($0.word) }),
    Field("differences", value: { $0.differences.isEmpty ? nil : .texts($0.differences) }),
  ]

  static func run(_ invocation: Invocation) async throws {
    let manifests = try ManifestFile.manifests(invocation).all
    let rules = try GivenRules.all(invocation)
    var results: [Result] = []
    for path in invocation.arguments {
      var cases = try Recording.cases(in: path)
      if cases.isEmpty { throw Problem.failed("\(path.printable): there is no case in it") }
      for (number, single) in cases.enumerated() {
        let made: Value
        do throws(Fault) { made = try decision(of: single, manifests, rules) } catch {
          throw Problem.failed("\(path.printable): cases[\(number)]: \(error)")
        }
        let differences = Difference.all(single["decision"] ?? .null, made)
        if !differences.isEmpty, invocation.has(.update) {
          cases[number] = Recording.updated(single, made, among: cases)
        }
        results.append(
          Result(
            file: path, name: cases[number]["name"]?.string ?? "case \(number + 1)", differences: differences,
            isUpdated: invocation.has(.update)))
      }
      if invocation.has(.update) { try Recording.write(cases, to: path) }
    }
    if invocation[.junit] == "-" {
      try Output.write(JUnit.document(results))
    } else {
      if let path = invocation[.junit] { try OutputFile.write(Array(JUnit.document(results).utf8), to: path) }
      try print(results, invocation)
    }
    if results.contains(where: { $0.word == "differs" }) { throw Status.failed }
  }

  private static func print(_ results: [Result], _ invocation: Invocation) throws(Problem) {
    if invocation.has(.json) { return try Listing(invocation, fields).list(results, orSay: "") }
    let screen = invocation.screen
    for result in results where !result.differences.isEmpty || !invocation.has(.quiet) {
      let style: Style = result.differences.isEmpty ? .good : .bad
      try Output.line("\(screen.styled(result.word.padded(7), style))  \(result.name.printable)")
      for difference in result.differences { try Output.line("         \(difference.printable)") }
    }
    let failed = results.count { !$0.differences.isEmpty }
    if invocation.has(.quiet) { return }
    try Output.line(
      "\(results.count - failed) as recorded, \(failed) \(invocation.has(.update) ? "updated" : "different")")
  }

  private static func decision(of single: Value, _ manifests: [Manifest], _ rules: RuleSet) throws(Fault) -> Value {
    guard let payload = single["payload"] else { throw .expected("a key \"payload\"", at: .document) }
    guard let time = single["time"]?.string.flatMap({ Instant(rfc3339: Text($0)) }) else {
      throw .expected("a key \"time\" with an RFC 3339 date", at: .document)
    }
    var preferences = UserInfo()
    if case .dictionary(let fields)? = single["preferences"] { preferences = fields }
    let world = Recording.World(
      sessions: single["sessions"]?.elements ?? [], preferences: preferences, disk: Disk(single["disk"]))
    return try Recording.decide(payload, world, at: time, manifests, rules)
  }
}

private enum JUnit {
  static func document(_ results: [TestCommand.Result]) -> String {
    let failures = results.count { $0.word == "differs" }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuite name=\"stagedoor test\" tests=\"\(results.count)\" failures=\"\(failures)\">\n"
    for result in results {
      text += "  <testcase classname=\"\(escaped(result.file))\" name=\"\(escaped(result.name))\""
      if result.word == "differs" {
        let lines = result.differences.map(escaped).joined(separator: "\n")
        text +=
          ">\n    <failure message=\"\(counted(result.differences.count, "difference", "differences"))\">\(lines)</failure>\n  </testcase>\n"
      } else {
        text += "/>\n"
      }
    }
    return text + "</testsuite>\n"
  }

  private static func escaped(_ text: String) -> String { PropertyList.escapedForXML(text.printable) }
}

/// The differences between two decisions. Reasons are not compared: they are sentences for people, and a new version may word them better.
private enum Difference {
  static func all(_ recorded: Value, _ made: Value) -> [String] {
    let recorded = compared(recorded)
    var made = compared(made)
    // Earlier versions did not record the payload of a rule.
    if let rule = made["rule"], recorded["rule"]?["payload"] == nil, let name = rule["name"] {
      made = made.adding("rule", Printed.object([("name", name)]))
    }
    return all(recorded, made, at: "")
  }

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
          "\(place)[\(number)]: \(shown(element)) was recorded, and is missing now"
        case .insert(let number, let element, _):
          "\(place)[\(number)]: \(shown(element)) is new, and was not recorded"
        }
      }
    case _ where recorded == made: return []
    default: return ["\(place): \(shown(recorded)) was recorded, and now it is \(shown(made))"]
    }
  }

  /// The value without the parts that are not compared: reasons, and the places of rules, which differ from machine to machine.
  private static func compared(_ value: Value) -> Value {
    switch value {
    case .dictionary(let fields):
      Printed.object(
        fields.entries.filter { !["because", "message", "path", "file", "line", "rules"].contains($0.key.string) }
          .map { ($0.key.string, $0.key.string == "payload" ? $0.value : compared($0.value)) })
    case .array(let elements): .array(elements.map(compared))
    default: value
    }
  }

  private static func shown(_ value: Value) -> String { value == .null ? "nothing" : Printed.shown(value) }
}
