// Escapes, and classes of scalars in brackets.

extension ExpressionParser {
  private static let escapes: [Unicode.Scalar: ScalarSet] = [
    "d": .digits, "w": .word, "s": .space, "D": ScalarSet.digits.inverted, "W": ScalarSet.word.inverted,
    "S": ScalarSet.space.inverted, "n": ScalarSet("\n"), "r": ScalarSet("\r"), "t": ScalarSet("\t"),
    "f": ScalarSet("\u{C}"), "v": ScalarSet("\u{B}"),
  ]

  /// What follows a backslash, which has been read.
  mutating func escaped(from start: Int) throws(ExpressionError) -> ScalarSet {
    guard let scalar = next else {
      throw error(at: start, "expected something after the backslash; the character itself is written \\\\")
    }
    offset += 1
    if let set = Self.escapes[scalar] { return set }
    switch scalar {
    case _ where scalar.isDigit || scalar == "k" || scalar == "g":
      throw error(at: start, "there are no back-references, which take more than one pass over the text")
    case "A", "z", "Z": throw error(at: start, "the ends of the text are written ^ and $")
    case "b": throw error(at: start, "a class has characters, and \\b is none")
    case _ where scalar.isWord && scalar != "_":
      throw error(
        at: start,
        "\\\(scalar) is no escape; there are \\d \\w \\s \\D \\W \\S \\b \\n \\r \\t \\f \\v, and signs after a backslash"
      )
    default: return ScalarSet(scalar)
    }
  }

  /// What follows an opening bracket, which has been read, with the closing one.
  mutating func scalarClass(from start: Int) throws(ExpressionError) -> ScalarSet {
    let isInverted = takes("^")
    let first = offset
    var letters: [ClosedRange<UInt32>] = []
    var others: [ClosedRange<UInt32>] = []
    // A closing bracket that comes first belongs to the class.
    while let scalar = next, scalar != "]" || offset == first {
      let place = offset
      let set = try member()
      let isRange = next == "-" && offset + 1 < scalars.count && scalars[offset + 1] != "]"
      guard isRange else {
        if set.only == nil { others += set.ranges } else { letters += set.ranges }
        continue
      }
      offset += 1
      let last = try member()
      guard let from = set.only, let to = last.only else {
        throw error(at: place, "a range goes from one character to another; - itself is written \\-")
      }
      if from > to { throw error(at: place, "a range has its smaller character first") }
      letters.append(from.value...to.value)
    }
    guard takes("]") else { throw error(at: start, "this bracket is not closed; the character itself is written \\[") }
    let set = ScalarSet(letters).cased(ignoresCase).union(ScalarSet(others))
    return isInverted ? set.inverted : set
  }

  private mutating func member() throws(ExpressionError) -> ScalarSet {
    let start = offset
    let scalar = scalars[offset]
    offset += 1
    if scalar == "\\" { return try escaped(from: start) }
    if scalar == "[", next == ":" {
      let named = scalars[(offset + 1)...].drop { $0.isWord || $0 == "^" }
      if named.starts(with: ":]".unicodeScalars) {
        throw error(at: start, "there are no classes with names; \\d, \\w and \\s stand for digits, letters and space")
      }
    }
    return ScalarSet(scalar)
  }
}
