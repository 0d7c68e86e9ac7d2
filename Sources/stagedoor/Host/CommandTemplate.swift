import SceneModel
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
    if let (place, reader) = CommandTemplate.placeInScript(of: words) {
      throw .usage(
        "--\(option): \(reader.printable) would run the value of \(place); give it as an argument of a script, which calls it \"$1\": sh -c '…' sh \(place); or read $\(CommandTemplate.name(ofKey: String(place.dropFirst().dropLast()))) in the script"
      )
    }
    self.words = words
  }

  /// Refuses a program that is not there, or may not be executed.
  func refuseMissingProgram() throws(Problem) {
    if Environment.program(words[0]) == nil { throw .failed("\(words[0].printable): \(InputFile.reason)") }
  }

  /// Whether the command takes the files of a delivery.
  var takesFiles: Bool { words.contains { $0.contains("{file}") || $0.contains("STAGEDOOR_FILE") } }

  /// A word `{file}` becomes an argument for each file, and disappears without files. An unknown value becomes an empty text.
  func filled(_ values: [String: String], files: [String]) -> [String] {
    words.flatMap { word -> [String] in
      if word == "{file}" { return files }
      return [CommandTemplate.fill(word) { $0 == "file" ? files.first ?? "" : values[$0] ?? "" }]
    }
  }

  /// The same values as variables of the command's environment, which a script may read without knowing their place. The kernel starts no program
  /// with a variable of more than 128 KiB, so long values are left out, as are keys that cannot be names of variables.
  static func variables(_ values: [String: String], files: [String]) -> [String] {
    var values = values
    values["file"] = files.first
    return values.compactMap { key, value in
      let name = name(ofKey: key)
      let isName = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || MIMESyntax.isLetterOrDigit($0) }
      return isName && value.utf8.count <= 64 << 10 ? "\(name)=\(value)" : nil
    }
  }

  /// The variable with the value of a placeholder: `STAGEDOOR_TITLE`, `STAGEDOOR_INFO_zoom`.
  private static func name(ofKey key: String) -> String {
    "STAGEDOOR_" + (key.hasPrefix("info.") ? "INFO_" + key.dropFirst(5) : key.uppercased())
  }

  // MARK: Programs that run a text

  /// A program that runs a text from its command line.
  private struct Reader {
    let names: Set<String>
    /// The letters of the options that a text follows; a word may have several letters.
    var letters = ""
    /// Whole options that a text follows.
    var options: [String] = []
    /// Whether all its later arguments are the text.
    var runsAll = false
  }

  private static let readers = [
    Reader(
      names: ["sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "tcsh", "yash", "zsh"],
      letters: "cC", options: ["--command", "--init-command"]),
    Reader(names: ["su", "runuser", "script", "flock"], letters: "c", options: ["--command", "--session-command"]),
    Reader(names: ["python", "pypy", "gjs", "guile", "expect"], letters: "c", options: ["--command"]),
    Reader(
      names: ["perl", "ruby", "lua", "luajit", "node", "nodejs", "bun", "php", "osascript", "Rscript", "sed"],
      letters: "eEpr", options: ["--eval", "--print", "--run", "--expression"]),
    // A terminal gives a single word after this to a shell.
    Reader(
      names: ["xterm", "uxterm", "urxvt", "rxvt", "st", "konsole", "x-terminal-emulator", "alacritty", "lxterminal"],
      options: ["-e"]),
    Reader(names: ["env"], letters: "S", options: ["--split-string"]),
    Reader(names: ["eval", "ssh", "watch", "parallel"], runsAll: true),
  ]

  /// The first placeholder in a text that a program of the command would run, and that program. This finds mistakes: a program may give its arguments
  /// to a shell in ways that nobody can know.
  private static func placeInScript(of words: [String]) -> (place: String, reader: String)? {
    for (place, word) in zip(words.indices, words) {
      let rest = words[(place + 1)...]
      // A word with blanks and a placeholder is a text for a shell.
      if word.contains(where: \.isWhitespace), let found = self.place(in: word) { return (found, "a shell") }
      if word == "-c", let found = rest.first.flatMap({ self.place(in: $0) }) { return (found, "a shell") }
      guard let reader = readers.first(where: { $0.names.contains(program(word)) }) else { continue }
      if reader.runsAll {
        if let found = rest.lazy.compactMap({ self.place(in: $0) }).first { return (found, word) }
      } else if let found = script(of: rest, reader) {
        return (found, word)
      }
    }
    return nil
  }

  /// The placeholder in the script that an option of the program names.
  private static func script(of words: ArraySlice<String>, _ reader: Reader) -> String? {
    for (place, word) in zip(words.indices, words) where word.hasPrefix("-") || word.hasPrefix("+") {
      guard
        reader.options.contains(where: { word == $0 || word.hasPrefix($0 + "=") })
          || !word.hasPrefix("--") && word.contains(where: { reader.letters.contains($0) })
      else { continue }
      if let glued = self.place(in: word) { return glued }
      // Further options may stand before the script. `env -S` puts the later arguments behind its own.
      let later = words[(place + 1)...].drop { $0.hasPrefix("-") || $0.hasPrefix("+") }
      let script = reader.letters == "S" ? later : later.prefix(1)
      if let found = script.lazy.compactMap({ self.place(in: $0) }).first { return found }
    }
    return nil
  }

  /// The name of a program, without its directories and the number of its version: `python` of `/usr/bin/python3.11`.
  private static func program(_ word: String) -> String {
    var name = word.split(separator: "/").last.map(String.init) ?? ""
    while let last = name.last, last.isNumber || last == "." { name.removeLast() }
    return name
  }

  // MARK: Placeholders

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
    // Braces of the command may stand around a placeholder: {"title":{title}}.
    while let close = rest.firstIndex(of: "}") {
      guard let open = rest[..<close].lastIndex(of: "{") else {
        filled += rest[...close]
        rest = rest[rest.index(after: close)...]
        continue
      }
      let name = String(rest[rest.index(after: open)..<close])
      filled += rest[..<open] + (isPlace(name) ? value(name) : String(rest[open...close]))
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }
}
