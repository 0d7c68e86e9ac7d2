/// A value of a JSON document. It points into the text and must not outlive it; `JSON.read` provides it.
struct JSONNode: DocumentNode {
  fileprivate let bytes: UnsafeRawBufferPointer
  fileprivate let nodes: UnsafeBufferPointer<JSONTape.Node>
  fileprivate let index: Int

  private var node: JSONTape.Node { nodes[index] }
  private var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[node.range]) }

  var isNull: Bool { node.kind == .null }

  var text: Text? { node.kind == .text ? Text(JSONText.decoded(node, bytes)) : nil }

  var bool: Bool? {
    switch node.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  var integer: Int64? { node.kind == .integer ? JSONNumber.integer(raw) : nil }

  var double: Double? {
    node.kind == .integer || node.kind == .double ? JSONNumber.double(raw) : nil
  }

  var elements: Elements? {
    node.kind == .array ? Elements(remaining: child(index + 1), end: Int(node.next)) : nil
  }

  var fields: Fields? {
    node.kind == .object ? Fields(remaining: child(index + 1), end: Int(node.next)) : nil
  }

  fileprivate func child(_ index: Int) -> JSONNode { JSONNode(bytes: bytes, nodes: nodes, index: index) }

  struct Elements: Sequence, IteratorProtocol {
    fileprivate var remaining: JSONNode
    fileprivate let end: Int

    /// The exact count: one step skips everything inside an element.
    var underestimatedCount: Int {
      var (place, count) = (remaining.index, 0)
      while place < end {
        place = Int(remaining.nodes[place].next)
        count += 1
      }
      return count
    }

    mutating func next() -> JSONNode? {
      guard remaining.index < end else { return nil }
      let element = remaining
      remaining = element.child(Int(element.node.next))
      return element
    }
  }

  struct Fields: Sequence, IteratorProtocol {
    fileprivate var remaining: JSONNode
    fileprivate let end: Int

    mutating func next() -> (key: Key, node: JSONNode)? {
      guard remaining.index < end else { return nil }
      let value = remaining.child(remaining.index + 1)
      defer { remaining = value.child(Int(value.node.next)) }
      return (Key(node: remaining), value)
    }
  }

  struct Key: DocumentKey {
    fileprivate let node: JSONNode

    var text: Text { Text(JSONText.decoded(node.node, node.bytes)) }

    // Inlined, because a reader compares a key with a dozen others, and almost all comparisons are of two numbers that differ.
    @inline(__always)
    func isEqual(to known: StaticString) -> Bool {
      let key = node.node
      if key.hasEscapes { return text == Text("\(known)") }
      return Int(key.end &- key.start) == known.utf8CodeUnitCount
        && Text.areEqual(node.raw, UnsafeRawBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount))
    }
  }
}

// MARK: - Reading

package enum JSON {
  /// Parses a document and reads it.
  static func read<Result>(
    _ text: Text, atMost limit: Int, values: Int = Limits.values, _ read: (JSONNode) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    let tape = try JSONTape(text, limit: limit, values: values)
    // A closure that throws does not pass through here, so the result is passed.
    let outcome = text.withBytes { bytes in
      tape.nodes.withUnsafeBufferPointer { nodes -> Swift.Result<Result, Fault> in
        do throws(Fault) {
          return .success(try read(JSONNode(bytes: bytes, nodes: nodes, index: 0)))
        } catch {
          return .failure(error)
        }
      }
    }
    return try outcome.get()
  }

  package static func value(
    _ text: Text, atMost limit: Int = Limits.payload, values: Int = Limits.values
  ) throws(Fault) -> Value {
    try read(text, atMost: limit, values: values) { node throws(Fault) in try node.value() }
  }

  /// A dictionary of values, with their tags.
  package static func dictionary(_ text: Text) throws(Fault) -> UserInfo {
    try read(text, atMost: Limits.payload) { node throws(Fault) in try node.dictionary() }
  }

  package static func text(of value: Value) -> Text {
    let writer = JSONWriter()
    writer.write(value)
    return writer.text
  }
}

// MARK: - Values

extension JSONNode {
  func value() throws(Fault) -> Value { try value(isTagged: true) }

  /// The value, with or without replacing tags.
  private func value(isTagged: Bool) throws(Fault) -> Value {
    switch node.kind {
    case .null: return .null
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .integer:
      guard let integer else { throw fault("an integer from -2^63 to 2^63 - 1, or a number with a point") }
      return .integer(integer)
    case .double:
      guard let double else { throw fault("a number that a double can hold") }
      return .double(double)
    case .text: return .string(Text(JSONText.decoded(node, bytes)))
    case .array:
      let elements = Elements(remaining: child(index + 1), end: Int(node.next))
      var values: [Value] = []
      values.reserveCapacity(elements.underestimatedCount)
      for element in elements {
        values.append(try element.value(isTagged: isTagged))
      }
      return .array(values)
    case .object:
      let isTag = isTagged && hasOnlyTag
      let dictionary = Value.dictionary(try dictionary(isTagged: isTagged && !isTag))
      return isTag ? try meaning(of: dictionary) : dictionary
    }
  }

  /// Finding a place costs a walk through the document, so the place is found only for a fault.
  private func meaning(of tag: Value) throws(Fault) -> Value {
    do throws(Fault) {
      return try Value(tagged: tag)
    } catch {
      return try Value(tagged: tag, at: place)
    }
  }

  private func dictionary(isTagged: Bool) throws(Fault) -> UserInfo {
    let fields = Elements(remaining: child(index + 1), end: Int(node.next))
    var entries: [UserInfo.Entry] = []
    // Keys and values alternate.
    entries.reserveCapacity(fields.underestimatedCount / 2)
    for (key, node) in Fields(remaining: fields.remaining, end: fields.end) {
      entries.append(UserInfo.Entry(key: key.text, value: try node.value(isTagged: isTagged)))
    }
    // The scanner has checked that each key occurs once.
    guard let dictionary = UserInfo(entries) else { throw fault("each key once") }
    return dictionary
  }

  /// Whether the only key begins with `$`.
  private var hasOnlyTag: Bool {
    node.next > index + 2 && nodes[index + 2].next == node.next && Key(node: child(index + 1)).text.hasPrefix("$")
  }
}

// MARK: - Places

extension JSONNode {
  /// The path from the root to this node. The walk skips the nodes before it.
  var place: Place {
    var place = Place.document
    var current = child(0)
    while current.index < index {
      guard let step = current.step(towards: index) else { break }
      place = step.place(place)
      current = step.child
    }
    return place
  }

  private func step(towards target: Int) -> (child: JSONNode, place: (Place) -> Place)? {
    if let fields {
      for (key, node) in fields where key.node.index <= target && target < node.node.next {
        return (key.node.index == target ? key.node : node, { $0.key(key.text) })
      }
    } else if let elements {
      for (offset, element) in elements.enumerated() where element.index <= target && target < element.node.next {
        return (element, { $0.index(offset) })
      }
    }
    return nil
  }

  var shown: String {
    switch node.kind {
    case .null: return "null"
    case .true: return "true"
    case .false: return "false"
    case .integer, .double:
      let digits = String(decoding: raw.prefix(maximumShown), as: UTF8.self)
      return raw.count > maximumShown ? digits + "…" : digits
    case .text:
      // A message shows the beginning of a long text, and a scalar or an escape has at most twelve bytes.
      var beginning = node
      guard raw.count > 12 * maximumShown, !node.hasEscapes else { return quoted(JSONText.decoded(node, bytes)) }
      beginning.end = beginning.start + UInt32(4 * (maximumShown + 1))
      return quoted(JSONText.decoded(beginning, bytes))
    case .array: return "a list"
    case .object: return "a dictionary"
    }
  }
}

/// Numbers in the form of JSON, which the scanner has checked.
enum JSONNumber {
  static func integer(_ raw: UnsafeRawBufferPointer) -> Int64? {
    let isNegative = raw.first == UInt8(ascii: "-")
    var value: Int64 = 0
    for byte in raw.dropFirst(isNegative ? 1 : 0) {
      let digit = Int64(byte &- UInt8(ascii: "0"))
      let (tens, overflowed) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflowedToo) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      if overflowed || overflowedToo { return nil }
      value = sum
    }
    return value
  }

  static func double(_ raw: UnsafeRawBufferPointer) -> Double? {
    guard let double = Double(String(decoding: raw, as: UTF8.self)), double.isFinite else { return nil }
    return double
  }
}
