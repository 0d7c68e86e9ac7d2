/// A value in the `userInfo` of a user activity.
///
/// Each value reads back from JSON and from a property list as it was written: an integer stays an integer, a double a double, a set a set. Two
/// values are equal if they are exactly the same; texts are compared by their bytes.
package enum Value: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Finite: JSON cannot write other numbers, and no reader produces them.
  case double(Double)
  case string(Text)
  case data([UInt8])
  case date(Instant)
  /// In its original spelling. `UniqueIdentifier` reads it.
  case uuid(Text)
  /// In its original spelling. `URLText` checks it.
  case url(Text)
  case array([Value])
  case set(ValueSet)
  case dictionary(UserInfo)
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .string(Text(value)) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: Value...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (Text, Value)...) { self = .dictionary(UserInfo(distinct: elements)) }
  package init(nilLiteral: ()) { self = .null }
}

// MARK: - Reading a document piece by piece

extension Value {
  /// The value of a key; `nil` for any other value than a dictionary.
  package subscript(key: Text) -> Value? { if case .dictionary(let fields) = self { fields[key] } else { .none } }

  package var string: String? { if case .string(let text) = self { text.string } else { nil } }
  package var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  package var number: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The elements of an array; none for any other value.
  package var elements: [Value] { if case .array(let elements) = self { elements } else { [] } }
}

extension Value {
  /// The kind for people, with an article.
  var kind: String { ranked.kind }

  private var ranked: (rank: Int, kind: String) {
    switch self {
    case .null: (0, "null")
    case .bool: (1, "true or false")
    case .integer: (2, "an integer")
    case .double: (3, "a number")
    case .string: (4, "text")
    case .data: (5, "data")
    case .date: (6, "a date")
    case .uuid: (7, "a UUID")
    case .url: (8, "a URL")
    case .array: (9, "an array")
    case .set: (10, "a set")
    case .dictionary: (11, "a dictionary")
    }
  }
}

extension Value {
  /// Whether the value comes before another: by kind, then by content.
  func precedes(_ other: Value) -> Bool { compared(with: other) < 0 }

  /// Negative if this value comes first, zero if neither does.
  private func compared(with other: Value) -> Int {
    switch (self, other) {
    case (.bool(let one), .bool(let other)): order(one ? 1 : 0, other ? 1 : 0)
    case (.integer(let one), .integer(let other)): order(one, other)
    case (.double(let one), .double(let other)): order(one, other)
    case (.string(let one), .string(let other)): order(one, other)
    case (.data(let one), .data(let other)):
      one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    case (.date(let one), .date(let other)): order(one, other)
    case (.uuid(let one), .uuid(let other)), (.url(let one), .url(let other)): order(one, other)
    case (.array(let one), .array(let other)): Value.compare(one, other) { $0.compared(with: $1) }
    case (.set(let one), .set(let other)): Value.compare(one.elements, other.elements) { $0.compared(with: $1) }
    case (.dictionary(let one), .dictionary(let other)):
      Value.compare(one.entries, other.entries) { one, other in
        one.key == other.key ? one.value.compared(with: other.value) : one.key < other.key ? -1 : 1
      }
    default: order(ranked.rank, other.ranked.rank)
    }
  }

  private static func compare<Element>(
    _ one: [Element], _ other: [Element], by compare: (Element, Element) -> Int
  ) -> Int {
    for (one, other) in zip(one, other) {
      let order = compare(one, other)
      if order != 0 { return order }
    }
    return one.count - other.count
  }
}

private func order<Compared: Comparable>(_ one: Compared, _ other: Compared) -> Int {
  one < other ? -1 : other < one ? 1 : 0
}

/// Values in their order, each once: a set is always written in the same way, and is sorted only when it is made.
package struct ValueSet: Hashable, Sendable, ExpressibleByArrayLiteral {
  package let elements: [Value]

  /// Of equal values one is kept.
  package init(_ values: some Sequence<Value>) {
    var elements = values.sorted { $0.precedes($1) }
    var kept = 0
    for index in elements.indices where index == 0 || elements[kept - 1].precedes(elements[index]) {
      elements.swapAt(kept, index)
      kept += 1
    }
    elements.removeSubrange(kept...)
    self.elements = elements
  }

  package init(arrayLiteral elements: Value...) { self.init(elements) }
}
