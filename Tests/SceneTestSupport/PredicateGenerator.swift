package import SceneModel
import TextPatterns

/// Makes conditions, ways to spell them, and keys that nearly fulfil them. All texts are made of few pieces, so that comparisons often concern the
/// same texts, and keys match comparisons.
package struct PredicateGenerator {
  package var random: SeededRandom
  /// The texts that conditions are about; any if there are none.
  private let texts: [Text]

  package init(seed: UInt64, about texts: [Text] = []) {
    random = SeededRandom(seed: seed)
    self.texts = texts
  }

  private static let pieces: [String] = [
    "a", "b", "c", "A", "B", "cat1", "/", ".txt", ".TXT", "é", "e\u{301}", "e", "É", "ß", "SS", "ẞ", "İ", "i", "ı", "ﬁ",
    "fi", "각", "Å", "ς", "Σ", "ệ", "\u{345}", "\u{323}\u{307}", "*", "?", "\"", "'", "\\", "\n", "\t", "\u{1}",
    "\u{7F}", "😀", " ", "%@", "(", "}", "ꭰ", "\u{FFFD}", "\u{10FFFF}",
  ]

  /// A condition that parses: without NUL, and not empty.
  package mutating func condition(depth: Int = 4) -> Condition {
    if depth == 0 || random.once(in: 3) { return leaf() }
    switch random.below(5) {
    case 0, 1: return .and(conditions(depth))
    case 2, 3: return .or(conditions(depth))
    default: return .not(condition(depth: depth - 1))
    }
  }

  private mutating func conditions(_ depth: Int) -> [Condition] {
    (0..<(2 + random.below(3))).map { _ in condition(depth: depth - 1) }
  }

  private mutating func leaf() -> Condition {
    switch random.below(30) {
    case 0: .always
    case 1: .never
    default: .comparison(comparison())
    }
  }

  private static let operators: [Comparison.Operator] = [
    .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .contains,
  ]

  package mutating func comparison() -> Comparison {
    let options = Comparison.Options(rawValue: random.once(in: 2) ? 0 : UInt8(random.below(4)))
    // Most conditions that programs set are about one key.
    if !texts.isEmpty, random.once(in: 2) { return Comparison(.text(text(), .equal), options: options) }
    switch random.below(12) {
    case 0..<8: return Comparison(.text(text(), random.one(of: Self.operators)), options: options)
    case 8: return Comparison(.text(pattern(), .like), options: options)
    case 10:
      let options = options.intersection(.ignoringCase)
      return Comparison(.matches(expression(ignoringCase: options == .ignoringCase)), options: options)
    case 9: return Comparison(.oneOf((0..<random.below(4)).map { _ in text() }), options: options)
    default: return Comparison(.text(text(), .equal), options: options)
    }
  }

  /// Otherwise of at most four pieces, often of none or one.
  package mutating func text() -> Text {
    if !texts.isEmpty { return random.one(of: texts) }
    return Text((0..<min(random.below(5), random.below(5))).map { _ in random.one(of: Self.pieces) }.joined())
  }

  private mutating func pattern() -> Text {
    let pieces = (0..<random.below(6)).map { _ in
      random.one(of: ["*", "?", "a", "b", "é", "😀", random.one(of: Self.pieces)])
    }
    return Text(pieces.joined())
  }

  private mutating func expression(ignoringCase: Bool) -> RegularExpression {
    var source = ""
    for _ in 0..<random.below(6) {
      source += random.one(of: [
        "a", "B", ".", ".*", "[^a]", "(a|é)*", "\\d", "\\D*", "\\.", "\\\\", "\\bcat1", "ß", "İ?", "\"", "'", "\n",
        "\u{8}", "\\'",
      ])
    }
    do { return try RegularExpression(source, ignoringCase: ignoringCase) } catch { fatalError("\(source): \(error)") }
  }

  /// A key that is related to the condition: one of its constants, several together, or a text close to one. It is not empty.
  package mutating func subject(for condition: Condition) -> Text {
    let constants = condition.constants
    var subject = ""
    for _ in 0..<(1 + random.below(2)) {
      let constant = constants.isEmpty || random.once(in: 8) ? text() : random.one(of: constants)
      subject += random.once(in: 6) ? constant.string.uppercased() : constant.string
    }
    switch random.below(6) {
    case 0: subject.unicodeScalars.insert("a", at: subject.unicodeScalars.startIndex)
    case 1: subject += random.one(of: Self.pieces)
    case 2: if !subject.unicodeScalars.isEmpty { subject.unicodeScalars.removeLast() }
    case 3: subject = String(String.UnicodeScalarView(subject.unicodeScalars.map { $0 == "*" || $0 == "?" ? "a" : $0 }))
    default: break
    }
    return Text(subject.isEmpty ? "a" : subject)
  }
}

// MARK: - Writing

extension PredicateGenerator {
  /// The condition as another author might write it: other spellings, spaces, quotes, escapes, and a constant on the left.
  package mutating func spelling(of condition: Condition) -> String {
    switch condition {
    case .always: word("TRUEPREDICATE")
    case .never: word("FALSEPREDICATE")
    case .comparison(let comparison): spelling(of: comparison)
    case .and(let parts): joined(parts, ["&&", " AND "])
    case .or(let parts): joined(parts, ["||", " OR "])
    case .not(let part): (random.once(in: 2) ? "!" : word("NOT")) + "(" + spelling(of: part) + ")"
    }
  }

  private mutating func joined(_ parts: [Condition], _ operators: [String]) -> String {
    var text = ""
    for part in parts {
      if !text.isEmpty { text += space() + word(random.one(of: operators)) + space() }
      text += "(" + spelling(of: part) + ")"
    }
    return text
  }

  /// The spellings of operators behind SELF, and before it. The others are words, and stand behind it only.
  private static let spellings: [Comparison.Operator: ([String], mirrored: [String])] = [
    .equal: (["==", "="], ["==", "="]), .notEqual: (["!=", "<>"], ["!=", "<>"]), .less: (["<"], [">"]),
    .lessOrEqual: (["<=", "=<"], [">=", "=>"]), .greater: ([">"], ["<"]),
    .greaterOrEqual: ([">=", "=>"], ["<=", "=<"]),
  ]

  private mutating func spelling(of comparison: Comparison) -> String {
    func options() -> String { comparison.options.description }
    switch comparison.relation {
    case .text(let text, let relation):
      let (names, mirrored) = Self.spellings[relation] ?? ([" \(relation.rawValue)"], [])
      return spelling(names, mirrored: mirrored, options(), text)
    case .matches(let expression):
      return word("SELF") + word(" MATCHES") + word(options()) + space() + quoted(Text(expression.source), "dD.")
    case .oneOf(let texts):
      let list = texts.map { space() + quoted($0) + space() }
      return word("SELF") + space() + word(" IN") + word(options()) + space() + "{" + list.joined(separator: ",") + "}"
    }
  }

  private mutating func spelling(_ names: [String], mirrored: [String], _ options: String, _ text: Text) -> String {
    if !mirrored.isEmpty, random.once(in: 3) {
      return quoted(text) + space() + random.one(of: mirrored) + word(options) + space() + word("SELF")
    }
    return word("SELF") + space() + word(random.one(of: names)) + word(options) + space() + quoted(text)
  }

  private mutating func space() -> String { random.one(of: ["", " ", "\n", "\t ", "\r\n"]) }

  private mutating func word(_ text: String) -> String {
    random.one(of: [text, text, text.lowercased(), String(text.lowercased().prefix(2) + text.dropFirst(2))])
  }

  /// Before one of `bare`, a backslash may stand alone.
  private mutating func quoted(_ text: Text, _ bare: String = "") -> String {
    let quote: Unicode.Scalar = random.once(in: 2) ? "'" : "\""
    var written = String(quote)
    let scalars = Array(text.string.unicodeScalars)
    var isBehindBare = false
    for (index, scalar) in scalars.enumerated() {
      if isBehindBare {
        written.unicodeScalars.append(scalar)
        isBehindBare = false
        continue
      }
      if scalar == "\\", index + 1 < scalars.count, bare.unicodeScalars.contains(scalars[index + 1]), random.once(in: 2)
      {
        written += "\\"
        isBehindBare = true
        continue
      }
      if random.once(in: 12) {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: random.once(in: 2))
          written += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else if scalar == quote || scalar == "\\" {
        written += "\\" + String(scalar)
      } else {
        written.unicodeScalars.append(scalar)
      }
    }
    return written + String(quote)
  }

  private static let tokens = [
    "SELF", "self", "==", "=", "!=", "<>", "<", "=<", ">", "AND", "&&", "or", "||", "NOT", "!", "(", ")", "{", "}", "[",
    "]", "[c]", "[cd]", "[dc]", "[n]", ",", "IN", "LIKE", "BEGINSWITH", "CONTAINS", "MATCHES", "BETWEEN", "ANY",
    "TRUEPREDICATE", "'a'", "\"b\"", "'", "\"", "\\", "'\\u12'", "'\\ud83d\\ude00'", "'\\ud83d'", "'\\q'", "12", "-1.5",
    "%@", "$X", "title", "a.b", "SELF.x", "f(x)", "@", "#", "é", "“", "😀", "\u{0}", "\u{A0}", "nil", "YES",
  ]

  /// A text that may or may not be a predicate: tokens in any order, and predicates with small additions or omissions.
  package mutating func soup() -> Text {
    if random.once(in: 3) {
      var soup = ""
      for _ in 0..<random.below(12) { soup += random.one(of: Self.tokens) + random.one(of: ["", " "]) }
      return Text(soup)
    }
    let spelling = spelling(of: condition(depth: 2))
    return Text(random.damaged(spelling, with: Self.tokens))
  }
}

extension Condition {
  /// All texts that the condition compares with.
  package var constants: [Text] {
    switch self {
    case .always, .never: []
    case .and(let parts), .or(let parts): parts.flatMap(\.constants)
    case .not(let part): part.constants
    case .comparison(let comparison):
      switch comparison.relation {
      case .text(let text, _): [text]
      case .oneOf(let texts): texts
      case .matches(let expression): [Text(expression.source)]
      }
    }
  }
}
