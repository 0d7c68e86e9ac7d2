import SceneModel
import TextPatterns
import TextRules

/// Expressions against texts that make other engines slow, and texts against many rules.
enum Expressions {
  private static let worst: [(expression: String, piece: String, end: String)] = [
    ("(a*)*b", "a", "b"), ("(a|aa)+b", "a", "b"), ("(x+x+)+y", "x", "y"), ("(.*)(.*)(.*)(.*)(.*)z", "y", "z"),
    ("(?<word>\\w+\\s?)+$", "a ", ""), ("(?:(?:é|[à-ü])*)*x", "é", "x"),
  ]

  static func measure() throws {
    for (source, piece, end) in worst {
      for size in [1_000, 10_000, 65_536] {
        // It would match but for the last character.
        let text = String(repeating: piece, count: size / piece.utf8.count) + end + "!"
        let expression = try RegularExpression(source)
        report(
          source, size,
          shortest { steps in
            steps = .max
            if case .yes = expression.match(.whole, in: text, steps: &steps) { preconditionFailure("no text matches") }
          })
      }
    }
    let text =
      "src/parser/lexer.c:1042:17: error: expected expression before ')' token in this translation unit (parse)"
    for count in [10, 1_000] {
      let rules = (0..<count).map { number in
        let expression =
          switch number % 4 {
          case 0: "TICKET-\(number)-(?<number>\\d{1,6})"
          case 1: "(?<name>[\\w.+-]+)\\((?<section>[0-9][a-z]*)\\)\(number)"
          case 2: "https://\(number)\\.example\\.org/(?<path>.*)"
          default: "(?<path>[\\w./~+-]+)@\(number):(?<line>\\d+)(:(?<column>\\d+))?"
          }
        return "rule r\(number)\n  when text matches '\(expression)'\n  then link 'https://example.org'\n"
      }
      report("a text against as many", count, try time(rules, text))
    }
    for (name, expression, piece) in dear {
      let slow = (0..<1_000).map {
        "rule r\($0)\n  when text contains '\(expression)[b\($0)]'\n  then link 'https://example.org'\n"
      }
      let text = String(repeating: piece, count: RuleLimits.text / piece.utf8.count)
      report("the longest text, to the limit of, \(name)", 1_000, try time(slow, text))
    }
  }

  /// Expressions that take all the steps that there are. Written out, a thousand of them are no longer than a file of rules may be.
  private static let dear = [
    ("alternatives", "(a|aa|aaa)*", "a"), ("stars", "(a*)*", "a"), ("classes", "([^a-z]*[À-ſ]|\\W+)*", "é"),
    ("counted", "((a?){30}){3}", "a"), ("words", "(\\b\\w+\\b ?)*", "a "),
    ("captures", "(?<a>a?)(?<b>a?)(?<c>a?)(a*)*", "a"),
    ("dots", "(.*)(.*)(.*)(.*)", "a"),
  ]

  /// The time in which rules pass over a text, or reach their limit.
  private static func time(_ rules: [String], _ text: String) throws -> Double {
    let set = RuleSet([("/rules", try RuleFile(Array(rules.joined().utf8)))])
    let (handedIn, types) = (HandedIn(try Payload(text: Text(text), directory: .empty, info: [:])), TypeCatalog())
    return shortest { steps in
      if case .rule = set.consult(handedIn, types, steps: &steps) { preconditionFailure("no text matches") }
    }
  }

  /// The shortest time of several.
  private static func shortest(_ body: (_ steps: inout Int) -> Void) -> Double {
    (0..<20).map { _ in
      var steps = RuleLimits.steps
      return nanoseconds(1) { body(&steps) }
    }.min() ?? 0
  }
}
