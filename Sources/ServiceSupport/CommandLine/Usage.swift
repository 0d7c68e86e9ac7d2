import SceneModel

/// What a program or a command takes. One reader reads the command lines of all programs by it, and help prints it, so they cannot disagree.
package struct Usage: Sendable {
  /// The words that call it: `stagedoor drop`.
  package let name: String
  package var arguments: [Argument]
  package var options: [Option]
  /// Groups of options that exclude each other.
  package var exclusive: [[Option]]

  package init(_ name: String, arguments: [Argument] = [], options: [Option] = [], exclusive: [[Option]] = []) {
    self.name = name
    self.arguments = arguments
    self.options = options
    self.exclusive = exclusive
  }

  package var synopsis: String {
    let required = options.filter(\.isRequired).map(\.shown)
    return ([name] + required + ["[OPTION]..."] + arguments.map(\.shown)).joined(separator: " ")
  }

  /// Reads a command line, without the words of the name.
  package func read(_ words: ArraySlice<String>) throws(Misuse) -> GivenWords {
    var rest = words
    var given = GivenWords()
    var areOptionsOver = false
    while let word = rest.first {
      if areOptionsOver || word == "-" || !word.hasPrefix("-") {
        given.arguments.append(word)
        rest.removeFirst()
      } else if word == "--" {
        areOptionsOver = true
        rest.removeFirst()
      } else {
        try readOption(&rest, &given)
        if given.ending != nil { return given }
      }
    }
    try refuseOptions(given)
    try refuseArguments(given.arguments)
    return given
  }

  /// Reads the options in front of the first other word, and takes them from the words.
  package func readOptions(before rest: inout ArraySlice<String>) throws(Misuse) -> GivenWords {
    var given = GivenWords()
    while let word = rest.first, word.hasPrefix("-"), word != "-", given.ending == nil { try readOption(&rest, &given) }
    return given
  }

  private func readOption(_ rest: inout ArraySlice<String>, _ given: inout GivenWords) throws(Misuse) {
    guard let word = rest.popFirst() else { return }
    guard word.hasPrefix("--") else { return try read(letters: word, &rest, &given) }
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let option = options.first(where: { $0.name == parts[0] }) else {
      let shown = "--\(parts[0])"
      throw Misuse(
        "there is no option \(shown.printable); "
          + (Suggestion.sentence(for: shown, among: options.map { "--\($0.name)" })
            ?? "`\(name) --help` lists the options"))
    }
    if option.value == nil, parts.count > 1 {
      throw Misuse("--\(option.name) takes no value; leave out \"=\(String(parts[1]).printable)\"")
    }
    try take(option, as: "--\(option.name)", parts.count > 1 ? String(parts[1]) : nil, &rest, &given)
  }

  /// Takes an option with its value, which is in the same word or is the next one.
  private func take(
    _ option: Option, as shown: String, _ glued: String?, _ rest: inout ArraySlice<String>, _ given: inout GivenWords
  ) throws(Misuse) {
    guard let kind = option.value else { return given.set(option, "") }
    guard let value = glued ?? rest.popFirst() else { throw Misuse("\(shown) needs a value: \(option.shown)") }
    if let complaint = kind.complaint(value) { throw Misuse("\(shown) \(complaint)") }
    given.set(option, value)
  }

  /// Reads options by their letters. A word may have several; the last may take a value.
  private func read(letters word: String, _ rest: inout ArraySlice<String>, _ given: inout GivenWords) throws(Misuse) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst(), given.ending == nil {
      guard let option = options.first(where: { $0.letter == letter }) else {
        throw Misuse("there is no option -\(String(letter).printable); `\(name) --help` lists the options")
      }
      try take(option, as: "-\(letter)", letters.isEmpty ? nil : String(letters), &rest, &given)
      if option.value != nil { return }
    }
  }

  private func refuseOptions(_ given: GivenWords) throws(Misuse) {
    for option in options where !option.isRepeated && given.all(option).count > 1 {
      throw Misuse("--\(option.name) is given twice; give it once")
    }
    for option in options where option.isRequired && !given.has(option) {
      throw Misuse("--\(option.name) is missing: \(synopsis)")
    }
    for group in exclusive {
      let both = group.filter { given.has($0) }.map { "--\($0.name)" }
      if both.count > 1 { throw Misuse("\(both.listed("and")) cannot go together; give one of them") }
    }
  }

  private func refuseArguments(_ given: [String]) throws(Misuse) {
    let needed = arguments.filter { !$0.isOptional }
    if given.count < needed.count { throw Misuse("\(needed[given.count].kind.placeholder) is missing: \(synopsis)") }
    if !(arguments.last?.isRepeated ?? false), given.count > arguments.count {
      throw Misuse("\"\(given[arguments.count].printable)\" is one argument too many: \(synopsis)")
    }
    for (place, value) in given.enumerated() {
      let kind = arguments[min(place, arguments.count - 1)].kind
      if let complaint = kind.complaint(value) { throw Misuse("\(kind.placeholder) \(complaint)") }
    }
  }
}

package struct GivenWords: Sendable {
  package fileprivate(set) var arguments: [String] = []
  // A command line is short, and a dictionary would need code for types that nothing else uses.
  private var values: [(option: String, value: String)] = []
  /// The option that asks for help or the version. What stands behind it was not read.
  package private(set) var ending: Option?

  fileprivate mutating func set(_ option: Option, _ value: String) {
    values.append((option.name, value))
    if option.endsReading { ending = option }
  }

  package mutating func replace(_ option: Option, with value: String) {
    values.removeAll { $0.option == option.name }
    values.append((option.name, value))
  }

  package mutating func add(_ others: GivenWords) { values = others.values + values }

  package func has(_ option: Option) -> Bool { values.contains { $0.option == option.name } }
  package func all(_ option: Option) -> [String] { values.filter { $0.option == option.name }.map(\.value) }
  package subscript(_ option: Option) -> String? { values.last { $0.option == option.name }?.value }
  package var allValues: [String] { values.map(\.value) }
}

/// The fault of a command line, in one sentence without a full stop.
package struct Misuse: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

package enum Suggestion {
  /// "did you mean --target?"; `nil` if no word is near.
  package static func sentence(for word: String, among known: [String]) -> String? {
    let nearest = known.map { (word: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    guard let nearest, nearest.distance <= 1 + word.utf8.count / 4 else { return nil }
    return "did you mean \(nearest.word)?"
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
