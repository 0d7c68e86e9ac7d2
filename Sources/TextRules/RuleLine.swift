import SceneModel

/// One line of a file of rules, word by word.
struct RuleLine {
  struct Token {
    /// A word, or the content of a quoted text.
    let value: String
    /// In Unicode scalars from 1; of a quoted text the column of its quote.
    let column: Int
    /// Of a quoted text the column of each scalar, and of its end; `nil` for a word.
    let columns: [Int]?

    var word: String? { columns == nil ? value : nil }
    var shown: String { columns == nil ? quoted(value) : "a quoted text" }
  }

  let number: Int
  private let scalars: [Unicode.Scalar]
  private var offset = 0

  init(_ bytes: ArraySlice<UInt8>, number: Int) throws(RuleFault) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      // The first scalar that does not come out as it went in.
      var column = 1
      var rest = bytes
      for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        guard rest.starts(with: UTF8.encode(scalar) ?? .init()) else { break }
        rest = rest.dropFirst(UTF8.width(scalar))
        column += 1
      }
      throw RuleFault(line: number, column: column, reason: "expected UTF-8")
    }
    self.number = number
    scalars = Array(text.unicodeScalars)
    if let nul = scalars.firstIndex(of: "\0") { throw fault(at: nul + 1, "expected text without NUL") }
  }

  func fault(at column: Int, _ reason: String) -> RuleFault { RuleFault(line: number, column: column, reason: reason) }

  var startOfNext: Int {
    var place = offset
    while place < scalars.count, RuleLine.isSpace(scalars[place]) { place += 1 }
    return place + 1
  }

  /// The words from here to the end of the line, without a comment.
  var rest: Text {
    var line = self
    while let token = try? line.next(), !token.value.isEmpty || token.columns != nil {}
    var text = String(String.UnicodeScalarView(scalars[(startOfNext - 1)..<max(startOfNext - 1, line.offset)]))
    while let last = text.unicodeScalars.last, RuleLine.isSpace(last) { text.unicodeScalars.removeLast() }
    return Text(text)
  }

  /// The next token; `nil` at the end of the line or at a comment.
  mutating func next() throws(RuleFault) -> Token? {
    let start = startOfNext - 1
    guard start < scalars.count, scalars[start] != "#" else { return nil }
    offset = start
    if scalars[start] == "'" { return try quotedToken(from: start) }
    while offset < scalars.count, !RuleLine.isSpace(scalars[offset]), scalars[offset] != "'" { offset += 1 }
    return Token(value: text(scalars[start..<offset]), column: start + 1, columns: nil)
  }

  private mutating func quotedToken(from start: Int) throws(RuleFault) -> Token {
    var (value, columns): (String.UnicodeScalarView, [Int]) = (.init(), [])
    offset += 1
    while offset < scalars.count {
      let isQuote = scalars[offset] == "'"
      if isQuote, offset + 1 == scalars.count || scalars[offset + 1] != "'" {
        columns.append(offset + 1)
        offset += 1
        if offset < scalars.count, !RuleLine.isSpace(scalars[offset]) {
          throw fault(at: offset + 1, "expected a space after the quoted text; a ' inside it is written ''")
        }
        return Token(value: String(value), column: start + 1, columns: columns)
      }
      value.append(scalars[offset])
      columns.append(offset + 1)
      offset += isQuote ? 2 : 1
    }
    throw fault(at: start + 1, "this text has no end; another ' ends it")
  }

  mutating func required(_ expected: String) throws(RuleFault) -> Token {
    let column = startOfNext
    if let token = try next() { return token }
    throw fault(at: column, "expected \(expected), got the end of the line")
  }

  mutating func quotedText(_ expected: String) throws(RuleFault) -> (value: String, column: Int, columns: [Int]) {
    let token = try required("\(expected) in quotes")
    guard let columns = token.columns else {
      throw fault(at: token.column, "expected \(expected) in quotes, got \(token.shown)")
    }
    return (token.value, token.column, columns)
  }

  /// A quoted text in which variables stand.
  mutating func template(_ expected: String) throws(RuleFault) -> Template {
    let (value, _, columns) = try quotedText(expected)
    let scalars = Array(value.unicodeScalars)
    var pieces: [Template.Piece] = []
    var (literal, place) = (String.UnicodeScalarView(), 0)
    while place < scalars.count {
      guard scalars[place] == "{" else {
        literal.append(scalars[place])
        place += 1
        continue
      }
      if place + 1 < scalars.count, scalars[place + 1] == "{" {
        literal.append("{")
        place += 2
        continue
      }
      guard let end = scalars[place...].firstIndex(of: "}"),
        case let name = text(scalars[(place + 1)..<end]), RuleLine.isName(name[...])
      else {
        throw fault(at: columns[place], "expected a variable such as {line}; a { itself is written {{")
      }
      if !literal.isEmpty { pieces.append(.literal(String(literal))) }
      literal = .init()
      pieces.append(.variable(Text(name), column: columns[place]))
      place = end + 1
    }
    if !literal.isEmpty { pieces.append(.literal(String(literal))) }
    return Template(line: number, pieces: pieces)
  }

  /// A quoted name in which no variable stands: a text may say what, and not what with.
  mutating func plain(_ expected: String) throws(RuleFault) -> Text {
    let column = startOfNext
    let template = try template(expected)
    if template.variables.first != nil {
      throw fault(
        at: template.variables[0].column, "no variable stands in \(expected): a text may say what, and not what with")
    }
    guard case .literal(let name)? = template.pieces.first, name.utf8.count <= Limits.name else {
      throw fault(at: column, "expected \(expected), which has 1 to \(Limits.name) bytes")
    }
    return Text(name)
  }

  mutating func end() throws(RuleFault) {
    guard let token = try next() else { return }
    throw fault(at: token.column, "expected the end of the line, got \(token.shown)")
  }

  private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(scalars)) }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }

  /// Whether a group of an expression may have this name.
  static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return text.utf8.allSatisfy { MIMESyntax.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
  }
}
