/// Makes the values of a binary property list.
///
/// Objects refer to each other by number, and many references may name one object. So a small document can stand for an endless one, or for a very
/// large one. The reader keeps no object: it reads each reference anew, and counts it against the limits that the same document would meet in XML. So
/// the reading is linear in those limits, and `Limits.depth` bounds the recursion.
struct BinaryPropertyListReader {
  private let file: BinaryPropertyListFile
  private var values = 0
  /// The bytes of text and data, for every reference to them.
  private var content = 0
  /// The containers that are being read, outermost first, by their numbers.
  private var open: [Int] = []

  init(_ bytes: [UInt8]) throws(Fault) { file = try BinaryPropertyListFile(bytes) }

  mutating func document() throws(Fault) -> Value { try value(file.top) }

  private mutating func value(_ number: Int) throws(Fault) -> Value {
    let object = try file.object(number)
    values += 1
    if values > Limits.values { throw tooMany(at: object) }
    switch object.kind {
    case .null: return .null
    case .bool(let bool): return .bool(bool)
    case .integer(let integer): return .integer(integer)
    case .real(let real):
      guard real.isFinite else { throw object.expected("a finite number") }
      return .double(real)
    case .date(let seconds):
      if let date = Instant(secondsSince2001: seconds) { return .date(date) }
      throw object.expected("a date of the years 0000 to 9999")
    case .data(let range):
      try weigh(range, at: object)
      return .data(Array(file.bytes[range]))
    case .ascii, .utf16: return .string(try text(object))
    case .array(let elements):
      try enter(number, object, holding: elements.count)
      let values = try array(elements)
      open.removeLast()
      return .array(values)
    case .set(let elements):
      try enter(number, object, holding: elements.count)
      let values = ValueSet(try array(elements))
      open.removeLast()
      guard values.elements.count == elements.count else { throw object.expected("each value of a set once") }
      return .set(values)
    case .dictionary(let keys, let elements):
      try enter(number, object, holding: elements.count)
      let entries = try dictionary(object, keys, elements)
      open.removeLast()
      return .dictionary(entries)
    }
  }

  private mutating func array(_ elements: BinaryPropertyListFile.References) throws(Fault) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for index in 0..<elements.count { values.append(try value(try file.number(index, of: elements))) }
    return values
  }

  private mutating func dictionary(
    _ object: BinaryPropertyListFile.Object, _ keys: BinaryPropertyListFile.References,
    _ elements: BinaryPropertyListFile.References
  ) throws(Fault) -> UserInfo {
    var entries: [UserInfo.Entry] = []
    entries.reserveCapacity(elements.count)
    for index in 0..<elements.count {
      let key = try text(try file.object(try file.number(index, of: keys)))
      entries.append(.init(key: key, value: try value(try file.number(index, of: elements))))
    }
    if let made = UserInfo(entries) { return made }
    let key = UserInfo.duplicate(in: entries) ?? .empty
    throw object.fault("expected no second key \(quoted(key.string))")
  }

  private mutating func text(_ object: BinaryPropertyListFile.Object) throws(Fault) -> Text {
    switch object.kind {
    case .ascii(let range):
      try weigh(range, at: object)
      guard file.bytes[range].allSatisfy({ $0 < 0x80 }) else { throw object.expected("ASCII") }
      return Text(String(decoding: file.bytes[range], as: UTF8.self))
    case .utf16(let range):
      try weigh(range, at: object)
      let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { offset in
        UInt16(file.bytes[offset]) << 8 | UInt16(file.bytes[offset + 1])
      }
      if let text = String(validating: units, as: UTF16.self) { return Text(text) }
      throw object.expected("UTF-16 with both halves of each surrogate pair")
    default: throw object.expected("text as a key")
    }
  }
}

// MARK: - Limits

extension BinaryPropertyListReader {
  private mutating func enter(
    _ number: Int, _ object: BinaryPropertyListFile.Object, holding elements: Int
  ) throws(Fault) {
    if open.contains(number) { throw object.expected("a container that does not hold itself") }
    if open.count == Limits.depth {
      throw object.fault("expected values to nest at most \(Limits.depth) deep", kind: .limit)
    }
    // Before memory is reserved for the elements, which are counted one by one.
    if elements > Limits.values - values { throw tooMany(at: object) }
    open.append(number)
  }

  private func tooMany(at object: BinaryPropertyListFile.Object) -> Fault {
    object.fault("expected at most \(Limits.values) values", kind: .limit)
  }

  private mutating func weigh(_ range: Range<Int>, at object: BinaryPropertyListFile.Object) throws(Fault) {
    content += range.count
    if content > Limits.manifest {
      throw object.fault("expected at most \(Limits.manifest) bytes of text and data", kind: .limit)
    }
  }
}

/// A binary property list counts seconds from the beginning of 2001, as Apple's dates do.
extension Instant {
  private static let beginningOf2001 = Instant(microseconds: 978_307_200_000_000)

  /// The nearest microsecond; `nil` outside the years of RFC 3339.
  init?(secondsSince2001 seconds: Double) {
    let whole = seconds.rounded(.down)
    // Far beyond those years, and within the range of the arithmetic below.
    guard abs(whole) < 1e12 else { return nil }
    let fraction = ((seconds - whole) * Double(Instant.microsecondsInSecond)).rounded()
    self.init(
      microseconds: Instant.beginningOf2001.microseconds + Int64(whole) * Instant.microsecondsInSecond + Int64(fraction)
    )
    if self < .earliest || self > .latest { return nil }
  }
}
