/// The help on a terminal.
struct HelpPage {
  let screen: Screen
  private var lines: [String] = []

  private init(_ screen: Screen) { self.screen = screen }

  /// Longer lines than 100 columns are hard to read.
  private var width: Int { min(max(screen.width, 30), 100) }

  /// The help of the program.
  static func program(_ screen: Screen) -> String {
    var page = HelpPage(screen)
    page.add("usage: stagedoor COMMAND [OPTION]... [ARGUMENT]...", hanging: 2)
    page.paragraph(CommandTable.summary)
    for group in CommandEntry.Group.allCases {
      page.heading(group.rawValue)
      page.rows(CommandTable.visible.filter { $0.group == group }.map { ($0.name, $0.summary) })
    }
    page.blank()
    page.add(
      "`stagedoor COMMAND --help` explains a command; `man stagedoor` explains all. You may shorten identifiers as long as they stay unambiguous; only `host` and `uninstall-manifest` take whole ones."
    )
    return page.text
  }

  /// The help of a command.
  static func command(_ command: CommandEntry, _ screen: Screen) -> String {
    var page = HelpPage(screen)
    page.add("usage: \(command.synopsis)", hanging: 2)
    page.paragraph(command.summary.capitalizedStart + ".")
    for paragraph in command.description { page.paragraph(paragraph) }
    if !command.arguments.isEmpty {
      page.heading("Arguments")
      page.rows(command.arguments.map { ($0.kind.placeholder, $0.help) })
    }
    page.heading("Options")
    page.rows(command.allOptions.map { ($0.shownWithLetter, $0.helpWithWords) })
    if !command.examples.isEmpty {
      page.heading("Examples")
      for example in command.examples {
        page.add("# \(example.purpose)", indent: 2, hanging: 2, style: .aside)
        page.lines.append("  \(example.line)")
      }
    }
    page.heading("Exit status")
    page.rows(command.allStatuses.map { ("\($0.rawValue)", $0.meaning) })
    return page.text
  }

  private var text: String { lines.map { $0 + "\n" }.joined() }

  private mutating func blank() { lines.append("") }

  private mutating func heading(_ title: String) {
    blank()
    lines.append(screen.styled("\(title):", .heading))
  }

  private mutating func paragraph(_ text: String) {
    blank()
    add(text)
  }

  private mutating func add(_ text: String, indent: Int = 0, hanging: Int = 0, style: Style? = nil) {
    for (number, line) in text.wrapped(width - indent - hanging).enumerated() {
      lines.append(String(repeating: " ", count: indent + (number == 0 ? 0 : hanging)) + screen.styled(line, style))
    }
  }

  /// Words with their meanings beside them, or below them if there is little room.
  private mutating func rows(_ rows: [(String, String)]) {
    let indent = 2
    let column = min(rows.map(\.0.columns).max() ?? 0, width / 3) + indent + 2
    for (word, meaning) in rows {
      let meaning = meaning.wrapped(width - column)
      var rest = meaning[...]
      if word.columns + indent + 2 <= column {
        lines.append("  " + word.padded(column - indent) + (rest.popFirst() ?? ""))
      } else {
        lines.append("  " + word)
      }
      for line in rest { lines.append(String(repeating: " ", count: column) + line) }
    }
  }
}

extension OptionEntry {
  /// `-t, --type TYPE`
  var shownWithLetter: String { (letter.map { "-\($0), " } ?? "    ") + shown }

  /// The help, and the possible values.
  var helpWithWords: String {
    guard case .words(let words)? = value?.completion, !words.allSatisfy({ help.hasWord($0) }) else {
      return help + (isRepeated ? "; can be given several times" : "")
    }
    return "\(help): \(words.listed("or"))"
  }
}

extension CommandEntry {
  /// In the order of their numbers.
  var allStatuses: [Status] {
    let all = Set(statuses + [.done, .failed, .usage] + (isLocal ? [] : [.noService, .refused]))
    return Status.allCases.filter { all.contains($0) }
  }
}

extension String {
  var capitalizedStart: String { prefix(1).uppercased() + dropFirst() }

  fileprivate func hasWord(_ word: String) -> Bool {
    split { !($0.isLetter || $0 == "-") }.contains { $0 == word }
  }
}
