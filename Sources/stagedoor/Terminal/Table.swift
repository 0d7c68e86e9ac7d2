/// Rows in columns. On a terminal they are lined up under a heading and cut to its width; elsewhere a tab stands between the whole values, for
/// `cut` and `while read`.
struct Table: Sendable {
  struct Column: Sendable {
    let title: String
    /// How narrow it may get on a narrow terminal; `nil` where it is never cut.
    var minimum: Int?
    /// What is cut off: the beginning of an identifier says less than its end.
    var keepsEnd = false
    /// The columns of the greatest rank go first where there is no room; one of rank 0 stays.
    var rank = 0
    var style: @Sendable (String) -> Style? = { _ in nil }
  }

  let columns: [Column]
  let screen: Screen
  /// Found from the rows that came first: a list of a hundred thousand is shown as it comes.
  private var widths: [Int]?
  private var kept: [Int] = []

  init(_ screen: Screen, _ columns: [Column]) {
    self.screen = screen
    self.columns = columns
  }

  private static let gap = 2

  mutating func print(_ rows: [[String]]) throws(Problem) {
    if rows.isEmpty { return }
    let rows = rows.map { $0.map(\.printable) }
    guard screen.isTerminal else {
      for row in rows { try Output.line(row.joined(separator: "\t")) }
      return
    }
    let isFirst = widths == nil
    let widths = self.widths ?? layOut(rows)
    self.widths = widths
    if isFirst { try Output.line(line(columns.map(\.title), widths) { _, _ in .heading }) }
    for row in rows { try Output.line(line(row, widths) { columns[$0].style($1) }) }
  }

  /// Says on a terminal that there was nothing.
  func end(orSay nothing: String) { if screen.isTerminal, widths == nil { Output.note(nothing) } }

  private func line(_ row: [String], _ widths: [Int], _ style: (Int, String) -> Style?) -> String {
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

  /// Takes room from the widest columns that may be cut, down to their minimum; then leaves out columns.
  private mutating func layOut(_ rows: [[String]]) -> [Int] {
    let natural = columns.indices.map { column in
      rows.reduce(columns[column].title.columns) { max($0, $1[column].columns) }
    }
    // A column in which nothing stands says nothing.
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
