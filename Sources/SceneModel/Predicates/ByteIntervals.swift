/// A set of byte strings, as intervals of their order: sorted, disjoint, each without its upper end.
///
/// The strings that begin with a text are such an interval; a single string is the shortest interval.
struct ByteIntervals {
  private(set) var intervals: [Interval]

  struct Interval {
    let lower: [UInt8]
    /// The first string after the interval; `nil` if it has no end.
    let upper: [UInt8]?
  }

  static let all = ByteIntervals(intervals: [Interval(lower: [], upper: nil)])
  static let none = ByteIntervals(intervals: [])
  /// All strings except the empty one, which comes first.
  static let nonempty = from([0])

  static func from(_ lower: [UInt8]) -> Self { .init(intervals: [Interval(lower: lower, upper: nil)]) }
  static func before(_ upper: [UInt8]) -> Self {
    upper.isEmpty ? none : .init(intervals: [Interval(lower: [], upper: upper)])
  }
  static func only(_ point: [UInt8]) -> Self { .init(intervals: [Interval(lower: point, upper: point + [0])]) }
  static func only(_ points: [[UInt8]]) -> Self {
    let intervals = points.sorted { $0.lexicographicallyPrecedes($1) }.map { Interval(lower: $0, upper: $0 + [0]) }
    return .init(intervals: joined(intervals))
  }
  /// The strings that begin with `prefix`. No byte of UTF-8 is the highest, so the end always exists.
  static func beginning(with prefix: [UInt8]) -> Self {
    guard let last = prefix.last, last < .max else { return all }
    return .init(intervals: [Interval(lower: prefix, upper: prefix.dropLast() + [last + 1])])
  }

  var isEmpty: Bool { intervals.isEmpty }

  /// The strings of the set, if all its intervals are single strings; `nil` otherwise.
  var points: [[UInt8]]? {
    let areAll = intervals.allSatisfy { interval in interval.upper.map { $0 == interval.lower + [0] } ?? false }
    return areAll ? intervals.map(\.lower) : nil
  }

  var complement: Self {
    var gaps: [Interval] = []
    var start: [UInt8]? = []
    for interval in intervals {
      if let start, start.lexicographicallyPrecedes(interval.lower) {
        gaps.append(Interval(lower: start, upper: interval.lower))
      }
      start = interval.upper
    }
    if let start { gaps.append(Interval(lower: start, upper: nil)) }
    return .init(intervals: gaps)
  }

  func intersection(_ other: Self) -> Self {
    var common: [Interval] = []
    var (mine, theirs) = (0, 0)
    while mine < intervals.count, theirs < other.intervals.count {
      let (one, two) = (intervals[mine], other.intervals[theirs])
      let lower = one.lower.lexicographicallyPrecedes(two.lower) ? two.lower : one.lower
      let oneEndsFirst = Self.precedes(one.upper, two.upper)
      let upper = oneEndsFirst ? one.upper : two.upper
      if Self.precedes(lower, upper) { common.append(Interval(lower: lower, upper: upper)) }
      if oneEndsFirst { mine += 1 } else { theirs += 1 }
    }
    return .init(intervals: common)
  }

  func union(_ other: Self) -> Self {
    var (mine, theirs) = (intervals[...], other.intervals[...])
    var sorted: [Interval] = []
    while let one = mine.first, let two = theirs.first {
      sorted.append(two.lower.lexicographicallyPrecedes(one.lower) ? theirs.removeFirst() : mine.removeFirst())
    }
    return .init(intervals: Self.joined(sorted + mine + theirs))
  }

  /// Joins intervals that overlap. Neighbouring points stay points.
  private static func joined(_ sorted: [Interval]) -> [Interval] {
    var apart: [Interval] = []
    for interval in sorted {
      guard let last = apart.last, precedes(interval.lower, last.upper) else {
        apart.append(interval)
        continue
      }
      let upper = precedes(last.upper, interval.upper) ? interval.upper : last.upper
      apart[apart.count - 1] = Interval(lower: last.lower, upper: upper)
    }
    return apart
  }

  /// Whether an end comes before another; `nil` is the end that never comes.
  private static func precedes(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
    guard let one else { return false }
    guard let other else { return true }
    return one.lexicographicallyPrecedes(other)
  }
}
