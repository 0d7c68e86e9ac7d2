import ServiceSupport

/// A command in the table. Parsing, help, the manual and the completions all use these rows, so they cannot disagree.
struct CommandEntry: Sendable {
  let name: String
  /// One line, without a full stop.
  let summary: String
  /// Returns when all is done. A ``Status`` that it throws ends the program without a word, because the command has said what is wrong.
  let run: @Sendable (Invocation) async throws -> Void
  var description: [String] = []
  var arguments: [Argument] = []
  var options: [Option] = []
  /// Groups of options that exclude each other.
  var exclusive: [[Option]] = []
  /// Lines to type, each behind its purpose.
  var examples: KeyValuePairs<String, String> = [:]
  /// Its exit statuses in addition to 0, 1, 2 and, for commands that ask the service, 3 and 4.
  var statuses: [Status] = []
  /// Whether it works without a bus.
  var isLocal = false
  /// Whether it is for shells only, and left out of the help.
  var isHidden = false
  /// Whether it runs on the main actor.
  var isMain = false

  /// The options of this command, and those of every command.
  var allOptions: [Option] { options + Option.common }

  var usage: Usage {
    Usage(
      "stagedoor \(name)", arguments: arguments, options: allOptions,
      exclusive: exclusive + [[.json, .print(), .quiet].filter { one in options.contains { $0.name == one.name } }])
  }

  var allStatuses: [Status] {
    let all = Set(statuses + [.done, .failed, .usage] + (isLocal ? [] : [.noService, .refused]))
    return Status.allCases.filter { all.contains($0) }
  }

  func help(_ screen: Screen) -> String {
    var page = HelpPage(usage.synopsis, screen)
    page.paragraph(summary.capitalizedStart + ".")
    for paragraph in description { page.paragraph(paragraph) }
    page.arguments(arguments)
    page.options(allOptions)
    if !examples.isEmpty {
      page.heading("Examples")
      for (purpose, line) in examples { page.example(purpose, line) }
    }
    page.statuses(allStatuses.map { ($0.rawValue, $0.meaning) })
    return page.text
  }
}

extension Argument {
  static func one(_ kind: ValueKind, _ help: String) -> Argument { Argument(kind: kind, help: help) }
  static func optional(_ kind: ValueKind, _ help: String) -> Argument {
    Argument(kind: kind, help: help, isOptional: true)
  }
  static func several(_ kind: ValueKind, _ help: String) -> Argument {
    Argument(kind: kind, help: help, isRepeated: true)
  }
  static func any(_ kind: ValueKind, _ help: String) -> Argument {
    Argument(kind: kind, help: help, isOptional: true, isRepeated: true)
  }
}

/// Values that the service, or the table, knows at the moment.
enum Live: String, Sendable {
  case applications, sessions, deliveries, cancellableDeliveries, anything, activityTypes, types, configurations,
    commands
}

extension ValueKind.Completion {
  static func live(_ live: Live) -> Self { .own(live.rawValue) }
}

extension ValueKind {
  /// An identifier that may be shortened, but not to an empty text: every identifier begins with that.
  private static func identifier(_ placeholder: String, _ live: Live) -> ValueKind {
    ValueKind(placeholder: placeholder, completion: .live(live)) { value in
      value.isEmpty ? "takes an identifier, not \"\"" : nil
    }
  }

  static let text = ValueKind(placeholder: "TEXT")
  static let key = ValueKind(placeholder: "ID")
  static let name = ValueKind.nonempty("NAME")
  static let token = ValueKind.nonempty("TOKEN")
  static let file = ValueKind(placeholder: "FILE", completion: .files)
  static let files = ValueKind(placeholder: "FILE|-", completion: .files)
  static let openable = ValueKind(placeholder: "FILE|URL", completion: .files)
  static let manifest = ValueKind(placeholder: "MANIFEST", completion: .files)
  static let directory = ValueKind(placeholder: "DIR", completion: .files)
  static let rules = ValueKind(placeholder: "RULES", completion: .files)
  static let cases = ValueKind(placeholder: "CASES", completion: .files)
  static let application = identifier("APP", .applications)
  static let session = identifier("SESSION", .sessions)
  static let delivery = identifier("DELIVERY", .deliveries)
  static let cancellableDelivery = identifier("DELIVERY", .cancellableDeliveries)
  static let anything = identifier("ID", .anything)
  static let activityType = ValueKind(placeholder: "TYPE", completion: .live(.activityTypes))
  static let type = ValueKind(placeholder: "TYPE", completion: .live(.types))
  static let configuration = ValueKind(placeholder: "CONFIGURATION", completion: .live(.configurations))
  static let contentType = ValueKind(placeholder: "MIME-TYPE")
  static let url = ValueKind(placeholder: "URL")
  static let pair = pair("KEY=VALUE")
  static let definition = pair("NAME=VALUE")
  private static func pair(_ placeholder: String) -> ValueKind {
    ValueKind(placeholder: placeholder) { value in
      value.hasPrefix("=") || !value.utf8.contains(UInt8(ascii: "="))
        ? "takes \(placeholder), not \"\(value.printable)\"" : nil
    }
  }
  static let seconds = ValueKind(placeholder: "SECONDS") { value in
    if let seconds = Double(value), seconds > 0, seconds <= 3600 { return nil }
    return "takes a number of seconds above 0, up to 3600, not \"\(value.printable)\""
  }
  static let number = ValueKind.number("NUMBER")
  static let count = ValueKind.number("COUNT", from: 1, to: UInt64(UInt32.max))
  static let shellCommand = ValueKind(placeholder: "COMMAND", completion: .programs)
  static let commandName = ValueKind(placeholder: "COMMAND", completion: .live(.commands))
}

enum Status: Int32, CaseIterable, Error {
  case done = 0
  case failed = 1
  case usage = 2
  case noService = 3
  case refused = 4
  case notInTime = 5
  case applicationFailed = 6
  case cancelled = 7

  var meaning: String {
    switch self {
    case .done: "done"
    case .failed: "something is wrong on this side: a file, a manifest, a case, the output, the installation"
    case .usage: "the command line is invalid"
    case .noService: "no service, no bus, or no answer"
    case .refused: "the service refused it"
    case .notInTime: "the application did not take it in time"
    case .applicationFailed: "the application refused it, or could not be started"
    case .cancelled: "somebody cancelled it"
    }
  }
}
