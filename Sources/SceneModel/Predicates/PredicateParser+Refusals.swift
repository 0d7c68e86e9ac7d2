// Predicates as people know them from elsewhere, and what to write here instead.

extension PredicateParser {
  func refusal(of token: PredicateToken, expected: String) -> PredicateError {
    lexer.error(at: token.range.lowerBound, reason(against: token, expected: expected))
  }

  private func reason(against token: PredicateToken, expected: String) -> String {
    let written = lexer.text(token.range)
    let usual = "expected \(expected), got \(quoted(written))"
    switch token.kind {
    case .end: return "expected \(expected), got the end"
    case .constant: return "expected \(expected), got a text"
    case .number: return "\(usual); SELF is a text, and a number that stands in one is put in quotes as well"
    case .placeholder: return "\(usual), a placeholder that was not filled in; the text itself belongs here, in quotes"
    case .stray(let scalar): return usual + (advice(about: scalar).map { "; \($0)" } ?? "")
    case .relation(let relation):
      return relation.mirrored != nil && expected.hasPrefix("AND")
        ? "\(usual); compare once, and join comparisons with AND" : usual
    case .sign(let sign): return usual + (advice(about: sign).map { "; \($0)" } ?? "")
    case .word:
      if let reason = PredicateParser.reason(againstWord: written.uppercased()) { return reason }
      if isCall { return "there are no functions here, and so no \(quoted(written)); compare SELF with a text" }
      if expected.hasPrefix("a text") { return "\(usual); put quotes around it" }
      return expected.hasPrefix("a condition")
        ? "\(usual); SELF, which is the key, is all that there is to compare" : usual
    }
  }

  /// Whether the last word is followed by a parenthesis, like a function.
  private var isCall: Bool {
    var ahead = lexer
    return ahead.peekPastSpace() == UInt8(ascii: "(")
  }

  private func advice(about scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case ".": "SELF is a text and has nothing inside"
    case "@": "there are no functions here; compare SELF with a text"
    case "#": "there is nothing to quote a name for; SELF is all that there is to compare"
    case "\u{201C}", "\u{201D}", "\u{201E}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{AB}", "\u{BB}", "`":
      "a text stands in plain quotes, '…' or \"…\""
    case "&": "AND is written AND or &&"
    case "|": "OR is written OR or ||"
    case "+", "-", "/", "*", "^", ":": "there is no arithmetic here; compare SELF with a text"
    case "~": "LIKE is what compares with a pattern"
    case _ where scalar.properties.isWhitespace:
      "it is U+\(String(scalar.value, radix: 16, uppercase: true)); put a plain space in its place"
    default: nil
    }
  }

  private func advice(about sign: PredicateToken.Sign) -> String? {
    switch sign {
    case .subject: "SELF stands on one side of a comparison, and a text in quotes on the other"
    case .not: "NOT stands before the whole comparison: NOT SELF == \"…\""
    case .openList: "only IN takes a list"
    case .openOptions: "options stand behind the operator, and a list in braces"
    default: nil
    }
  }

  private static func reason(againstWord word: String) -> String? {
    switch word {
    case "BETWEEN": "there is no BETWEEN; write SELF >= \"…\" AND SELF <= \"…\""
    case "ANY", "SOME", "ALL", "NONE":
      "there is no \(word), since SELF is one text; to compare it with several use IN {…}"
    case "BLOCKPREDICATE": "a block cannot be sent; write what it tests as a condition on SELF"
    case "FUNCTION", "SUBQUERY", "CAST", "TERNARY":
      "there are no functions here, and so no \(word); compare SELF with a text"
    case "NIL", "NULL": "there is no \(word), since SELF is always a text; where there is no key, no condition is asked"
    case "TRUE", "YES": "there is no \(word), since SELF is a text; what is always true is TRUEPREDICATE"
    case "FALSE", "NO": "there is no \(word), since SELF is a text; what is never true is FALSEPREDICATE"
    default: nil
    }
  }

  /// The error for a token after "[" that is no option.
  func refusalOfOptions() -> PredicateError {
    let written = lexer.text(token.range)
    let known = "expected c (letters of either size), d (without accents) or cd (both)"
    let reason =
      switch written {
      case "n", "l", "w", "N", "L", "W": "\(known); there is no option \(written)"
      default:
        switch token.kind {
        case .end: "\(known), got the end"
        case .constant: "\(known), got a text; a list stands in braces: IN {…}"
        default: "\(known), got \(quoted(written))"
        }
      }
    return lexer.error(at: token.range.lowerBound, reason)
  }
}
