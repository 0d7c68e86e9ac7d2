/// An expression as a tree. Groups without a name are gone from it: they only group.
indirect enum ExpressionNode {
  case empty
  /// One scalar of a set. A literal is a set of one.
  case set(ScalarSet)
  case assertion(Assertion)
  /// At least two nodes, one after the other.
  case sequence([ExpressionNode])
  /// At least two nodes, the preferred first.
  case choice([ExpressionNode])
  case repetition(Repetition)
  /// The named group with this number, from 0.
  case group(Int, ExpressionNode)

  struct Repetition {
    let node: ExpressionNode
    let least: Int
    /// `nil` for any number.
    let most: Int?
    let isLazy: Bool
    /// Where it stands in the expression.
    let column: Int
  }

  enum Assertion: UInt8 {
    case start
    case end
    case wordBoundary

    func holds(at position: Int, in text: UnsafeRawBufferPointer) -> Bool {
      switch self {
      case .start: position == 0
      case .end: position == text.count
      case .wordBoundary:
        (position > 0 && text[position - 1].isWord) != (position < text.count && text[position].isWord)
      }
    }
  }

  /// Whether it can match the empty text.
  var isNullable: Bool {
    switch self {
    case .empty, .assertion: true
    case .set: false
    case .sequence(let nodes): nodes.allSatisfy(\.isNullable)
    case .choice(let nodes): nodes.contains(where: \.isNullable)
    case .repetition(let repetition): repetition.least == 0 || repetition.node.isNullable
    case .group(_, let node): node.isNullable
    }
  }
}

extension UInt8 {
  /// Whether `\w` takes it. A byte of a longer scalar is none.
  var isWord: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
