import ServiceSupport

enum Completion {
  struct Candidate: Sendable {
    let value: String
    var meaning = ""
  }

  enum Offer: Sendable {
    case candidates([Candidate])
    case files, programs
    /// Words that the service knows. `before` is the beginning of the word, in front of them.
    case live(Live, before: String, application: String?)
  }

  /// - Parameters:
  ///   - words: the words after the program's name; the last is the word at the cursor.
  ///   - splits: the shell makes words of `--option`, `=` and the value, as bash does.
  static func offer(_ words: [String], splits: Bool) -> Offer {
    var words = (splits ? joined(words) : words)[...]
    let current = words.popLast() ?? ""
    while let word = words.first, word.hasPrefix("-") {
      words.removeFirst()
      if word == "--color" { _ = words.popFirst() }
    }
    guard let name = words.popFirst() else {
      if current.hasPrefix("-") { return .candidates(options(CommandTable.program.options)) }
      return .candidates(commands)
    }
    guard let command = CommandTable.command(name) else { return .candidates([]) }
    let application = value(of: Option.app.name, in: words) ?? words.first { !$0.hasPrefix("-") }

    if let (kind, before) = openValue(words, current, command) {
      // A shell that splits puts the words in the place of the value alone.
      return offer(kind, before: splits ? "" : before, application)
    }
    let areOptionsOver = words.contains("--")
    if current.hasPrefix("-"), !areOptionsOver { return .candidates(options(command.allOptions)) }
    let place = argumentCount(words, command)
    let argument = place < command.arguments.count ? command.arguments[place] : command.arguments.last { $0.isRepeated }
    guard let argument else { return .candidates(options(command.allOptions)) }
    return offer(argument.kind, before: "", application)
  }

  /// The words with `--option`, `=` and its value as one word again.
  private static func joined(_ words: [String]) -> [String] {
    words.reduce(into: []) { joined, word in
      if let last = joined.last, last.hasPrefix("--"), word == "=" || last.hasSuffix("=") {
        joined[joined.count - 1] += word
      } else {
        joined.append(word)
      }
    }
  }

  private static var commands: [Candidate] {
    CommandTable.visible.map { Candidate(value: $0.name, meaning: $0.summary) }
  }

  private static func options(_ options: [Option]) -> [Candidate] {
    options.map { Candidate(value: "--\($0.name)", meaning: $0.help) }
  }

  private static func offer(_ kind: ValueKind, before: String, _ application: String?) -> Offer {
    switch kind.completion {
    case .none: .candidates([])
    case .words(let words): .candidates(words.map { Candidate(value: before + $0) })
    case .files: .files
    case .programs: .programs
    case .own(let name):
      switch Live(rawValue: name) {
      case .commands?: .candidates(commands)
      case let live?: .live(live, before: before, application: application)
      case nil: .candidates([])
      }
    }
  }

  /// The kind of the value at the cursor if it belongs to an option, and the part of the word before the value.
  private static func openValue(
    _ words: ArraySlice<String>, _ current: String, _ command: CommandEntry
  ) -> (ValueKind, String)? {
    if current.hasPrefix("--"), let sign = current.firstIndex(of: "=") {
      return option(String(current[..<sign]), command)?.value.map { ($0, String(current[...sign])) }
    }
    return option(words.last, command)?.value.map { ($0, "") }
  }

  private static func option(_ word: String?, _ command: CommandEntry) -> Option? {
    guard let word, word.hasPrefix("-") else { return nil }
    return command.allOptions.first { option in
      word == "--\(option.name)" || option.letter.map { word == "-\($0)" } ?? false
    }
  }

  private static func argumentCount(_ words: ArraySlice<String>, _ command: CommandEntry) -> Int {
    var count = 0
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" { return count + rest.count }
      guard word.hasPrefix("-"), word != "-" else {
        count += 1
        continue
      }
      if option(word, command)?.value != nil { _ = rest.popFirst() }
    }
    return count
  }

  private static func value(of name: String, in words: ArraySlice<String>) -> String? {
    for (place, word) in zip(words.indices, words) {
      if word == "--\(name)" || word == "-a" { return place + 1 < words.endIndex ? words[place + 1] : nil }
      if word.hasPrefix("--\(name)=") { return String(word.dropFirst(name.utf8.count + 3)) }
    }
    return nil
  }
}
