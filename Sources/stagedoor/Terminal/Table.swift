import ServiceSupport

/// Rows in columns on a terminal: the columns are aligned under a heading and cut to the terminal's width.
struct Table: Sendable {
  struct Column: Sendable {
    let title: String
    /// The smallest width on a narrow terminal; `nil` if the column is never cut.
    var minimum: Int?
    /// Whether the beginning is cut off, and not the end: the end of an identifier says more.
    var keepsEnd = false
    /// On a narrow terminal, the columns with the highest rank are left out first; columns with rank 0 stay.
    var rank = 0
    var style: @Sendable (String) -> Style? = { _ in nil }
  }

  let columns: [Column]
  let screen: Screen
  /// Computed from the first rows, because a list of a hundred thousand rows is shown as it comes.
  private var widths: [Int] = []
  private var kept: [Int] = []

  init(_ screen: Screen, _ columns: [Column]) {
    self.screen = screen
    self.columns = columns
  }

  private static let gap = 2

  mutating func print(_ rows: [[String]]) throws(Problem) {
    if rows.isEmpty { return }
    let rows = rows.map { $0.map(\.printable) }
    if widths.isEmpty {
      widths = layOut(rows)
      try Output.line(line(columns.map(\.title)) { _, _ in .heading })
    }
    for row in rows { try Output.line(line(row) { columns[$0].style($1) }) }
  }

  private func line(_ row: [String], _ style: (Int, String) -> Style?) -> String {
    var line = ""
    for (place, column) in kept.enumerated() {
      let isLast = place == kept.count - 1
      let shown = row[column].fitted(widths[column], keepingEnd: columns[column].keepsEnd)
      line += screen.styled(shown, style(column, row[column]))
      if !isLast { line += String(repeating: " ", count: widths[column] - shown.columns + Table.gap) }
    }
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }

  /// Narrows the widest columns that may be cut, down to their minimum; then leaves out columns.
  private mutating func layOut(_ rows: [[String]]) -> [Int] {
    let natural = columns.indices.map { column in
      rows.reduce(columns[column].title.columns) { max($0, $1[column].columns) }
    }
    // An empty column says nothing.
    kept = columns.indices.filter { column in columns[column].rank == 0 || rows.contains { !$0[column].isEmpty } }
    while true {
      var widths = natural
      var excess = kept.reduce(0) { $0 + widths[$1] } + Table.gap * (kept.count - 1) - screen.width
      while excess > 0, let widest = kept.filter({ canShrink($0, widths) }).max(by: { widths[$0] < widths[$1] }) {
        widths[widest] -= 1
        excess -= 1
      }
      guard excess > 0,
        let last = kept.filter({ columns[$0].rank > 0 }).max(by: { columns[$0].rank < columns[$1].rank })
      else { return widths }
      kept.removeAll { $0 == last }
    }
  }

  private func canShrink(_ column: Int, _ widths: [Int]) -> Bool {
    columns[column].minimum.map { widths[column] > max($0, columns[column].title.columns) } ?? false
  }
}

extension [String] {
  /// The lines behind a beginning; behind another one from the second on.
  func behind(_ first: String, then next: String? = nil) -> [String] {
    enumerated().map { number, line in (number == 0 ? first : next ?? first) + line }
  }
}

extension Screen {
  /// The whole identifier for programs, and its beginning for people: eight digits distinguish four billion.
  func identifier(_ text: String) -> String { isTerminal ? String(text.prefix(8)) : text }
}

extension Style {
  init?(of word: String) {
    switch word {
    case "created", "handled", "prefers", "certain", "foregroundActive", "connected", "yes", "good": self = .good
    case "held", "routed", "forwarded", "can", "foregroundInactive", "activated", "restored", "note", "likely":
      self = .waiting
    case "failed", "cancelled", "refused", "out", "discarded", "no", "no manifest", "unclaimed", "wrong": self = .bad
    case "unattached", "background", "unsure": self = .aside
    default: return nil
    }
  }
}
