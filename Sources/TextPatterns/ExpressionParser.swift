/// Parses an expression by recursive descent: a function for each line of its grammar.
///
///     choice   = sequence { "|" sequence }
///     sequence = { one [repetition] | "(?i)" }
///     one      = "." | "^" | "$" | "(" [ "?:" | "?<" name ">" ] choice ")" | "[" class "]" | "\" escape | literal
///     repetition = ( "*" | "+" | "?" | "{" m "}" | "{" m "," [n] "}" ) [ "?" ]
struct ExpressionParser {
  let scalars: [Unicode.Scalar]
  var offset = 0
  private(set) var names: [String] = []
  private(set) var ignoresCase: Bool
  private var depth = 0

  init(_ source: String, ignoringCase: Bool) throws(ExpressionError) {
    scalars = Array(source.unicodeScalars)
    ignoresCase = ignoringCase
    let count = source.utf8.count
    if count > ExpressionLimits.bytes {
      var (column, bytes) = (0, 0)
      while bytes <= ExpressionLimits.bytes {
        bytes += UTF8.width(scalars[column])
        column += 1
      }
      throw ExpressionError(
        column: column, reason: "an expression has at most \(ExpressionLimits.bytes) bytes, this one \(count)")
    }
  }

  mutating func whole() throws(ExpressionError) -> ExpressionNode {
    let node = try choice()
    if next != nil { throw error("this parenthesis closes nothing; the character itself is written \\)") }
    return node
  }

  // MARK: The grammar

  private mutating func choice() throws(ExpressionError) -> ExpressionNode {
    var branches = [try sequence()]
    while takes("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence() throws(ExpressionError) -> ExpressionNode {
    var nodes: [ExpressionNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      if takesIgnoringCase() {
        if let fault = repetitionHere() { throw error("there is nothing to repeat before \(fault)") }
        continue
      }
      let start = offset
      let node = try one()
      nodes.append(try repeated(node, from: start))
    }
    nodes.removeAll { if case .empty = $0 { true } else { false } }
    switch nodes.count {
    case 0: return .empty
    case 1: return nodes[0]
    default: return .sequence(nodes)
    }
  }

  private mutating func one() throws(ExpressionError) -> ExpressionNode {
    let start = offset
    let scalar = scalars[offset]
    offset += 1
    switch scalar {
    case ".": return .set(.allButLineFeed)
    case "^": return .assertion(.start)
    case "$": return .assertion(.end)
    case "(": return try group(from: start)
    case "[": return .set(try scalarClass(from: start))
    case "\\":
      if takes("b") { return .assertion(.wordBoundary) }
      return .set(try escaped(from: start))
    case "*", "+", "?": throw error(at: start, "there is nothing to repeat before \(scalar)")
    case "{" where next?.isDigit == true: throw error(at: start, "there is nothing to repeat before {")
    default: return .set(ScalarSet(scalar).cased(ignoresCase))
    }
  }

  private mutating func group(from start: Int) throws(ExpressionError) -> ExpressionNode {
    depth += 1
    if depth > ExpressionLimits.depth {
      throw error(at: start, "parentheses nest at most \(ExpressionLimits.depth) deep")
    }
    var number: Int?
    if takes("?") {
      if takes("<"), next != "=", next != "!" {
        number = try name(from: start)
      } else if !takes(":") {
        throw refusalOfGroup(from: start)
      }
    }
    let outside = ignoresCase
    let node = try choice()
    ignoresCase = outside
    guard takes(")") else {
      throw error(at: start, "this parenthesis is not closed; the character itself is written \\(")
    }
    depth -= 1
    return number.map { .group($0, node) } ?? node
  }

  private mutating func name(from start: Int) throws(ExpressionError) -> Int {
    let nameStart = offset
    while let scalar = next, scalar.isWord { offset += 1 }
    let name = text(nameStart..<offset)
    guard let first = name.unicodeScalars.first, !first.isDigit, takes(">") else {
      throw error(at: nameStart, "a group's name has letters, digits and _, no digit first, and ends with >")
    }
    if names.contains(name) { throw error(at: nameStart, "there is a group of this name already") }
    if names.count == ExpressionLimits.groups {
      throw error(at: start, "an expression has at most \(ExpressionLimits.groups) named groups")
    }
    names.append(name)
    return names.count - 1
  }

  // MARK: Repetitions

  private mutating func repeated(_ node: ExpressionNode, from start: Int) throws(ExpressionError) -> ExpressionNode {
    let column = offset
    guard let (least, most) = try repetition() else { return node }
    if case .assertion = node, scalars[start] != "(" {
      throw error(at: column, "there is nothing to repeat: \(text(start..<column)) takes no text")
    }
    let isLazy = takes("?")
    if !isLazy, takes("+") { throw error(at: column, "there are no possessive repetitions; leave out the last +") }
    if let another = repetitionHere() {
      throw error("\(another) repeats a repetition; put the first into parentheses: (?:…)\(another)")
    }
    if case .empty = node { return node }
    switch (least, most) {
    case (_, 0): return .empty
    case (1, 1): return node
    default:
      return .repetition(.init(node: node, least: least, most: most, isLazy: isLazy, column: column + 1))
    }
  }

  private mutating func repetition() throws(ExpressionError) -> (least: Int, most: Int?)? {
    if takes("*") { return (0, nil) }
    if takes("+") { return (1, nil) }
    if takes("?") { return (0, 1) }
    guard repetitionHere() != nil else { return nil }
    let start = offset
    offset += 1
    let least = try number()
    var most: Int? = least
    if takes(",") { most = next == "}" ? nil : try number() }
    guard takes("}") else {
      throw error(at: start, "a repetition is {m}, {m,} or {m,n}; the character itself is written \\{")
    }
    if let most, most < least { throw error(at: start, "a repetition has its smaller number first") }
    return (least, most)
  }

  private mutating func number() throws(ExpressionError) -> Int {
    let start = offset
    while let scalar = next, scalar.isDigit { offset += 1 }
    guard offset > start else { throw error(at: start, "expected a number, such as in {2,5}") }
    guard let number = Int(text(start..<offset)), number <= ExpressionLimits.repetition else {
      throw error(at: start, "a repetition goes to \(ExpressionLimits.repetition) at most")
    }
    return number
  }

  /// The sign that begins a repetition here, if one does. A brace without a number is a literal, as in Perl.
  private func repetitionHere() -> Unicode.Scalar? {
    switch next {
    case "*", "+", "?": next
    case "{" where offset + 1 < scalars.count && scalars[offset + 1].isDigit: next
    default: nil
    }
  }

  // MARK: Moving on

  var next: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

  mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    offset += 1
    return true
  }

  /// `(?i)`: from here to the end of the group.
  private mutating func takesIgnoringCase() -> Bool {
    guard scalars[offset...].starts(with: "(?i)".unicodeScalars) else { return false }
    offset += 4
    ignoresCase = true
    return true
  }

  func text(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])) }

  func error(_ reason: String) -> ExpressionError { error(at: offset, reason) }
  func error(at offset: Int, _ reason: String) -> ExpressionError {
    ExpressionError(column: offset + 1, reason: reason)
  }

  /// The error for a group that begins with `(?` and something unknown.
  private func refusalOfGroup(from start: Int) -> ExpressionError {
    let reason =
      switch text(offset..<min(offset + 1, scalars.count)) {
      case "=", "!": "there is no look-around, which takes more than one pass over the text"
      case "P": "a named group is written (?<name>…)"
      case ">": "there are no atomic groups; write (?:…)"
      case "#": "there are no comments in an expression"
      case "i": "to ignore case is written (?i), and holds from there to the end of its group"
      default:
        scalars[offset - 1] == "<"
          ? "there is no look-around, which takes more than one pass over the text"
          : "a group begins with (, (?: or (?<name>, and (?i) ignores case"
      }
    return error(at: start, reason)
  }
}

extension ScalarSet {
  func cased(_ ignoresCase: Bool) -> ScalarSet { ignoresCase ? ignoringCase : self }
}

extension Unicode.Scalar {
  var isDigit: Bool { value >= 0x30 && value <= 0x39 }
  var isWord: Bool { value < 0x80 && UInt8(value).isWord }
}
