/// The fate of the changes of a cue or of a turn.
///
/// The prompt book decides a turn before the store has taken it. So each value of the memory remembers what its changes replaced: when a cue is
/// refused, the value returns to where the cue began, and when the store refuses a turn, to where the turn began. Nothing else in the core undoes
/// anything.
enum Settlement {
  /// A cue begins.
  case beginCue
  /// The changes since the cue began are undone.
  case rollBackCue
  /// The changes since the turn began are undone.
  case rollBackTurn
  /// All changes stay. Another turn begins.
  case commitTurn

  var rollsBack: Bool { self == .rollBackCue || self == .rollBackTurn }
}

/// Each value of the memory whose changes can be undone is one, so that the theatre finds the value that `Memory.settle` lacks.
protocol Settled {
  /// Whether no change can be undone. This is so between two turns.
  var isSettled: Bool { get }
}

/// Changes in their order, which can be undone until the turn is committed.
struct Changes<Change: Sendable>: Sendable, Settled {
  private var changes: [Change] = []
  /// The number of changes when the cue began.
  private var before = 0

  var isEmpty: Bool { changes.isEmpty }
  var isSettled: Bool { isEmpty }

  mutating func append(_ change: consuming Change) { changes.append(change) }

  /// Returns whether there are changes to undo.
  mutating func settle(_ settlement: Settlement) -> Bool {
    switch settlement {
    case .beginCue: before = changes.count
    case .rollBackCue: break
    case .rollBackTurn: before = 0
    case .commitTurn:
      before = 0
      if !changes.isEmpty { changes.removeAll(keepingCapacity: changes.count <= 64) }
    }
    return settlement.rollsBack && changes.count > before
  }

  /// Removes and returns the last change that is to be undone.
  mutating func nextToUndo() -> Change? { changes.count > before ? changes.removeLast() : nil }
}

/// A value whose changes can be undone until the turn is committed.
@propertyWrapper
struct Undoable<Value: Equatable & Sendable>: Sendable, Settled {
  var wrappedValue: Value
  private var atCue: Value
  private var atTurn: Value

  init(wrappedValue: Value) { (self.wrappedValue, atCue, atTurn) = (wrappedValue, wrappedValue, wrappedValue) }

  var isSettled: Bool { wrappedValue == atTurn }

  mutating func settle(_ settlement: Settlement) {
    switch settlement {
    case .beginCue: atCue = wrappedValue
    case .rollBackCue: wrappedValue = atCue
    case .rollBackTurn: wrappedValue = atTurn
    case .commitTurn: (atCue, atTurn) = (wrappedValue, wrappedValue)
    }
  }
}

/// A dictionary whose changes can be undone until the turn is committed.
struct Table<Key: Hashable & Sendable, Value: Sendable>: Sendable, Settled {
  private(set) var values: [Key: Value] = [:]
  private var replaced = Changes<Replaced>()

  /// No tuple: the runtime would look up the type of a tuple each time.
  private struct Replaced {
    let key: Key
    let value: Value?
  }

  subscript(key: Key) -> Value? {
    get { values[key] }
    set {
      if let newValue {
        replaced.append(Replaced(key: key, value: values.updateValue(newValue, forKey: key)))
      } else {
        replaced.append(Replaced(key: key, value: values.removeValue(forKey: key)))
      }
    }
  }

  mutating func removeValue(for key: Key) -> Value? {
    guard let value = values.removeValue(forKey: key) else { return nil }
    replaced.append(Replaced(key: key, value: value))
    return value
  }

  var isSettled: Bool { replaced.isEmpty }

  /// Most tables have not changed, and need no call.
  @inline(__always)
  mutating func settle(_ settlement: Settlement) { if !replaced.isEmpty { settleChanges(settlement) } }

  @inline(never)
  private mutating func settleChanges(_ settlement: Settlement) {
    guard replaced.settle(settlement) else { return }
    while let last = replaced.nextToUndo() {
      if let value = last.value { values[last.key] = value } else { values.removeValue(forKey: last.key) }
    }
  }

  /// Adds a value that is remembered for speed only, and that stays when changes are undone.
  mutating func remember(_ value: Value, for key: Key) { values[key] = value }

  /// Forgets values that are remembered for speed only. No change may be waiting to be kept.
  mutating func forget(where isForgotten: (Key, Value) -> Bool) {
    precondition(replaced.isEmpty, "a table forgets between two turns")
    values = values.filter { !isForgotten($0.key, $0.value) }
  }

  mutating func forget(_ key: Key) {
    precondition(replaced.isEmpty, "a table forgets between two turns")
    values[key] = nil
  }

  mutating func removeAll() {
    precondition(replaced.isEmpty, "a table forgets between two turns")
    values.removeAll(keepingCapacity: values.count <= 1_024)
  }

  var count: Int { values.count }
  var isEmpty: Bool { values.isEmpty }
}

/// Some elements for each key, in order and each once. Changes can be undone as in a ``Table``. A change at either end of a queue costs the same
/// however long the queue is, and a change in the middle moves the elements behind it.
struct Queues<Key: Hashable & Sendable, Element: Comparable & Sendable>: Sendable, Settled {
  private var rows: [Key: Row<Element>] = [:]
  private var changes = Changes<Changed>()

  private struct Changed {
    let key: Key
    let element: Element
    let isInsertion: Bool
  }

  subscript(key: Key) -> ArraySlice<Element> { rows[key]?.elements ?? [] }

  var keys: some Collection<Key> { rows.keys }

  func first(of key: Key) -> Element? { rows[key]?.elements.first }

  /// The elements behind one place, up to and with another.
  func elements(of key: Key, after first: Element, through last: Element) -> ArraySlice<Element> {
    guard let row = rows[key] else { return [] }
    let (start, end) = (row.firstPlace { first < $0 }, row.firstPlace { last < $0 })
    return row.elements[start..<max(start, end)]
  }

  func count(of key: Key) -> Int { rows[key]?.elements.count ?? 0 }

  func contains(_ element: Element, of key: Key) -> Bool { rows[key]?.contains(element) ?? false }

  /// Adds an element. Returns whether it was new.
  @discardableResult
  mutating func insert(_ element: Element, for key: Key) -> Bool {
    guard place(element, for: key) else { return false }
    changes.append(Changed(key: key, element: element, isInsertion: true))
    return true
  }

  /// Removes an element. Returns whether it was there.
  @discardableResult
  mutating func remove(_ element: Element, for key: Key) -> Bool {
    guard take(element, for: key) else { return false }
    changes.append(Changed(key: key, element: element, isInsertion: false))
    return true
  }

  mutating func removeAll(of key: Key) {
    for element in self[key] { remove(element, for: key) }
  }

  var isSettled: Bool { changes.isEmpty }

  @inline(__always)
  mutating func settle(_ settlement: Settlement) { if !changes.isEmpty { settleChanges(settlement) } }

  @inline(never)
  private mutating func settleChanges(_ settlement: Settlement) {
    guard changes.settle(settlement) else { return }
    while let last = changes.nextToUndo() {
      _ = last.isInsertion ? take(last.element, for: last.key) : place(last.element, for: last.key)
    }
  }

  private mutating func place(_ element: Element, for key: Key) -> Bool {
    rows[key, default: Row()].insert(element)
  }

  private mutating func take(_ element: Element, for key: Key) -> Bool {
    guard let row = rows.index(forKey: key), rows.values[row].remove(element) else { return false }
    if rows.values[row].elements.isEmpty { rows.remove(at: row) }
    return true
  }
}

/// Elements in order, each once. The oldest is usually removed first, so removing the first moves no other.
private struct Row<Element: Comparable & Sendable>: Sendable {
  private var all: [Element] = []
  /// The number of elements at the beginning of `all` that were removed.
  private var gone = 0

  var elements: ArraySlice<Element> { all[gone...] }

  func contains(_ element: Element) -> Bool {
    let place = place(of: element)
    return place < all.count && all[place] == element
  }

  /// Returns whether the element was new.
  mutating func insert(_ element: Element) -> Bool {
    // A new element is usually the last.
    if gone == all.count || all[all.count - 1] < element {
      all.append(element)
      return true
    }
    let place = place(of: element)
    if all[place] == element { return false }
    if place == gone && gone > 0 {
      gone -= 1
      all[gone] = element
    } else {
      all.insert(element, at: place)
    }
    return true
  }

  /// Returns whether the element was there.
  mutating func remove(_ element: Element) -> Bool {
    let place = place(of: element)
    guard place < all.count, all[place] == element else { return false }
    if place > gone {
      all.remove(at: place)
    } else {
      gone += 1
      // The places are freed now and then: freeing each at once would move all elements.
      if gone >= 32 && gone * 2 >= all.count {
        all.removeFirst(gone)
        gone = 0
      }
    }
    return true
  }

  /// The index of the first element that is not smaller.
  private func place(of element: Element) -> Int { firstPlace { !($0 < element) } }

  /// The index of the first element that satisfies a condition which all elements behind it satisfy too.
  func firstPlace(where isBehind: (Element) -> Bool) -> Int {
    var places = gone..<all.count
    while !places.isEmpty {
      let middle = places.lowerBound + places.count / 2
      places = isBehind(all[middle]) ? places.lowerBound..<middle : (middle + 1)..<places.upperBound
    }
    return places.lowerBound
  }
}

/// Events at certain times, the earliest first. An event that was called off is found out when its time comes, so nothing has to be undone here.
struct Agenda<Item: Sendable>: Sendable {
  struct Entry: Sendable {
    let at: Int64
    fileprivate let number: Int
    let item: Item
  }

  private var heap: [Entry] = []
  private var count = 0

  /// The earliest time, in microseconds of uptime; `nil` if there is no event.
  var earliest: Int64? { heap.first?.at }

  /// The number of events, including those that were called off.
  var entries: Int { heap.count }

  /// Removes events that were called off, or are at a later time now.
  mutating func removeAll(where isCalledOff: (Item, _ time: Int64) -> Bool) {
    let rest = heap.filter { !isCalledOff($0.item, $0.at) }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    // A sorted array is a heap.
    heap = rest
  }

  mutating func add(_ item: Item, at moment: Int64) {
    count += 1
    putBack(Entry(at: moment, number: count, item: item))
  }

  /// Adds an entry that was taken out, in its place among those of the same time.
  mutating func putBack(_ entry: Entry) {
    heap.append(entry)
    var child = heap.count - 1
    while child > 0, case let parent = (child - 1) / 2, isEarlier(child, parent) {
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes out the next event whose time has come.
  mutating func next(at now: Int64) -> Entry? {
    guard let first = heap.first, first.at <= now else { return nil }
    let last = heap.removeLast()
    if heap.isEmpty { return first }
    heap[0] = last
    var parent = 0
    while true {
      var smallest = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isEarlier(child, smallest) {
        smallest = child
      }
      if smallest == parent { return first }
      heap.swapAt(parent, smallest)
      parent = smallest
    }
  }

  /// Of equal times, the event that was added first comes first.
  private func isEarlier(_ one: Int, _ other: Int) -> Bool {
    (heap[one].at, heap[one].number) < (heap[other].at, heap[other].number)
  }
}
