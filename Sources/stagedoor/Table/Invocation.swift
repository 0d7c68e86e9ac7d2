import DBus

/// A valid command line.
struct Invocation: Sendable {
  let command: CommandEntry
  var arguments: [String] = []
  // A command line is short, and a dictionary would need code for types that nothing else uses.
  fileprivate var values: [(option: String, value: String)] = []
  /// The loop on which the command runs, once it runs.
  var loop: EventLoop?

  var screen: Screen { Screen(color: self[.color]) }

  init(_ command: CommandEntry) { self.command = command }

  mutating func set(_ option: OptionEntry, _ value: String) { values.append((option.name, value)) }

  func has(_ option: OptionEntry) -> Bool { values.contains { $0.option == option.name } }
  func all(_ option: OptionEntry) -> [String] { values.filter { $0.option == option.name }.map(\.value) }
  subscript(_ option: OptionEntry) -> String? { values.last { $0.option == option.name }?.value }
  /// The argument at a position; `nil` if it was not given.
  func argument(_ place: Int) -> String? { place < arguments.count ? arguments[place] : nil }
}

/// The result of reading a command line.
enum Parsed {
  case run(Invocation)
  /// The help of a command, or of the program, with the value of `--color`.
  case help(CommandEntry?, color: String?)
  /// No command was given.
  case nothing(color: String?)
  case version
}

extension CommandTable {
  /// Reads a command line, without the program's name.
  static func parse(_ words: [String]) throws(Problem) -> Parsed {
    var rest = words[...]
    var global: [(OptionEntry, String)] = []
    var color: String? { global.last { $0.0.name == OptionEntry.color.name }?.1 }
    while let word = rest.first, word.hasPrefix("-"), word.utf8.count > 1 {
      rest.removeFirst()
      switch word {
      case "-h", "--help": return .help(nil, color: color)
      case "-V", "--version": return .version
      default:
        guard let (option, value) = try parse(option: word, of: OptionEntry.common + [.version], &rest, "stagedoor")
        else {
          throw .usage("there is no option \(word.printable) in front of a command; see `stagedoor --help`")
        }
        global.append((option, value))
      }
    }
    guard let name = rest.popFirst() else { return .nothing(color: color) }
    guard let command = command(name) else {
      throw .usage(
        "there is no command \"\(name.printable)\"; "
          + (suggestion(name, visible.map(\.name)) ?? "`stagedoor --help` lists the commands"))
    }
    var invocation = Invocation(command)
    for (option, value) in global { invocation.set(option, value) }
    if command.isHidden {
      invocation.arguments = Array(rest)
      return .run(invocation)
    }
    return try parse(rest, for: command, &invocation)
  }

  private static func parse(
    _ words: ArraySlice<String>, for command: CommandEntry, _ invocation: inout Invocation
  ) throws(Problem) -> Parsed {
    var rest = words
    var areOptionsOver = false
    while let word = rest.popFirst() {
      if areOptionsOver || word == "-" || !word.hasPrefix("-") {
        invocation.arguments.append(word)
        continue
      }
      if word == "--" {
        areOptionsOver = true
        continue
      }
      if word.hasPrefix("--") {
        guard let (option, value) = try parse(option: word, of: command.allOptions, &rest, command.name) else {
          let name = "--" + word.dropFirst(2).prefix { $0 != "=" }
          throw .usage(
            "there is no option \(name.printable); "
              + (suggestion(name, command.allOptions.map { "--\($0.name)" })
                ?? "`stagedoor \(command.name) --help` lists the options"))
        }
        if option.name == OptionEntry.help.name { return .help(command, color: invocation[.color]) }
        invocation.set(option, value)
        continue
      }
      if try parse(letters: word, for: command, &rest, &invocation) { return .help(command, color: invocation[.color]) }
    }
    try refuseOptions(invocation)
    try refuseArguments(invocation)
    return .run(invocation)
  }

  /// Reads an option by its name; `nil` if no option has this name.
  private static func parse(
    option word: String, of options: [OptionEntry], _ rest: inout ArraySlice<String>, _ command: String
  ) throws(Problem) -> (OptionEntry, String)? {
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard word.hasPrefix("--"), let option = options.first(where: { $0.name == parts[0] }) else { return nil }
    guard let kind = option.value else {
      if parts.count > 1 {
        throw .usage("--\(option.name) takes no value; leave out \"=\(String(parts[1]).printable)\"")
      }
      return (option, "")
    }
    guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
      throw .usage("--\(option.name) needs a value: \(option.shown)")
    }
    if let complaint = kind.complaint(value) { throw .usage("--\(option.name) \(complaint)") }
    return (option, value)
  }

  /// Reads options by their letters. A word may have several; the last may take a value. Returns whether help was asked for.
  private static func parse(
    letters word: String, for command: CommandEntry, _ rest: inout ArraySlice<String>, _ invocation: inout Invocation
  ) throws(Problem) -> Bool {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = command.allOptions.first(where: { $0.letter == letter }) else {
        throw .usage(
          "there is no option -\(String(letter).printable); `stagedoor \(command.name) --help` lists the options"
        )
      }
      if option.name == OptionEntry.help.name { return true }
      guard let kind = option.value else {
        invocation.set(option, "")
        continue
      }
      guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
        throw .usage("-\(letter) needs a value: \(option.shown)")
      }
      if let complaint = kind.complaint(value) { throw .usage("-\(letter) \(complaint)") }
      invocation.set(option, value)
      return false
    }
    return false
  }

  private static func refuseOptions(_ invocation: Invocation) throws(Problem) {
    for (_, value) in invocation.values { try NotUTF8.refuse(value) }
    for option in invocation.command.options where !option.isRepeated && invocation.all(option).count > 1 {
      throw .usage("--\(option.name) is given twice; give it once")
    }
    for option in invocation.command.options where option.isRequired && !invocation.has(option) {
      throw .usage("--\(option.name) is missing: \(invocation.command.synopsis)")
    }
    for group in invocation.command.exclusive {
      let given = group.filter { invocation.has($0) }.map { "--\($0.name)" }
      if given.count > 1 { throw .usage("\(given.listed("and")) cannot go together; give one of them") }
    }
  }

  private static func refuseArguments(_ invocation: Invocation) throws(Problem) {
    let command = invocation.command
    let needed = command.arguments.filter { !$0.isOptional }
    if invocation.arguments.count < needed.count {
      let missing = needed[invocation.arguments.count].kind.placeholder
      throw .usage("\(missing) is missing: \(command.synopsis)")
    }
    let isOpen = command.arguments.last?.isRepeated ?? false
    if !isOpen, invocation.arguments.count > command.arguments.count {
      let extra = invocation.arguments[command.arguments.count]
      throw .usage("\"\(extra.printable)\" is one argument too many: \(command.synopsis)")
    }
    for (place, value) in invocation.arguments.enumerated() {
      let argument = command.arguments[min(place, command.arguments.count - 1)]
      if argument.kind.placeholder != ValueKind.files.placeholder { try NotUTF8.refuse(value) }
      if let complaint = argument.kind.complaint(value) { throw .usage("\(argument.kind.placeholder) \(complaint)") }
    }
  }

  // MARK: Suggestions

  static func command(_ name: String) -> CommandEntry? { all.first { $0.name == name } }
  static var visible: [CommandEntry] { all.filter { !$0.isHidden } }

  private static func suggestion(_ word: String, _ known: [String]) -> String? {
    let near = known.map { ($0, distance(word, $0)) }.min { $0.1 < $1.1 }
    guard let near, near.1 <= 1 + word.utf8.count / 4 else { return nil }
    return "did you mean \(near.0)?"
  }

  /// The number of letters to insert, remove or change to turn one word into the other.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one.utf8.prefix(64)), Array(other.utf8.prefix(64)))
    var row = Array(0...other.count)
    for (place, byte) in one.enumerated() {
      var diagonal = row[0]
      row[0] = place + 1
      for column in other.indices {
        let changed = diagonal + (byte == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}

extension CommandEntry {
  var synopsis: String {
    let required = options.filter(\.isRequired).map(\.shown)
    return (["stagedoor", name] + required + ["[OPTION]..."] + arguments.map(\.shown)).joined(separator: " ")
  }
}
