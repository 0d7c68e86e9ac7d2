/// A piece of a predicate: a word, a sign, or a text in quotes.
struct PredicateToken {
  let kind: Kind
  /// Where it stands, in bytes.
  let range: Range<Int>

  enum Kind: Hashable {
    case sign(Sign)
    case constant(Text)
    /// A word that means nothing here.
    case word
    case number
    /// `%@`, `%K`, `$NAME`: what a program should have filled in.
    case placeholder
    case stray(Unicode.Scalar)
    case end
  }

  /// What means something. Words come in any case, and several signs have two spellings.
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

    /// What `symbols` of one or two characters stand for; `nil` for none.
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
