import TextPatterns

/// Expressions against texts: those that make other engines slow, and many of which none matches.
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
      let expressions = (0..<count).map { number in
        switch number % 4 {
        case 0: compiled("TICKET-\(number)-(?<number>\\d{1,6})")
        case 1: compiled("(?<name>[\\w.+-]+)\\((?<section>[0-9][a-z]*)\\)\(number)")
        case 2: compiled("https://\(number)\\.example\\.org/(?<path>.*)")
        default: compiled("(?<path>[\\w./~+-]+)@\(number):(?<line>\\d+)(:(?<column>\\d+))?")
        }
      }
      report("a text against as many", count, time(expressions, text))
    }
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
