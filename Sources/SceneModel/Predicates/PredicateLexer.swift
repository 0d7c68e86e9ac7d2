/// A piece of a predicate: a word, a sign, or a text in quotes.
struct PredicateToken {
  let kind: Kind
  /// Its bytes in the predicate.
  let range: Range<Int>

  enum Kind: Hashable {
    case relation(Comparison.Operator)
    case sign(Sign)
    case constant(Text)
    /// A word without a meaning here.
    case word
    case number
    /// `%@`, `%K`, `$NAME`: a placeholder that a program should have filled in.
    case placeholder
    case stray(Unicode.Scalar)
    case end
  }

  /// The other signs and words with a meaning. Words may have any case, and several signs have two spellings.
  enum Sign: String {
    case subject = "SELF"
    case always = "TRUEPREDICATE"
    case never = "FALSEPREDICATE"
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case oneOf = "IN"
    case matches = "MATCHES"
    case open = "("
    case close = ")"
    case openList = "{"
    case closeList = "}"
    case openOptions = "["
    case closeOptions = "]"
    case comma = ","
  }
}

extension PredicateToken.Kind {
  private static let otherSpellings = [
    "=": "==", "<>": "!=", "=<": "<=", "=>": ">=", "&&": "AND", "||": "OR", "!": "NOT",
  ]

  /// The meaning of a sign, or of a word in capitals; `nil` if it has none.
  fileprivate init?(meaningOf written: String) {
    let spelling = Self.otherSpellings[written] ?? written
    if let relation = Comparison.Operator(rawValue: spelling) {
      self = .relation(relation)
    } else if let sign = PredicateToken.Sign(rawValue: spelling) {
      self = .sign(sign)
    } else {
      return nil
    }
  }
}

/// Splits a predicate into tokens, one at a time, so that the first fault is the one that is reported.
struct PredicateLexer {
  private let bytes: [UInt8]
  private var offset = 0
  /// Whether a text is read as an expression, where a backslash stays before what is no escape of a text.
  var readsExpression = false

  /// A predicate that is too long is refused unread.
  init(_ source: Text) throws(PredicateError) {
    bytes = source.withBytes { Array($0) }
    if bytes.count > Limits.predicate {
      throw error(at: Limits.predicate, "a predicate has at most \(Limits.predicate) bytes, this one \(bytes.count)")
    }
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Only an error counts the column: no other token needs it.
  func error(at offset: Int, _ reason: String) -> PredicateError {
    PredicateError(column: column(at: offset), reason: reason)
  }

  func column(at offset: Int) -> Int {
    let begun = bytes[..<min(offset + 1, bytes.count)].count { $0 & 0xC0 != 0x80 }
    return offset < bytes.count ? begun : begun + 1
  }

  /// The first byte after any space.
  mutating func peekPastSpace() -> UInt8? {
    skipSpace()
    return offset < bytes.count ? bytes[offset] : nil
  }

  /// An error at the scalar with this number, from 1, of a text in quotes.
  func error(atScalar number: Int, of constant: Range<Int>, _ reason: String) -> PredicateError {
    var ahead = self
    ahead.offset = constant.lowerBound + 1
    for _ in 1..<number {
      if bytes[ahead.offset] == UInt8(ascii: "\\") {
        _ = try? ahead.escaped()
      } else {
        ahead.offset += UTF8.width(ahead.scalar())
      }
    }
    return error(at: ahead.offset, reason)
  }

  mutating func next() throws(PredicateError) -> PredicateToken {
    guard let byte = peekPastSpace() else { return token(.end, from: offset) }
    let start = offset
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return token(.constant(try constant()), from: start)
    case UInt8(ascii: "%"), UInt8(ascii: "$"):
      offset += 1
      if offset < bytes.count, bytes[offset] == UInt8(ascii: "@") { offset += 1 } else { skipWord() }
      return token(.placeholder, from: start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
      if offset + 1 < bytes.count, bytes[offset + 1].isDigit { return number() }
    default:
      skipWord()
      if offset > start {
        let word = String(decoding: bytes[start..<offset].map(\.capital), as: UTF8.self)
        return token(PredicateToken.Kind(meaningOf: word) ?? .word, from: start)
      }
    }
    return symbol()
  }

  /// The longest symbol with a meaning.
  private mutating func symbol() -> PredicateToken {
    for length in [2, 1] where offset + length <= bytes.count {
      let range = offset..<(offset + length)
      if let kind = PredicateToken.Kind(meaningOf: text(range)) {
        offset += length
        return token(kind, from: range.lowerBound)
      }
    }
    let (start, stray) = (offset, scalar())
    offset += UTF8.width(stray)
    return token(.stray(stray), from: start)
  }

  private mutating func number() -> PredicateToken {
    let start = offset
    offset += 1
    while offset < bytes.count, bytes[offset].isWord || bytes[offset] == UInt8(ascii: ".") { offset += 1 }
    return token(.number, from: start)
  }

  private mutating func skipWord() {
    while offset < bytes.count {
      if bytes[offset].isWord {
        offset += 1
      } else if bytes[offset] >= 0x80, scalar().properties.isAlphabetic {
        offset += UTF8.width(scalar())
      } else {
        return
      }
    }
  }

  private mutating func skipSpace() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  /// The scalar that begins here.
  private func scalar() -> Unicode.Scalar {
    text(offset..<min(offset + 4, bytes.count)).unicodeScalars.first ?? "\u{FFFD}"
  }

  private func token(_ kind: PredicateToken.Kind, from start: Int) -> PredicateToken {
    PredicateToken(kind: kind, range: start..<offset)
  }
}

// MARK: - Constants

extension PredicateLexer {
  /// The text between two quotes of the same kind, with its escapes replaced.
  private mutating func constant() throws(PredicateError) -> Text {
    let start = offset
    let quote = bytes[start]
    var content: [UInt8] = []
    offset += 1
    while offset < bytes.count {
      switch bytes[offset] {
      case quote:
        offset += 1
        return Text(String(decoding: content, as: UTF8.self))
      case UInt8(ascii: "\\"): content.append(contentsOf: UTF8.encode(try escaped()) ?? .init())
      case 0: throw error(at: offset, PredicateLexer.noNUL)
      case let byte:
        content.append(byte)
        offset += 1
      }
    }
    throw error(at: start, "this text has no end; another \(text(start..<(start + 1))) ends it")
  }

  private mutating func escaped() throws(PredicateError) -> Unicode.Scalar {
    let start = offset
    offset += 1
    guard offset < bytes.count else { throw error(at: start, "expected something after the backslash, got the end") }
    let escape = scalar()
    if readsExpression, !"\\\"'nrtbfu0".unicodeScalars.contains(escape) { return "\\" }
    offset += UTF8.width(escape)
    switch escape {
    case "\\", "\"", "'": return escape
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "u": return try escapedScalar(from: start)
    case "0": throw error(at: start, PredicateLexer.noNUL)
    case "*", "?":
      throw error(
        at: start,
        "LIKE cannot look for \(escape) itself; ==, BEGINSWITH, ENDSWITH and CONTAINS can, and need no backslash")
    default:
      let known = #"\\, \", \', \n, \r, \t, \b, \f and \uXXXX"#
      throw error(
        at: start, "\\ and \(quoted(String(escape))) are no escape; there are \(known), and a backslash is \\\\")
    }
  }

  /// Four hexadecimal digits, or two groups of four for a scalar that takes two units in UTF-16, as in JSON.
  private mutating func escapedScalar(from start: Int) throws(PredicateError) -> Unicode.Scalar {
    let (unit, end) = bytes.withUnsafeBytes { (JSONText.codeUnit($0, at: start), JSONText.escapeEnd($0, at: start)) }
    guard let unit else { throw error(at: start, "expected four hexadecimal digits after \\u") }
    if unit == 0 { throw error(at: start, PredicateLexer.noNUL) }
    guard let end else {
      throw error(at: start, "this is half of a surrogate pair, and its other half is not next to it")
    }
    offset = end
    return bytes.withUnsafeBytes { JSONText.scalar($0, escapedAt: start) }
  }

  private static let noNUL = "a text without NUL is expected; the bus carries none, so no key has one"
}

extension UInt8 {
  fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  fileprivate var isWord: Bool { MIMESyntax.isLetterOrDigit(self) || self == UInt8(ascii: "_") }
  fileprivate var capital: UInt8 { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") ? self & ~0x20 : self }
}
