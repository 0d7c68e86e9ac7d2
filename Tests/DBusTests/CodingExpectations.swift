import DBus
import Testing

/// The error of making a message, or anything else. A message cannot be copied, so `#expect(throws:)` does not accept it.
func codingError<Made: ~Copyable>(_ make: () throws -> Made) -> CodingError? {
  do {
    _ = try make()
    return nil
  } catch let error as CodingError {
    return error
  } catch {
    Issue.record("not an error of coding: \(error)")
    return nil
  }
}

/// The error of making a signal with this value.
func codingError<Value: BusValue>(of value: Value) -> CodingError? {
  codingError { try signal(value) }
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
