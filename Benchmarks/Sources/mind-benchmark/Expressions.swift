import SceneModel
import TextPatterns
import TextRules

/// Expressions against texts that make other engines slow, and texts against many rules.
enum Expressions {
  private static let worst: [(expression: String, piece: String, end: String)] = [
    ("(a*)*b", "a", "b"), ("(a|aa)+b", "a", "b"), ("(x+x+)+y", "x", "y"), ("(.*)(.*)(.*)(.*)(.*)z", "y", "z"),
    ("(?<word>\\w+\\s?)+$", "a ", ""), ("(?:(?:é|[à-ü])*)*x", "é", "x"),
  ]

  static func measure() {
    for (source, piece, end) in worst {
      for size in [1_000, 10_000, 65_536] {
        // It would match but for the last character.
        let text = String(repeating: piece, count: size / piece.utf8.count) + end + "!"
        report(source, size, time([compiled(source)], text))
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
      report("a text against as many", count, time(set(rules), text))
    }
    for (name, expression, piece) in dear {
      let slow = set(
        (0..<1_000).map {
          "rule r\($0)\n  when text contains '\(expression)[b\($0)]'\n  then link 'https://example.org'\n"
        })
      let text = String(repeating: piece, count: RuleLimits.text / piece.utf8.count)
      report("the longest text, to the limit of, \(name)", 1_000, time(slow, text))
    }
  }

  /// Expressions that take all the steps that there are. Written out, a thousand of them are no longer than a file of rules may be.
  private static let dear = [
    ("alternatives", "(a|aa|aaa)*", "a"), ("stars", "(a*)*", "a"), ("classes", "([^a-z]*[À-ſ]|\\W+)*", "é"),
    ("counted", "((a?){30}){3}", "a"), ("words", "(\\b\\w+\\b ?)*", "a "),
    ("captures", "(?<a>a?)(?<b>a?)(?<c>a?)(a*)*", "a"),
    ("dots", "(.*)(.*)(.*)(.*)", "a"),
  ]

  private static func set(_ rules: [String]) -> RuleSet {
    do { return RuleSet([("/rules", try RuleFile(Array(rules.joined().utf8)))]) } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The shortest time of several in which rules pass over a text, or reach their limit.
  private static func time(_ rules: RuleSet, _ text: String) -> Double {
    guard let payload = try? Payload(text: Text(text), directory: .empty, info: [:]) else { return 0 }
    let (handedIn, types) = (HandedIn(payload), TypeCatalog())
    return (0..<20).map { _ in
      nanoseconds(1) {
        var steps = RuleLimits.steps
        if case .rule = rules.consult(handedIn, types, steps: &steps) { preconditionFailure("no text matches") }
      }
    }.min() ?? 0
  }

  private static func compiled(_ source: String) -> RegularExpression {
    do { return try RegularExpression(source) } catch { preconditionFailure("\(source): \(error)") }
  }

  /// The shortest time of several.
  private static func time(_ expressions: [RegularExpression], _ text: String) -> Double {
    (0..<20).map { _ in
      nanoseconds(1) {
        for expression in expressions {
          var steps = Int.max
          if case .yes = expression.match(.whole, in: text, steps: &steps) { preconditionFailure("no text matches") }
        }
      }
    }.min() ?? 0
  }
}
