import SceneModel
import ServiceSupport

struct Field<Row: Sendable>: Sendable {
  /// Its key in JSON, and its word for --print.
  let name: String
  /// Its column in a table; `nil` if only JSON and --print show it.
  let column: Table.Column?
  /// Its value; `nil` if the row has none.
  let value: @Sendable (Row) -> Value?
  /// Its text in a line, where this is not the text of the value.
  let text: (@Sendable (Row) -> String)?
  let short: (@Sendable (Row) -> String)?

  init(
    _ name: String, _ column: Table.Column? = nil, value: @escaping @Sendable (Row) -> Value?,
    text: (@Sendable (Row) -> String)? = nil, short: (@Sendable (Row) -> String)? = nil
  ) {
    self.name = name
    self.column = column
    self.value = value
    self.text = text
    self.short = short
  }

  /// An identifier: people need only its beginning.
  init(identifier name: String, rank: Int = 0, _ value: @escaping @Sendable (Row) -> String?) {
    self.init(
      name, Table.Column(title: name.uppercased(), rank: rank) { _ in .identifier },
      value: { value($0).map { .text($0) } }, short: { String((value($0) ?? "").prefix(8)) })
  }

  func line(_ row: Row) -> String {
    if let text { return text(row) }
    return switch value(row) {
    case .string(let text): text.string
    case .bool(let flag): flag ? "yes" : "no"
    case .integer(let number): "\(number)"
    default: ""
    }
  }
}

/// Rows as the options ask for them: a table on a terminal, lines with tabs elsewhere, JSON with --json, some fields with --print.
struct Listing<Row: Sendable> {
  private enum Form {
    case table(Table)
    case lines
    case json
    case nothing
  }

  private let fields: [Field<Row>]
  private let screen: Screen
  private var form: Form
  private var isEmpty = true

  init(_ invocation: Invocation, _ fields: [Field<Row>]) {
    screen = invocation.screen
    if let chosen = invocation[.print()] {
      self.fields = chosen.split(separator: ",").compactMap { name in fields.first { $0.name == name } }
      form = .lines
    } else if invocation.has(.json) {
      self.fields = fields
      form = .json
    } else {
      self.fields = fields.filter { $0.column != nil }
      form =
        invocation.has(.quiet)
        ? .nothing : screen.isTerminal ? .table(Table(screen, fields.compactMap(\.column))) : .lines
    }
  }

  mutating func add(_ rows: [Row]) throws(Problem) {
    defer { isEmpty = isEmpty && rows.isEmpty }
    switch form {
    case .nothing: break
    case .lines: for row in rows { try line(row) }
    case .table(var table):
      try table.print(rows.map { row in fields.map { $0.short?(row) ?? $0.line(row) } })
      form = .table(table)
    case .json:
      for (number, row) in rows.enumerated() {
        try Output.write((isEmpty && number == 0 ? "[\n" : ",\n") + Printed.shown(object(row)))
      }
    }
  }

  /// Ends the list. Of an empty list it says so, apart from the output that programs read.
  func end(orSay nothing: String) throws(Problem) {
    if case .json = form {
      try Output.line(isEmpty ? "[]" : "\n]")
    } else if isEmpty {
      Output.note(nothing)
    }
  }

  func list(_ rows: [Row], orSay nothing: String) throws(Problem) {
    var list = self
    try list.add(rows)
    try list.end(orSay: nothing)
  }

  /// Prints an answer that is one row and no list.
  func answer(_ row: Row) throws(Problem) {
    switch form {
    case .nothing: break
    case .lines: try line(row)
    case .json: try Output.line(Printed.shown(object(row)))
    case .table:
      let width = fields.map(\.name.columns).max() ?? 0
      for field in fields {
        let text = field.line(row).printable
        try Output.line("\(field.name.padded(width))  \(screen.styled(text, field.column?.style(text)))")
      }
    }
  }

  private func line(_ row: Row) throws(Problem) {
    try Output.line(fields.map { $0.line(row).printable }.joined(separator: "\t"))
  }

  private func object(_ row: Row) -> Value { Printed.object(fields.map { ($0.name, $0.value(row)) }) }
}

enum Change {
  static func say(_ done: String, _ identifier: String, _ name: String, _ invocation: Invocation) throws(Problem) {
    if invocation.has(.quiet) { return }
    let screen = invocation.screen
    let shown = screen.isTerminal && identifier.utf8.count == 36 ? String(identifier.prefix(8)) : identifier.printable
    let words = [screen.styled(done, .good), screen.styled(shown, .identifier), name.printable]
    try Output.line(
      words.filter { !$0.isEmpty || !screen.isTerminal }.joined(separator: screen.isTerminal ? " " : "\t"))
  }
}
