/// A value that does not fit into a message, or a message without the expected value.
///
/// libdbus would end the process for such a value. Here it is an error that can be shown to people.
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
  /// The elements of an array have this many bytes together, beyond ``MessageWriter/maximumArrayLength``.
  case arrayTooLong(Int)
  /// The values take more bytes together than ``MessageWriter/maximumBodyLength``.
  case messageTooLong
  /// An object path has this many bytes, beyond ``MessageWriter/maximumPathLength``.
  case pathTooLong(Int)
  /// The values together have a signature that no message may have.
  case invalidSignature(InvalidName)
  /// Containers are nested deeper than ``MessageWriter/maximumDepth``.
  case nestedTooDeep
  /// There are more file descriptors than ``MessageWriter/maximumFileDescriptors``, or the connection carries none. Or: a received message names
  /// descriptors more often than a reader takes them.
  case tooManyFileDescriptors
  /// The message names a file descriptor that did not come with it.
  case missingFileDescriptor
  /// A file descriptor could not be duplicated; the number is `errno`.
  case fileDescriptorUnavailable(Int32)
  /// The path or interface is reserved for libdbus itself; a bus hangs up on a sender that uses it.
  case reserved(String)
  /// The value has the right type, but the Swift type has no such value.
  case invalidValue(String)
  /// The message has more values than its reader takes.
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
