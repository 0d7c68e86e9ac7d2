/// A dictionary of values, with each key once.
///
/// Its entries are in the order of their keys' bytes. So it is always written in the same way, a comparison is one walk along both, and no peer can
/// choose keys that collide.
package struct UserInfo: Hashable, Sendable {
  package private(set) var entries: [Entry] = []

  package struct Entry: Hashable, Sendable {
    package let key: Text
    package var value: Value

    package init(key: Text, value: Value) {
      self.key = key
      self.value = value
    }
  }

  package init() {}

  /// `nil` if a key occurs twice; `duplicate(in:)` returns that key.
  package init?(_ entries: [Entry]) {
    if UserInfo.areInOrder(entries) {
      self.entries = entries
    } else {
      let sorted = UserInfo.sorted(entries)
      if UserInfo.adjacentDuplicate(in: sorted) != nil { return nil }
      self.entries = sorted
    }
  }

  /// The pairs of a literal, in which a repeated key is a mistake of the program.
  init(distinct pairs: [(Text, Value)]) {
    guard let made = UserInfo(pairs.map(Entry.init)) else { preconditionFailure("a key stands twice in a dictionary") }
    self = made
  }

  package static func duplicate(in entries: [Entry]) -> Text? { adjacentDuplicate(in: sorted(entries)) }

  package var count: Int { entries.count }
  package var isEmpty: Bool { entries.isEmpty }

  package subscript(key: Text) -> Value? {
    get {
      let index = lowerBound(of: key)
      // In one expression `nil` would mean the value null.
      guard index < entries.count, entries[index].key == key else { return .none }
      return entries[index].value
    }
    set {
      let index = lowerBound(of: key)
      let isThere = index < entries.count && entries[index].key == key
      switch (newValue, isThere) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): entries.insert(Entry(key: key, value: value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  package func mapValues<Failure>(_ transform: (Entry) throws(Failure) -> Value) throws(Failure) -> UserInfo {
    var mapped = self
    for (index, entry) in entries.enumerated() { mapped.entries[index].value = try transform(entry) }
    return mapped
  }

  private func lowerBound(of key: Text) -> Int {
    // Entries usually come in order.
    guard let last = entries.last, !(last.key < key) else { return entries.count }
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func areInOrder(_ entries: [Entry]) -> Bool {
    entries.indices.dropFirst().allSatisfy { entries[$0 - 1].key < entries[$0].key }
  }

  private static func sorted(_ entries: [Entry]) -> [Entry] {
    entries.count < 2 ? entries : entries.sorted { $0.key < $1.key }
  }

  private static func adjacentDuplicate(in sorted: [Entry]) -> Text? {
    sorted.indices.dropFirst().first { sorted[$0 - 1].key == sorted[$0].key }.map { sorted[$0].key }
  }
}

extension UserInfo: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (Text, Value)...) { self.init(distinct: elements) }
}
