package struct HelpPage {
  private let screen: Screen
  private var lines: [String] = []

  package init(_ synopsis: String, _ screen: Screen) {
    self.screen = screen
    add("usage: \(synopsis)", hanging: 2)
  }

  /// Longer lines than 100 columns are hard to read.
  private var width: Int { min(max(screen.width, 30), 100) }

  package var text: String { lines.map { $0 + "\n" }.joined() }

  package mutating func heading(_ title: String) { lines += ["", screen.styled("\(title):", .heading)] }

  package mutating func paragraph(_ text: String) {
    lines.append("")
    add(text)
  }

  package mutating func arguments(_ arguments: [Argument]) {
    if arguments.isEmpty { return }
    heading("Arguments")
    rows(arguments.map { ($0.kind.placeholder, $0.help) })
  }

  package mutating func options(_ options: [Option]) {
    heading("Options")
    rows(options.map { ($0.shownWithLetter, $0.helpWithWords) })
  }

  package mutating func statuses(_ statuses: [(number: Int32, meaning: String)]) {
    heading("Exit status")
    rows(statuses.map { ("\($0.number)", $0.meaning) })
  }

  /// A line to type, which is never broken, below its purpose.
  package mutating func example(_ purpose: String, _ line: String) {
    add("# \(purpose)", indent: 2, hanging: 2, style: .aside)
    lines.append("  \(line)")
  }

  /// Words with their meanings beside them, or below them if there is little space.
  package mutating func rows(_ rows: [(String, String)]) {
    let indent = 2
    let column = min(rows.map(\.0.columns).max() ?? 0, width < 60 ? width / 4 : width / 3) + indent + 2
    for (word, meaning) in rows {
      var rest = meaning.wrapped(width - column)[...]
      if word.columns + indent + 2 <= column {
        lines.append("  " + word.padded(column - indent) + (rest.popFirst() ?? ""))
      } else {
        lines.append("  " + word)
      }
      for line in rest { lines.append(String(repeating: " ", count: column) + line) }
    }
  }

  private mutating func add(_ text: String, indent: Int = 0, hanging: Int = 0, style: Style? = nil) {
    for (number, line) in text.wrapped(width - indent - hanging).enumerated() {
      lines.append(String(repeating: " ", count: indent + (number == 0 ? 0 : hanging)) + screen.styled(line, style))
    }
  }
}
