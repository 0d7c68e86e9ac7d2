/// A command in the table. Parsing, help, the manual and the completions all use these rows, so they cannot disagree.
struct CommandEntry: Sendable {
  /// The typed name.
  let name: String
  let group: Group
  /// One line, without a full stop.
  let summary: String
  /// Paragraphs.
  let description: [String]
  var arguments: [ArgumentEntry] = []
  var options: [OptionEntry] = []
  /// Groups of options that exclude each other.
  var exclusive: [[OptionEntry]] = []
  var examples: [Example] = []
  /// Its exit statuses in addition to 0, 1, 2 and, for commands that ask the service, 3 and 4.
  var statuses: [Status] = []
  /// Whether it works without a bus.
  var isLocal = false
  /// Whether it is for shells only, and left out of the help.
  var isHidden = false
  /// Whether it runs on the main actor.
  var isMain = false
  let run: @Sendable (Invocation) async throws -> Status

  /// The sections of the help.
  enum Group: String, CaseIterable, Sendable {
    case handingIn = "Hand something in"
    case windows = "Windows"
    case deliveries = "Deliveries"
    case applications = "Applications"
    case help = "Help"
  }

  struct Example: Sendable {
    let purpose: String
    let line: String
  }

  /// The options of this command, and those of every command.
  var allOptions: [OptionEntry] { options + OptionEntry.common }
}

/// An argument that belongs to no option.
struct ArgumentEntry: Sendable {
  let kind: ValueKind
  let help: String
  var isOptional = false
  /// Whether it is the last, and may be given several times.
  var isRepeated = false

  /// The argument in a synopsis: `[FILE]...`.
  var shown: String {
    (isOptional ? "[\(kind.placeholder)]" : kind.placeholder) + (isRepeated ? "..." : "")
  }
}

/// An option. Commands for which it means the same share the row.
struct OptionEntry: Sendable {
  /// The name without its two hyphens.
  let name: String
  var letter: Character?
  /// `nil` for an option without a value.
  var value: ValueKind?
  let help: String
  /// Whether it may be given several times.
  var isRepeated = false
  /// Whether the command needs it.
  var isRequired = false

  var shown: String { value.map { "--\(name) \($0.placeholder)" } ?? "--\(name)" }
}

/// A kind of value: its name in the help, the values that exist, and how a shell completes them.
struct ValueKind: Sendable {
  let placeholder: String
  var completion = Completion.none
  /// The fault of a value, as the end of a sentence; `nil` for a valid value.
  var complaint: @Sendable (String) -> String? = { _ in nil }

  enum Completion: Sendable {
    case none
    case words([String])
    case files
    case programs
    case commands
    /// Values that the service knows at the moment.
    case live(Live)
  }

  enum Live: Sendable {
    case applications, sessions, deliveries, heldDeliveries, anything, activityTypes, types, configurations
  }
}

extension ValueKind {
  static func words(_ placeholder: String, _ words: String...) -> ValueKind {
    ValueKind(placeholder: placeholder, completion: .words(words)) { value in
      words.contains(value) ? nil : "must be \(words.listed("or")), not \"\(value.printable)\""
    }
  }

  /// An identifier that may be shortened, but not to an empty text: every identifier begins with that.
  private static func identifier(_ placeholder: String, _ live: Live) -> ValueKind {
    ValueKind(placeholder: placeholder, completion: .live(live)) { value in
      value.isEmpty ? "takes an identifier, not \"\"" : nil
    }
  }

  static let text = ValueKind(placeholder: "TEXT")
  static let key = ValueKind(placeholder: "ID")
  static let name = ValueKind(placeholder: "NAME")
  static let token = ValueKind(placeholder: "TOKEN") { value in value.isEmpty ? "takes a text, not \"\"" : nil }
  static let file = ValueKind(placeholder: "FILE", completion: .files)
  static let files = ValueKind(placeholder: "FILE|-", completion: .files)
  static let manifest = ValueKind(placeholder: "MANIFEST", completion: .files)
  static let cases = ValueKind(placeholder: "CASES", completion: .files)
  static let application = identifier("APP", .applications)
  static let session = identifier("SESSION", .sessions)
  static let delivery = identifier("DELIVERY", .deliveries)
  static let heldDelivery = identifier("DELIVERY", .heldDeliveries)
  static let anything = identifier("ID", .anything)
  static let activityType = ValueKind(placeholder: "TYPE", completion: .live(.activityTypes))
  static let type = ValueKind(placeholder: "TYPE", completion: .live(.types))
  static let configuration = ValueKind(placeholder: "CONFIGURATION", completion: .live(.configurations))
  static let contentType = ValueKind(placeholder: "MIME-TYPE")
  static let url = ValueKind(placeholder: "URL")
  static let pair = ValueKind(placeholder: "KEY=VALUE") { value in
    value.hasPrefix("=") || !value.utf8.contains(UInt8(ascii: "="))
      ? "takes KEY=VALUE, not \"\(value.printable)\"" : nil
  }
  static let seconds = ValueKind(placeholder: "SECONDS") { value in
    if let seconds = Double(value), seconds > 0, seconds <= 3600 { return nil }
    return "takes a number of seconds above 0, up to 3600, not \"\(value.printable)\""
  }
  static let number = ValueKind(placeholder: "NUMBER") { value in
    UInt64(value) == nil ? "takes a whole number of 0 or more, not \"\(value.printable)\"" : nil
  }
  static let count = ValueKind(placeholder: "COUNT") { value in
    if let count = UInt32(value), count > 0 { return nil }
    return "takes a whole number of 1 or more, not \"\(value.printable)\""
  }
  static let shellCommand = ValueKind(placeholder: "COMMAND", completion: .programs)
  static let commandName = ValueKind(placeholder: "COMMAND", completion: .commands)
}

/// The exit status of the program.
enum Status: Int32, CaseIterable, Sendable {
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
