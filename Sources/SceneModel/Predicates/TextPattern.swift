/// A pattern of `*`, `?` and texts, which is matched against a text in all possible ways at once.
///
/// The obvious matcher, which goes back to the last star after a failure, takes the text's length times the pattern's. Here bit *n* of a row of words
/// means that the first *n* elements may have been matched. Each byte of the text moves all bits in one step, which is a single word for a pattern
/// below 64 bytes. No pattern makes it slower.
struct TextPattern {
  private enum Element {
    case byte(UInt8)
    /// One scalar: a byte that begins one, and those that continue it.
    case scalar
    /// One of these bytes.
    case anyOf([UInt8])
  }

  private var elements: [Element] = []
  /// The number of elements before each star.
  private var stars: [Int] = []

  init(like pattern: Text) {
    pattern.withBytes { bytes in
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "*"): stars.append(elements.count)
        case UInt8(ascii: "?"): elements.append(.scalar)
        default: elements.append(.byte(byte))
        }
      }
    }
  }

  /// A pattern of the shell: `*`, `?`, and sets such as `[1-9j]`. A set has ASCII characters only; a bracket without its closing bracket stands for
  /// itself.
  init(glob pattern: Text) {
    let bytes = Array(pattern.string.utf8)
    var index = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "*"): stars.append(elements.count)
      case UInt8(ascii: "?"): elements.append(.scalar)
      case UInt8(ascii: "["):
        let rest = bytes[(index + 1)...]
        let isInverted = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        let written = isInverted ? rest.dropFirst() : rest
        // A closing bracket that comes first belongs to the set.
        guard let end = written.dropFirst().firstIndex(of: UInt8(ascii: "]")) else { fallthrough }
        let taken = TextPattern.set(Array(written[..<end]))
        elements.append(.anyOf(isInverted ? (0..<0x80).filter { !taken.contains($0) } : Array(taken)))
        index = end
      default: elements.append(.byte(bytes[index]))
      }
      index += 1
    }
  }

  /// The bytes of `1-9j`.
  private static func set(_ written: [UInt8]) -> Set<UInt8> {
    var taken: Set<UInt8> = []
    var index = 0
    while index < written.count {
      if index + 2 < written.count, written[index + 1] == UInt8(ascii: "-"), written[index] <= written[index + 2] {
        taken.formUnion(written[index]...written[index + 2])
        index += 3
      } else {
        taken.insert(written[index])
        index += 1
      }
    }
    return taken
  }

  init(containing part: Text) {
    elements = part.withBytes { $0.map(Element.byte) }
    stars = [0, elements.count]
  }

  /// The most work of a match, as `mind-benchmark worst` measures it: each byte of the text moves the words of a row; before that the rows are
  /// cleared, and each byte of the pattern is marked in them.
  static func steps(_ pattern: Text, along text: Text) -> Int {
    (pattern.count / 64 + 1) * (text.count + 64) + 3 * pattern.count + 64
  }

  func matches(_ text: Text) -> Bool {
    let words = elements.count / 64 + 1
    // A row for the elements that each byte passes, for those that any scalar passes, for those where the match may stay (at a star, within a
    // scalar), and for the present state.
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: (256 + 4) * words) { rows in
      rows.initialize(repeating: 0)
      return text.withBytes { walk(along: $0, rows, words) }
    }
  }

  private func walk(along text: UnsafeRawBufferPointer, _ rows: UnsafeMutableBufferPointer<UInt64>, _ words: Int)
    -> Bool
  {
    let (scalars, staying, within, reached) = (256 * words, 257 * words, 258 * words, 259 * words)
    func mark(_ bit: Int, in row: Int) { rows[row + bit / 64] |= 1 << UInt64(bit % 64) }

    for (index, element) in elements.enumerated() {
      switch element {
      case .byte(let byte): mark(index, in: Int(byte) * words)
      case .anyOf(let bytes): for byte in bytes { mark(index, in: Int(byte) * words) }
      case .scalar:
        mark(index, in: scalars)
        mark(index + 1, in: within)
      }
    }
    for star in stars { mark(star, in: staying) }
    mark(0, in: reached)

    let (last, lastBit) = (reached + elements.count / 64, UInt64(1) << UInt64(elements.count % 64))
    let endsInStar = stars.last == elements.count
    for byte in text {
      if endsInStar, rows[last] & lastBit != 0 { return true }
      let continues = byte & 0xC0 == 0x80
      let passing = Int(byte) * words
      var carried: UInt64 = 0
      var alive: UInt64 = 0
      for word in 0..<words {
        let here = rows[reached + word]
        let passes = rows[passing + word] | (continues ? 0 : rows[scalars + word])
        let stays = rows[staying + word] | (continues ? rows[within + word] : 0)
        let moved = here & passes
        rows[reached + word] = moved << 1 | carried | here & stays
        carried = moved >> 63
        alive |= rows[reached + word]
      }
      if alive == 0 { return false }
    }
    return rows[last] & lastBit != 0
  }
}
