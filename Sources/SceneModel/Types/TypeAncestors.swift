/// How far a type is from a type that it conforms to. The nearer comes first.
package struct TypeDistance: Comparable, Hashable, Sendable {
  package enum Level: UInt8, Comparable, CaseIterable, Sendable {
    /// The type itself, or an ancestor that is none of the following.
    case ancestor
    /// `image/*` and the like, and what only such a kind conforms to.
    case kind
    /// `public.data`, and what only that conforms to.
    case data
    /// `*/*`
    case everything

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
  }

  package let level: Level
  /// The steps from type to parent.
  package let steps: Int
  /// How many of its parameters the other type has not.
  package var lostParameters = 0

  /// The distance of a type to itself.
  package init() { self.init(.ancestor) }

  init(_ level: Level, steps: Int = 0) {
    self.level = level
    self.steps = steps
  }

  package var isZero: Bool { self == TypeDistance() }

  package static func < (one: Self, other: Self) -> Bool {
    (one.level, one.steps, one.lostParameters) < (other.level, other.steps, other.lostParameters)
  }
}

/// The ancestors of each type, direct and indirect.
///
/// A table of all ancestors would grow with the square of a long chain, which a broken database may have; and a walk along parents costs more than
/// looking at the half dozen ancestors of a usual type. So the table has the types with few ancestors, and the others are walked.
struct TypeAncestors: Sendable {
  typealias Number = TypeNames.Number

  /// A type with more ancestors is walked: twice as many as any type in Debian's database has.
  private static let few = 24
  /// The mark in the table for a type with more.
  private static let many = Number.max

  /// The parents of each type in one array, with the positions where they begin; and, below, its ancestors in the same form.
  private var parents: Rows
  private var ancestors: Rows

  /// From pairs of a type and its parent. A type is a number below `count`.
  init(count: Int, _ pairs: [(type: Number, parent: Number)]) {
    parents = Rows(count: count, pairs)
    ancestors = Rows()
    var walked: [Number] = []
    for type in 0..<Number(count) {
      walked.removeAll(keepingCapacity: true)
      if !walk(few: &walked, from: type) { walked = [TypeAncestors.many] }
      ancestors.append(walked)
    }
  }

  func has(_ type: Number, _ ancestor: Number) -> Bool {
    if type == ancestor { return true }
    let row = ancestors[type]
    return row.first == TypeAncestors.many ? finds(ancestor, from: type) : row.contains(ancestor)
  }

  /// Every ancestor of a type, without the type itself, and how far each is.
  ///
  /// A way through a type of a later level is longer than any way that avoids it. So the levels are walked one after another.
  ///
  /// - Parameters:
  ///   - type: The type; `nil` for a type without a number, which has only `parents`.
  ///   - level: The level of an ancestor.
  func distances(
    from type: Number?, _ parents: [Number], _ level: (Number) -> TypeDistance.Level
  ) -> [(type: Number, distance: TypeDistance)] {
    var found: [(type: Number, distance: TypeDistance)] = []
    var seen: Set<Number> = []
    if let type { seen.insert(type) }
    // By level, and in it by steps.
    var waiting = [[[Number]]](repeating: [], count: TypeDistance.Level.allCases.count)
    func visit(_ parents: some Sequence<Number>, after distance: TypeDistance) {
      for parent in parents where !seen.contains(parent) {
        let level = Int(max(distance.level, level(parent)).rawValue)
        while waiting[level].count <= distance.steps + 1 { waiting[level].append([]) }
        waiting[level][distance.steps + 1].append(parent)
      }
    }
    visit(parents, after: TypeDistance())
    if let type { visit(self.parents[type], after: TypeDistance()) }
    for level in TypeDistance.Level.allCases {
      var distance = TypeDistance(level)
      while distance.steps < waiting[Int(level.rawValue)].count {
        for type in waiting[Int(level.rawValue)][distance.steps] where seen.insert(type).inserted {
          found.append((type, distance))
          visit(self.parents[type], after: distance)
        }
        distance = TypeDistance(level, steps: distance.steps + 1)
      }
    }
    return found
  }

  /// False if there are too many.
  private func walk(few walked: inout [Number], from type: Number) -> Bool {
    var next = 0
    var current = type
    while true {
      for parent in parents[current] where parent != type && !walked.contains(parent) {
        if walked.count == TypeAncestors.few { return false }
        walked.append(parent)
      }
      if next == walked.count { return true }
      current = walked[next]
      next += 1
    }
  }

  private func finds(_ ancestor: Number, from type: Number) -> Bool {
    var seen = [Bool](repeating: false, count: parents.count)
    var waiting = [type]
    seen[Int(type)] = true
    while let current = waiting.popLast() {
      for parent in parents[current] where !seen[Int(parent)] {
        if parent == ancestor { return true }
        seen[Int(parent)] = true
        waiting.append(parent)
      }
    }
    return false
  }
}

/// A list of numbers for each number, in two arrays.
private struct Rows: Sendable {
  private var starts: [TypeNames.Number] = [0]
  private var entries: [TypeNames.Number] = []

  init() {}

  init(count: Int, _ pairs: [(type: TypeNames.Number, parent: TypeNames.Number)]) {
    let sorted = pairs.sorted { $0.type != $1.type ? $0.type < $1.type : $0.parent < $1.parent }
    var next = sorted.startIndex
    for type in 0..<TypeNames.Number(count) {
      let start = entries.count
      while next < sorted.endIndex, sorted[next].type == type {
        let parent = sorted[next].parent
        if parent != type, entries.count == start || entries.last != parent { entries.append(parent) }
        next += 1
      }
      starts.append(TypeNames.Number(entries.count))
    }
  }

  var count: Int { starts.count - 1 }

  mutating func append(_ row: [TypeNames.Number]) {
    entries += row
    starts.append(TypeNames.Number(entries.count))
  }

  subscript(number: TypeNames.Number) -> ArraySlice<TypeNames.Number> {
    entries[Int(starts[Int(number)])..<Int(starts[Int(number) + 1])]
  }
}
