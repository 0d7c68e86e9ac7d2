import ServiceSupport

/// A command line with placeholders. A filled-in value is one argument, whatever it contains: no shell reads it.
struct CommandTemplate: Sendable {
  private let words: [String]

  init(_ text: String, _ option: String) throws(Problem) {
    guard let words = CommandWords.words(of: text), let program = words.first else {
      throw .usage(
        "--\(option) takes a command; a quote in \"\(text.printable)\" is not closed, or there is nothing in it")
    }
    if let place = CommandTemplate.place(in: program) {
      throw .usage("--\(option) begins with a program; \(place) can only be one of its arguments")
    }
    for (before, word) in zip([""] + words, words) where before != "-c" && !word.contains(where: \.isWhitespace) {
      if let unknown = CommandTemplate.unknown(in: word) {
        throw .usage(
          "--\(option): there is no \(unknown.printable); there are {title}, {target}, {type}, {session}, {file} and {info.KEY}"
        )
      }
    }
    for (before, word) in zip(words, words.dropFirst()) {
      guard let place = CommandTemplate.place(in: word), before == "-c" || word.contains(where: \.isWhitespace) else {
        continue
      }
      throw .usage(
        "--\(option): a shell would run what \(place) stands for; give it as an argument of the script, which calls it \"$1\": sh -c '…' sh \(place)"
      )
    }
    self.words = words
  }

  /// Whether the command takes the files of a delivery.
  var takesFiles: Bool { words.contains { $0.contains("{file}") } }

  /// A word `{file}` becomes an argument for each file, and disappears without files. An unknown value becomes an empty text.
  func filled(_ values: [String: String], files: [String]) -> [String] {
    words.flatMap { word -> [String] in
      if word == "{file}" { return files }
      return [CommandTemplate.fill(word) { $0 == "file" ? files.first ?? "" : values[$0] ?? "" }]
    }
  }

  /// The first placeholder in a word, with its braces.
  private static func place(in word: String) -> String? {
    var first: String?
    _ = fill(word) { name in
      first = first ?? "{\(name)}"
      return ""
    }
    return first
  }

  /// A name in braces that is no placeholder. In a script, or around other characters than letters, the braces belong to the command.
  private static func unknown(in word: String) -> String? {
    var rest = word[...]
    while let open = rest.firstIndex(of: "{") {
      rest = rest[rest.index(after: open)...]
      let name = rest.prefix { $0.isASCII && ($0.isLetter || $0 == ".") }
      if !name.isEmpty, rest[name.endIndex...].first == "}", !isPlace(String(name)) { return "{\(name)}" }
    }
    return nil
  }

  private static func isPlace(_ name: String) -> Bool {
    ["title", "target", "file", "session", "type"].contains(name) || name.hasPrefix("info.")
  }

  private static func fill(_ word: String, _ value: (String) -> String) -> String {
    var filled = ""
    var rest = word[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      filled += rest[..<open] + (isPlace(name) ? value(name) : String(rest[open...close]))
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }
}
