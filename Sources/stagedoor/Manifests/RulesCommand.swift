import SceneModel
import ServiceSupport
import StagedoorKit
import TextRules

/// Lists the rules that the service asks, or checks files of rules.
enum RulesCommand {
  typealias Row = (name: String, file: String, line: Int, matches: UInt64)

  static let fields: [Field<Row>] = [
    Field("rule", .init(title: "RULE", minimum: 12), value: { .text($0.name) }),
    Field("file", .init(title: "FILE", minimum: 12, keepsEnd: true, rank: 1), value: { .text($0.file) }),
    Field("line", .init(title: "LINE"), value: { .integer(Int64($0.line)) }),
    Field("matches", .init(title: "MATCHES"), value: { .integer(Int64(clamping: $0.matches)) }),
  ]

  static func run(_ invocation: Invocation) async throws {
    if invocation.argument(0) != nil { return try check(invocation.arguments.dropFirst(), invocation) }
    let client = try await Client(invocation)
    let rules = try await client.stagedoor.rules()
    try Listing(invocation, fields).list(rules, orSay: "no rules; `man stagedoor` says where they belong")
    // The list has the version before a broken one.
    try Output.flush()
    var installed = GivenRules.installed
    for file in installed.read().broken {
      Output.note("stagedoor rules: \(file.path):\(file.complaints[0])".printable)
    }
  }

  private static func check(_ files: ArraySlice<String>, _ invocation: Invocation) throws {
    if files.isEmpty { throw Problem.usage("no file is named; `stagedoor doctor` checks the installed rules") }
    if invocation.has(.json) {
      throw Problem.usage("--json is for the list of rules; the faults of files are lines FILE:LINE:COLUMN")
    }
    let results = try files.map { try isGood($0, invocation) }
    if results.contains(false) { throw Status.failed }
  }

  /// Whether a file of rules has no fault. It prints each fault as a compiler would.
  static func isGood(_ path: String, _ invocation: Invocation) throws(Problem) -> Bool {
    let screen = invocation.screen
    let bytes: [UInt8]
    do throws(Problem) { bytes = try InputFile.read(path, limit: RuleLimits.file) } catch {
      Output.note("stagedoor \(invocation.command.name): \(error.sentence)")
      return false
    }
    func say(_ kind: String, _ fault: RuleFault, _ style: Style) throws(Problem) {
      try CheckCommand.say(kind, fault.reason, "\(path):\(fault.line):\(fault.column)", style, screen)
    }
    let file: RuleFile
    do throws(RuleFaults) { file = try RuleFile(bytes) } catch {
      for fault in error.all { try say("error", fault, .bad) }
      return false
    }
    for warning in file.warnings { try say("warning", warning, .waiting) }
    if file.warnings.isEmpty, !invocation.has(.quiet) {
      let rules = counted(file.rules.count, "rule", "rules")
      try Output.line("\(path.printable): \(screen.styled("good", .good)), \(rules)")
    }
    return true
  }
}
