import TextPatterns

/// Parses a predicate by recursive descent: a function for each line of its grammar.
///
///     or         = and { ("OR" | "||") and }
///     and        = not { ("AND" | "&&") not }
///     not        = ("NOT" | "!") not | one
///     one        = "(" or ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
///     comparison = "SELF" operator [options] constant | "SELF" "IN" [options] "{" [constant { "," constant }] "}"
///                | "SELF" "MATCHES" ["[c]"] constant
///                | constant mirrored [options] "SELF"
///     options    = "[" ("c" | "d" | "cd") "]"
struct PredicateParser {
  private(set) var lexer: PredicateLexer
  private(set) var token: PredicateToken
  /// The number of open parentheses and NOTs. A chain of ANDs is flat, however long it is.
  private var depth = 0
  /// The steps of all expressions so far.
  private var steps = 0
  /// The size of their programs that are kept.
  private var kept = 0

  static func condition(of source: Text) throws(PredicateError) -> Condition {
    var parser = try PredicateParser(source)
    let condition = try parser.disjunction()
    guard parser.token.kind == .end else { throw parser.refusal(of: parser.token, expected: "AND, OR or the end") }
    return condition
  }

  private init(_ source: Text) throws(PredicateError) {
    lexer = try PredicateLexer(source)
    token = try lexer.next()
  }

  // MARK: Joining

  private mutating func disjunction() throws(PredicateError) -> Condition {
    let first = try conjunction()
    var others: [Condition] = []
    while try takes(.or) { others.append(try conjunction()) }
    return others.isEmpty ? first : .or([first] + others)
  }

  private mutating func conjunction() throws(PredicateError) -> Condition {
    let first = try negation()
    var others: [Condition] = []
    while try takes(.and) { others.append(try negation()) }
    return others.isEmpty ? first : .and([first] + others)
  }

  private mutating func negation() throws(PredicateError) -> Condition {
    guard token.kind == .sign(.not) else { return try one() }
    try descend()
    let condition = Condition.not(try negation())
    depth -= 1
    return condition
  }

  private mutating func one() throws(PredicateError) -> Condition {
    switch token.kind {
    case .sign(.open):
      try descend()
      let condition = try disjunction()
      guard try takes(.close) else { throw refusal(of: token, expected: "AND, OR or \")\"") }
      depth -= 1
      return condition
    case .sign(.always):
      try advance()
      return .always
    case .sign(.never):
      try advance()
      return .never
    case .sign(.subject): return .comparison(try comparison())
    case .constant(let constant): return .comparison(try mirroredComparison(constant))
    default: throw refusal(of: token, expected: "a condition, such as SELF == \"…\"")
    }
  }

  /// Enters a level. Code that evaluates a condition calls itself for each level, as this parser does.
  private mutating func descend() throws(PredicateError) {
    if depth == Limits.predicateDepth {
      throw error("parentheses and NOT nest at most \(Limits.predicateDepth) deep")
    }
    depth += 1
    try advance()
  }

  // MARK: Comparing

  private mutating func comparison() throws(PredicateError) -> Comparison {
    try advance()
    if token.kind == .sign(.oneOf) {
      let options = try takeOperator()
      return Comparison(.oneOf(try list()), options: options)
    }
    if token.kind == .sign(.matches) { return try match() }
    guard case .relation(let relation) = token.kind else {
      throw refusal(of: token, expected: "an operator after SELF")
    }
    let options = try takeOperator()
    return Comparison(.text(try constant(), relation), options: options)
  }

  private mutating func match() throws(PredicateError) -> Comparison {
    // The token after the options is read with them.
    lexer.readsExpression = true
    let options = try takeOperator()
    let place = token.range
    guard case .constant(let source) = token.kind else { throw refusal(of: token, expected: "a text in quotes") }
    let expression: RegularExpression
    do throws(ExpressionError) {
      expression = try RegularExpression(
        source.string, ignoringCase: options == .ignoringCase, keepingAtMost: ExpressionLimits.kept - kept)
    } catch {
      throw lexer.error(atScalar: error.column, of: place, error.reason)
    }
    steps += expression.steps
    kept += expression.size
    if steps > ExpressionLimits.steps {
      throw error("written out, the expressions of a predicate have at most \(ExpressionLimits.steps) steps in all")
    }
    lexer.readsExpression = false
    try advance()
    return Comparison(.matches(expression), options: options)
  }

  private mutating func mirroredComparison(_ constant: Text) throws(PredicateError) -> Comparison {
    try advance()
    let mirrored: Comparison.Operator
    switch token.kind {
    case .relation(let relation):
      guard let other = relation.mirrored else { throw error("\(relation.rawValue) takes SELF on its left") }
      mirrored = other
    case .sign(.oneOf): throw error("IN takes SELF on its left; SELF CONTAINS \"…\" looks for a part")
    case .sign(.matches): throw error("MATCHES takes SELF on its left")
    default: throw refusal(of: token, expected: "an operator after the text")
    }
    let options = try takeOperator()
    guard try takes(.subject) else {
      if case .constant = token.kind { throw error("expected SELF, got a text; one side of a comparison is SELF") }
      throw refusal(of: token, expected: "SELF")
    }
    return Comparison(.text(constant, mirrored), options: options)
  }

  private mutating func constant() throws(PredicateError) -> Text {
    guard case .constant(let constant) = token.kind else { throw refusal(of: token, expected: "a text in quotes") }
    try advance()
    return constant
  }

  private mutating func list() throws(PredicateError) -> [Text] {
    guard try takes(.openList) else { throw refusal(of: token, expected: "a list after IN, such as {\"a\", \"b\"}") }
    var constants: [Text] = []
    if try takes(.closeList) { return constants }
    repeat { constants.append(try constant()) } while try takes(.comma)
    guard try takes(.closeList) else { throw refusal(of: token, expected: "\",\" or \"}\"") }
    return constants
  }

  private mutating func takeOperator() throws(PredicateError) -> Comparison.Options {
    try advance()
    guard try takes(.openOptions) else { return [] }
    let options: Comparison.Options
    switch lexer.text(token.range) {
    case "c", "C": options = .ignoringCase
    case "d", "D": options = .ignoringMarks
    case "cd", "CD", "cD", "Cd": options = [.ignoringCase, .ignoringMarks]
    default: throw refusalOfOptions()
    }
    if lexer.readsExpression, options.contains(.ignoringMarks) {
      throw error("MATCHES has no option d; name the letters, as in [eé]")
    }
    try advance()
    guard try takes(.closeOptions) else { throw refusal(of: token, expected: "\"]\"") }
    return options
  }

  // MARK: Moving on

  private mutating func advance() throws(PredicateError) { token = try lexer.next() }

  private mutating func takes(_ sign: PredicateToken.Sign) throws(PredicateError) -> Bool {
    guard token.kind == .sign(sign) else { return false }
    try advance()
    return true
  }

  private func error(_ reason: String) -> PredicateError { lexer.error(at: token.range.lowerBound, reason) }
}
