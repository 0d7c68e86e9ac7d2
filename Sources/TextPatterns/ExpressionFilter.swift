/// What a text needs to match at all. It lets most expressions be passed over without running them.
struct ExpressionFilter {
  /// The bytes of the shortest and of the longest text; `nil` for no longest.
  private let least: Int
  private let most: Int?
  /// The bytes that a match can begin with; `nil` if it may be empty.
  let first: ByteSet?
  /// Up to eight bytes that are in each match, as the number that they make, and the mask of their length.
  private let literal: UInt64
  private let mask: UInt64
  /// Whether a match begins at the start of the text only.
  let isAtStart: Bool

  init(_ tree: ExpressionNode) {
    (least, most) = tree.length
    first = tree.isNullable ? nil : tree.firstBytes
    let required = tree.requiredBytes.prefix(8)
    literal = required.reduce(0) { $0 << 8 | UInt64($1) }
    mask = required.isEmpty ? 0 : .max >> UInt64(64 - 8 * required.count)
    isAtStart = tree.isAtStart
  }

  func excludes(_ text: UnsafeRawBufferPointer, _ extent: RegularExpression.Extent, steps: inout Int) -> Bool {
    steps -= 2
    if text.count < least { return true }
    if extent == .whole {
      if let most, text.count > most { return true }
      if let first, !first.contains(text[0]) { return true }
    }
    if mask == 0 { return false }
    steps -= text.count / 4
    return !hasLiteral(text)
  }

  /// The bytes before the text count as NUL. A literal of NULs may so be found where it is not, and the expression is run in vain.
  private func hasLiteral(_ text: UnsafeRawBufferPointer) -> Bool {
    var window: UInt64 = 0
    for byte in text {
      window = window << 8 | UInt64(byte)
      if window & mask == literal { return true }
    }
    return false
  }
}

struct ByteSet {
  private var words = SIMD4<UInt64>()

  mutating func insert(_ byte: UInt8) { words[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }

  mutating func formUnion(_ other: ByteSet) { words |= other.words }

  func contains(_ byte: UInt8) -> Bool { words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 != 0 }
}

// MARK: - What a tree says of its matches

extension ExpressionNode {
  fileprivate var length: (least: Int, most: Int?) {
    switch self {
    case .empty, .assertion: (0, 0)
    case .set(let set):
      (set.ranges.first.map { $0.lowerBound.width } ?? 1, set.ranges.last.map { $0.upperBound.width } ?? 1)
    case .sequence(let nodes):
      nodes.map(\.length).reduce((0, 0)) { sum, next in
        (sum.least + next.least, sum.most.flatMap { most in next.most.map { most + $0 } })
      }
    case .choice(let nodes):
      nodes.dropFirst().map(\.length).reduce(nodes[0].length) { one, other in
        (min(one.least, other.least), one.most.flatMap { most in other.most.map { max(most, $0) } })
      }
    case .repetition(let repetition): repetition.length
    case .group(_, let node): node.length
    }
  }

  fileprivate var firstBytes: ByteSet {
    var first = ByteSet()
    switch self {
    case .empty, .assertion: break
    case .set(let set): for range in set.ranges { first.insertLeads(of: range) }
    case .sequence(let nodes):
      for node in nodes {
        first.formUnion(node.firstBytes)
        if !node.isNullable { break }
      }
    case .choice(let nodes): for node in nodes { first.formUnion(node.firstBytes) }
    case .repetition(let repetition): return repetition.node.firstBytes
    case .group(_, let node): return node.firstBytes
    }
    return first
  }

  /// The longest text that is in each match, as far as this finds it.
  fileprivate var requiredBytes: [UInt8] {
    switch self {
    case .empty, .assertion, .choice: return []
    case .set: return literalBytes ?? []
    case .repetition(let repetition): return repetition.least > 0 ? repetition.node.requiredBytes : []
    case .group(_, let node): return node.requiredBytes
    case .sequence(let nodes):
      var (best, run): ([UInt8], [UInt8]) = ([], [])
      for node in nodes {
        if let literal = node.literalBytes {
          run += literal
        } else {
          if run.count > best.count { best = run }
          run = []
          let inner = node.requiredBytes
          if inner.count > best.count { best = inner }
        }
      }
      return run.count > best.count ? run : best
    }
  }

  /// Its only match, if it has only one.
  private var literalBytes: [UInt8]? {
    switch self {
    case .empty: []
    case .set(let set): set.only.flatMap { UTF8.encode($0) }.map(Array.init)
    case .group(_, let node): node.literalBytes
    case .assertion, .choice, .repetition, .sequence: nil
    }
  }

  fileprivate var isAtStart: Bool {
    switch self {
    case .assertion(.start): true
    case .sequence(let nodes): nodes[0].isAtStart
    case .choice(let nodes): nodes.allSatisfy(\.isAtStart)
    case .group(_, let node): node.isAtStart
    case .empty, .set, .assertion, .repetition: false
    }
  }
}

extension ExpressionNode.Repetition {
  fileprivate var length: (least: Int, most: Int?) {
    let once = node.length
    return (least * once.least, once.most == 0 ? 0 : most.flatMap { most in once.most.map { most * $0 } })
  }
}

extension ByteSet {
  /// The first bytes, in UTF-8, of the scalars of a range: they have the order of the scalars.
  fileprivate mutating func insertLeads(of range: ClosedRange<UInt32>) {
    // Between the last of ASCII and the first lead are the bytes that no scalar begins with.
    for byte in range.lowerBound.lead...range.upperBound.lead where byte & 0xC0 != 0x80 { insert(byte) }
  }
}

extension UInt32 {
  /// Of this scalar's UTF-8; also where it is a surrogate, which has none.
  fileprivate var width: Int { self < 0x80 ? 1 : self < 0x800 ? 2 : self < 0x10000 ? 3 : 4 }

  fileprivate var lead: UInt8 {
    switch width {
    case 1: UInt8(self)
    case 2: 0xC0 | UInt8(self >> 6)
    case 3: 0xE0 | UInt8(self >> 12)
    default: 0xF0 | UInt8(self >> 18)
    }
  }
}
