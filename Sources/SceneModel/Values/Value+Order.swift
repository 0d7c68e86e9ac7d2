/// An order of values, so that a set is always written in the same way.
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
    case (.array(let one), .array(let other)): Value.compare(one, other)
    case (.set(let one), .set(let other)): Value.compare(one.inOrder, other.inOrder)
    case (.dictionary(let one), .dictionary(let other)): Value.compare(one.entries, other.entries)
    default: order(rank, other.rank)
    }
  }

  private static func compare(_ one: [Value], _ other: [Value]) -> Int {
    for (one, other) in zip(one, other) {
      let order = one.compared(with: other)
      if order != 0 { return order }
    }
    return one.count - other.count
  }

  private static func compare(_ one: [UserInfo.Entry], _ other: [UserInfo.Entry]) -> Int {
    for (one, other) in zip(one, other) {
      let order = one.key == other.key ? one.value.compared(with: other.value) : one.key < other.key ? -1 : 1
      if order != 0 { return order }
    }
    return one.count - other.count
  }
}

private func order<Compared: Comparable>(_ one: Compared, _ other: Compared) -> Int {
  one < other ? -1 : other < one ? 1 : 0
}

extension Sequence<Value> {
  var inOrder: [Value] { sorted { $0.precedes($1) } }
}
