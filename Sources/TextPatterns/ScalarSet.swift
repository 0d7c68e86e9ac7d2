/// A set of Unicode scalars, as ranges of their values that are sorted and do not touch.
struct ScalarSet: Hashable {
  private(set) var ranges: [ClosedRange<UInt32>]

  /// Only little is hashed: a set may have many ranges, and the compiler looks it up for each of its repetitions.
  func hash(into hasher: inout Hasher) {
    hasher.combine(ranges.count)
    hasher.combine(ranges.last)
  }

  private static let all: ClosedRange<UInt32> = 0...0x10FFFF

  init(_ ranges: [ClosedRange<UInt32>]) {
    self.ranges = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound &+ 1 {
        self.ranges[self.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  init(_ scalar: Unicode.Scalar) { ranges = [scalar.value...scalar.value] }

  /// The only scalar, if there is one only.
  var only: Unicode.Scalar? {
    guard ranges.count == 1, ranges[0].count == 1 else { return nil }
    return Unicode.Scalar(ranges[0].lowerBound)
  }

  var inverted: ScalarSet {
    var inverted: [ClosedRange<UInt32>] = []
    var next = ScalarSet.all.lowerBound
    for range in ranges {
      if range.lowerBound > next { inverted.append(next...(range.lowerBound - 1)) }
      next = range.upperBound + 1
    }
    if next <= ScalarSet.all.upperBound { inverted.append(next...ScalarSet.all.upperBound) }
    return ScalarSet(inverted)
  }

  func union(_ other: ScalarSet) -> ScalarSet { ScalarSet(ranges + other.ranges) }

  /// With every scalar that has the simple case folding of one of these.
  var ignoringCase: ScalarSet {
    var folded = ranges
    for range in ranges { CaseFolding.forEachFolding(of: range) { folded.append($0) } }
    var all = folded
    for range in ScalarSet(folded).ranges { CaseFolding.forEachOrigin(of: range) { all.append($0) } }
    return ScalarSet(all)
  }

  static let digits = ScalarSet([0x30...0x39])
  static let word = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  static let space = ScalarSet([0x09...0x0D, 0x20...0x20])
  static let allButLineFeed = ScalarSet([0x0A...0x0A]).inverted
}
