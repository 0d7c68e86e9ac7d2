/// A value that does not fit into a message, or a message that does not hold the value that was asked for.
///
/// libdbus ends the process where it is handed such a value; here it is an error that can be shown to people.
///
/// ```swift
/// do {
///   _ = try Message.signal(from: "/org/example", "org.example.Log", "Said", "one\u{0}two")
/// } catch .containsNUL {
///   print("a string on the bus ends at its first NUL")
/// }
/// ```
public enum CodingError: Error, Sendable, Hashable {
  /// The message holds a value of another type at this place.
  case typeMismatch(expected: Signature, found: Signature)
  /// The message, or the container, ends where another value was expected.
  case endOfValues(expected: Signature)
  /// A string has an embedded NUL, which D-Bus cannot carry.
  case containsNUL
  /// An array's elements have this many bytes together, beyond ``MessageWriter/maximumArrayLength``.
  case arrayTooLong(Int)
  /// The values take more than ``MessageWriter/maximumBodyLength`` together.
  case messageTooLong
  /// An object path has this many bytes, beyond ``MessageWriter/maximumPathLength``.
  case pathTooLong(Int)
  /// The signature of all that was written is not one that a message may have.
  case invalidSignature(InvalidName)
  /// Containers nest deeper than ``MessageWriter/maximumDepth``.
  case nestedTooDeep
  /// More file descriptors than ``MessageWriter/maximumFileDescriptors``, or a connection that carries none; or a message that came names
  /// descriptors more often than a reader takes them.
  case tooManyFileDescriptors
  /// The message names a file descriptor that did not come with it.
  case missingFileDescriptor
  /// A file descriptor could not be duplicated; the number is `errno`.
  case fileDescriptorUnavailable(Int32)
  /// The path or interface is reserved for libdbus itself; a bus hangs up on whoever sends it.
  case reserved(String)
  /// The value is of the right type, but not one that the Swift type has.
  case invalidValue(String)
  /// The message holds more values than its reader takes.
  case tooManyValues(limit: Int)
  /// There was not enough memory.
  case outOfMemory
}

extension CodingError: CustomStringConvertible {
  /// One sentence that stands by itself.
  public var description: String {
    switch self {
    case .typeMismatch(let expected, let found):
      "expected a value of type \"\(expected)\", found \"\(found)\""
    case .endOfValues(let expected):
      expected == .empty
        ? "the values end where one more was expected"
        : "the values end where one of type \"\(expected)\" was expected"
    case .containsNUL: "a string has an embedded NUL, which D-Bus cannot carry"
    case .arrayTooLong(let length):
      "an array has \(length) bytes, and \(MessageWriter.maximumArrayLength) is the limit"
    case .messageTooLong: "the values take more than \(MessageWriter.maximumBodyLength) bytes together"
    case .pathTooLong(let length):
      "an object path has \(length) bytes, and \(MessageWriter.maximumPathLength) is the limit"
    case .invalidSignature(let fault): "the values do not fit into one message: \(fault)"
    case .nestedTooDeep: "containers nest deeper than \(MessageWriter.maximumDepth)"
    case .tooManyFileDescriptors:
      "more file descriptors than a message may have: \(MessageWriter.maximumFileDescriptors) that is sent, "
        + "\(MessageReader.maximumFileDescriptors) that came, none where the connection carries none"
    case .missingFileDescriptor: "the message names a file descriptor that did not come with it"
    case .fileDescriptorUnavailable(let code): "a file descriptor could not be duplicated (errno \(code))"
    case .reserved(let name): "\"\(name)\" is reserved for libdbus itself"
    case .invalidValue(let reason): reason
    case .tooManyValues(let limit): "the arguments hold more than \(limit) values"
    case .outOfMemory: "there was not enough memory"
    }
  }
}
