/// A piece of a predicate: a word, a sign, or a text in quotes.
struct PredicateToken {
  let kind: Kind
  /// Its bytes in the predicate.
  let range: Range<Int>

  enum Kind: Hashable {
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

  /// The signs and words with a meaning. Words may have any case, and several signs have two spellings.
  enum Sign: String {
    case subject = "SELF"
    case always = "TRUEPREDICATE"
    case never = "FALSEPREDICATE"
    case and = "AND"
    case or = "OR"
    case not = "NOT"
    case oneOf = "IN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case matches = "MATCHES"
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case open = "("
    case close = ")"
    case openList = "{"
    case closeList = "}"
    case openOptions = "["
    case closeOptions = "]"
    case comma = ","

    /// The sign with this spelling of one or two characters; `nil` if there is none.
    init?(symbols: String) {
      switch symbols {
      case "=": self = .equal
      case "<>": self = .notEqual
      case "=<": self = .lessOrEqual
      case "=>": self = .greaterOrEqual
      case "&&": self = .and
      case "||": self = .or
      case "!": self = .not
      default: self.init(rawValue: symbols)
      }
    }
  }
}
