import SceneModel
import ServiceSupport
import StagedoorKit
import TextRules

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
    let place = "\(Directories.userConfiguration() ?? "~/.config")/stagedoor/rules"
    try Listing(invocation, fields).list(rules, orSay: "no rules; yours belong in \(place)")
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
    try CheckCommand.check(files, areRules: true, invocation)
  }
}
