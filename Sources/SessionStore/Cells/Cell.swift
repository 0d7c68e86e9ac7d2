import SceneModel

/// A stored value, in a column or in the body of a log entry.
enum Cell {
  case null
  case integer(Int64)
  case text(Text)
  /// `nil` for bytes that are no identifier.
  case identifier(UniqueIdentifier?)
}

/// Stored values that differ from what was written.
struct Malformed: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Takes the values of a thing one after another: as the parameters of a statement, or into the body of a log entry. Each thing defines its values
/// once, so the log and the rows cannot differ.
protocol CellWriter: ~Copyable {
  mutating func putNull()
  mutating func put(_ integer: Int64)
  mutating func put(_ text: Text)
  mutating func put(_ identifier: UniqueIdentifier)
}

extension CellWriter where Self: ~Copyable {
  mutating func put(_ bool: Bool) { put(bool ? 1 : 0 as Int64) }
  mutating func put(_ instant: Instant) { put(instant.microseconds) }

  mutating func put(_ text: Text?) {
    if let text { put(text) } else { putNull() }
  }

  mutating func put(_ integer: Int64?) {
    if let integer { put(integer) } else { putNull() }
  }

  mutating func put(_ identifier: UniqueIdentifier?) {
    if let identifier { put(identifier) } else { putNull() }
  }

  mutating func put(_ activity: UserActivity?) { put(activity?.json) }
}

/// Returns the values in the order in which they were put.
protocol CellReader: ~Copyable {
  mutating func cell() throws(Malformed) -> Cell
  /// There are no more values.
  var isAtEnd: Bool { get }
}

extension CellReader where Self: ~Copyable {
  mutating func optionalInteger() throws(Malformed) -> Int64? {
    switch try cell() {
    case .null: return nil
    case .integer(let integer): return integer
    default: throw Malformed("expected an integer")
    }
  }

  mutating func integer() throws(Malformed) -> Int64 {
    guard let integer = try optionalInteger() else { throw Malformed("expected an integer") }
    return integer
  }

  /// A number that is counted up or added to others: no damage of the file makes such a sum too large.
  mutating func count(atMost limit: Int64 = 1 << 32) throws(Malformed) -> Int64 {
    let count = try integer()
    guard count >= 0, count <= limit else { throw Malformed("expected a number from 0 to \(limit), got \(count)") }
    return count
  }

  mutating func bool() throws(Malformed) -> Bool { try integer() != 0 }

  mutating func instant() throws(Malformed) -> Instant {
    guard let instant = try optionalInstant() else { throw Malformed("expected a time") }
    return instant
  }

  /// In the years that a document can name.
  mutating func optionalInstant() throws(Malformed) -> Instant? {
    guard let instant = try optionalInteger().map({ Instant(microseconds: $0) }) else { return nil }
    guard instant >= .earliest, instant <= .latest else {
      throw Malformed("expected a time in the years 0 to 9999, got \(instant.microseconds) microseconds")
    }
    return instant
  }

  mutating func optionalText() throws(Malformed) -> Text? {
    switch try cell() {
    case .null: return nil
    case .text(let text): return text
    default: throw Malformed("expected a text")
    }
  }

  mutating func text() throws(Malformed) -> Text {
    guard let text = try optionalText() else { throw Malformed("expected a text") }
    return text
  }

  mutating func optionalIdentifier() throws(Malformed) -> UniqueIdentifier? {
    switch try cell() {
    case .null: return nil
    case .identifier(let identifier?): return identifier
    default: throw Malformed("expected an identifier")
    }
  }

  mutating func identifier() throws(Malformed) -> UniqueIdentifier {
    guard let identifier = try optionalIdentifier() else { throw Malformed("expected an identifier") }
    return identifier
  }

  mutating func optionalActivity(_ rules: ReadingRules) throws(Malformed) -> UserActivity? {
    guard let text = try optionalText() else { return nil }
    do throws(Fault) {
      return try UserActivity(json: text, rules.ofStored)
    } catch {
      throw Malformed("an activity does not parse: \(error)")
    }
  }
}

extension UniqueIdentifier {
  /// The sixteen bytes of the identifier, in an order that sorts like identifiers.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian), body)
  }

  init?(stored bytes: UnsafeRawBufferPointer) {
    if bytes.count != 16 { return nil }
    let (high, low) = bytes.loadUnaligned(as: (UInt64, UInt64).self)
    self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }
}
