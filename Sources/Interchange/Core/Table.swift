/// A dictionary whose changes can be taken back until they are kept.
///
/// The prompt book decides a turn before the store has taken it. Each table remembers what every change replaced: when a cue is refused, the table
/// returns to where the cue began, and when the store refuses a turn, to where the turn began. Nothing else in the core undoes anything.
package struct Table<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private(set) var values: [Key: Value] = [:]
  private var replaced: [(key: Key, value: Value?)] = []

  package init() {}

  /// The number of changes that can be taken back.
  var mark: Int { replaced.count }

  subscript(key: Key) -> Value? {
    get { values[key] }
    set {
      let before: Value?
      if let newValue {
        before = values.updateValue(newValue, forKey: key)
      } else {
        before = values.removeValue(forKey: key)
      }
      replaced.append((key, before))
    }
  }

  /// Takes back every change since `mark`, the last one first.
  mutating func rewind(to mark: Int) {
    while replaced.count > mark {
      let (key, value) = replaced.removeLast()
      if let value { values[key] = value } else { values.removeValue(forKey: key) }
    }
  }

  /// Keeps all changes: they can no longer be taken back.
  mutating func keep() { if !replaced.isEmpty { replaced.removeAll(keepingCapacity: replaced.count <= 64) } }

  /// Adds a value that is remembered for speed only, and that stays when changes are taken back.
  mutating func remember(_ value: Value, for key: Key) { values[key] = value }

  /// Forgets values that are remembered for speed only. No change may be waiting to be kept.
  mutating func forget(where isForgotten: (Key, Value) -> Bool) {
    precondition(replaced.isEmpty, "a table forgets between two turns")
    values = values.filter { !isForgotten($0.key, $0.value) }
  }

  mutating func removeAll() {
    precondition(replaced.isEmpty, "a table forgets between two turns")
    values.removeAll(keepingCapacity: values.count <= 1_024)
  }

  var count: Int { values.count }
  var isEmpty: Bool { values.isEmpty }
}

/// Some elements for each key, in order and each once. Changes can be taken back as in a ``Table``. A change costs the same however many elements a
/// key has, except for moving the elements behind it.
package struct Rows<Key: Hashable & Sendable, Element: Comparable & Sendable>: Sendable {
  private var rows: [Key: [Element]] = [:]
  private var changes: [(key: Key, element: Element, isInsertion: Bool)] = []

  package init() {}

  var mark: Int { changes.count }

  subscript(key: Key) -> [Element] { rows[key] ?? [] }

  var keys: some Collection<Key> { rows.keys }

  func first(of key: Key) -> Element? { rows[key]?.first }

  func count(of key: Key) -> Int { rows[key]?.count ?? 0 }

  /// Adds an element. Returns whether it was new.
  @discardableResult
  mutating func insert(_ element: Element, for key: Key) -> Bool {
    guard place(element, for: key) else { return false }
    changes.append((key, element, true))
    return true
  }

  /// Removes an element. Returns whether it was there.
  @discardableResult
  mutating func remove(_ element: Element, for key: Key) -> Bool {
    guard take(element, for: key) else { return false }
    changes.append((key, element, false))
    return true
  }

  mutating func rewind(to mark: Int) {
    while changes.count > mark {
      let (key, element, isInsertion) = changes.removeLast()
      _ = isInsertion ? take(element, for: key) : place(element, for: key)
    }
  }

  mutating func keep() { if !changes.isEmpty { changes.removeAll(keepingCapacity: changes.count <= 64) } }

  private mutating func place(_ element: Element, for key: Key) -> Bool {
    // A new element is usually the last.
    if rows[key]?.last.map({ $0 < element }) ?? true {
      rows[key, default: []].append(element)
      return true
    }
    guard let row = rows.index(forKey: key) else { return false }
    let place = rows.values[row].place(of: element)
    if rows.values[row][place] == element { return false }
    rows.values[row].insert(element, at: place)
    return true
  }

  private mutating func take(_ element: Element, for key: Key) -> Bool {
    guard let row = rows.index(forKey: key) else { return false }
    let place = rows.values[row].place(of: element)
    guard place < rows.values[row].count, rows.values[row][place] == element else { return false }
    rows.values[row].remove(at: place)
    if rows.values[row].isEmpty { rows.remove(at: row) }
    return true
  }
}

extension Array where Element: Comparable {
  /// The index of the first element that is not smaller.
  fileprivate func place(of element: Element) -> Int {
    var places = 0..<count
    while !places.isEmpty {
      let middle = places.lowerBound + places.count / 2
      places = self[middle] < element ? (middle + 1)..<places.upperBound : places.lowerBound..<middle
    }
    return places.lowerBound
  }
}

/// Events at certain times, the earliest first. An event that was called off is found out when its time comes, so nothing has to be taken back here.
struct Agenda<Item: Sendable>: Sendable {
  private var heap: [(at: Int64, number: Int, item: Item)] = []
  private var count = 0

  /// The earliest time, in microseconds of uptime; `nil` if there is no event.
  var earliest: Int64? { heap.first?.at }

  /// The number of events, including those that were called off.
  var entries: Int { heap.count }

  /// Removes events that were called off.
  mutating func removeAll(where isCalledOff: (Item) -> Bool) {
    let rest = heap.filter { !isCalledOff($0.item) }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    // A sorted array is a heap.
    heap = rest
  }

  mutating func add(_ item: Item, at moment: Int64) {
    count += 1
    heap.append((moment, count, item))
    var child = heap.count - 1
    while child > 0, case let parent = (child - 1) / 2, isEarlier(child, parent) {
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// The next event whose time has come.
  mutating func next(at now: Int64) -> Item? {
    guard let first = heap.first, first.at <= now else { return nil }
    let last = heap.removeLast()
    if heap.isEmpty { return first.item }
    heap[0] = last
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isEarlier(child, smallest) {
        smallest = child
      }
      if smallest == parent { return first.item }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }

  /// Of equal times, the event that was added first comes first.
  private func isEarlier(_ one: Int, _ other: Int) -> Bool {
    (heap[one].at, heap[one].number) < (heap[other].at, heap[other].number)
  }
}
