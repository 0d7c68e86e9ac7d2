/// What each type is a kind of, directly and through others.
///
/// A table of all ancestors would grow with the square of a long chain, which a broken database may hold; and a walk along
/// parents costs more than looking at the half dozen that a type has. So the table has those types that have few, and the
/// others are walked.
struct TypeAncestors: Sendable {
  typealias Number = TypeNames.Number

  /// More ancestors than this are walked: twice what any type of Debian's database has.
  private static let few = 24
  /// Stands in the table for a type that has more.
  private static let many = Number.max

  /// Each type's parents, one after the other, and where they begin; and in the same way its ancestors.
  private var parents: Rows
  private var ancestors: Rows

  /// Of pairs of a type and its parent, where a type is a number below `count`.
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

  /// Every ancestor of the type, without the type itself.
  func all(of type: Number) -> [Number] {
    let row = ancestors[type]
    if row.first != TypeAncestors.many { return Array(row) }
    var found: [Number] = []
    var seen: Set<Number> = [type]
    var waiting = [type]
    while let current = waiting.popLast() {
      for parent in parents[current] where seen.insert(parent).inserted {
        found.append(parent)
        waiting.append(parent)
      }
    }
    return found
  }

  /// False where there are too many.
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
