import DBus
import Testing

/// The error of making a message. A message cannot be copied, so `#expect(throws:)` does not accept it.
func codingError(_ make: () throws(CodingError) -> Message) -> CodingError? {
  do {
    _ = try make()
    return nil
  } catch {
    return error
  }
}

/// The error of making a signal with this value.
func codingError<Value: BusValue>(of value: Value) -> CodingError? {
  codingError { () throws(CodingError) in try signal(value) }
}

/// A signal that only carries its value.
func signal<Value: BusValue>(_ value: Value) throws(CodingError) -> Message {
  try Message.signal(from: "/a", "a.b", "C", value)
}

extension CodingError {
  var isInvalidSignature: Bool {
    if case .invalidSignature = self { true } else { false }
  }
}

extension Array where Element: Equatable {
  func firstRange(ofElements other: [Element]) -> Range<Int>? {
    if count < other.count { return nil }
    for start in 0...(count - other.count) where self[start..<(start + other.count)] == other[...] {
      return start..<(start + other.count)
    }
    return nil
  }
}
