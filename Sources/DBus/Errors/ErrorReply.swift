/// An error reply to a call: a name for programs and a text for people.
///
/// A handler throws one to refuse a call. A caller finds it in ``CallError/replied(_:)``.
///
/// ```swift
/// var greeter = Interface("org.example.Greeter")
/// greeter.method("Greet", in: "name", out: "greeting") { (name: String) in
///   if name.isEmpty { throw ErrorReply("org.example.Error.NoName", "the name is empty") }
///   return "Hello, \(name)!"
/// }
/// ```
public struct ErrorReply: Error, Sendable, Hashable {
  /// The name by which programs recognise the error.
  public let name: ErrorName
  /// A sentence for people.
  public let text: String
  /// Whether the bus answered in place of the receiver, which may never have seen the call.
  public internal(set) var isFromBus = false

  /// An error with a name of its own.
  public init(_ name: ErrorName, _ text: String) {
    self.name = name
    self.text = text
  }
}

extension ErrorReply: CustomStringConvertible {
  /// The name and the text.
  public var description: String { text.isEmpty ? "\(name)" : "\(name): \(text)" }
}

/// An error type of your own that has a name on the bus.
///
/// ```swift
/// enum LibraryError: String, Error, NamedOnBus {
///   case noSuchBook
///   var errorReply: ErrorReply { ErrorReply("org.example.Error.NoSuchBook", "there is no such book") }
/// }
/// print(LibraryError.noSuchBook.errorReply)
/// ```
public protocol NamedOnBus: Error {
  /// The reply to a caller when a handler throws this error.
  var errorReply: ErrorReply { get }
}

extension ErrorReply: NamedOnBus {
  /// Itself.
  public var errorReply: ErrorReply { self }
}

extension CodingError: NamedOnBus {
  /// `InvalidArgs`, or `LimitsExceeded` if something is too large.
  public var errorReply: ErrorReply {
    switch self {
    case .arrayTooLong, .messageTooLong, .pathTooLong, .nestedTooDeep, .tooManyFileDescriptors,
      .fileDescriptorUnavailable, .tooManyValues:
      ErrorReply(.limitsExceeded, description)
    case .outOfMemory: ErrorReply(.noMemory, description)
    default: ErrorReply(.invalidArgs, description)
    }
  }
}

extension InvalidName: NamedOnBus {
  /// `InvalidArgs`
  public var errorReply: ErrorReply { ErrorReply(.invalidArgs, description) }
}

extension ErrorReply {
  /// The reply to a caller when a handler throws `error`.
  init(answering error: any Error) {
    switch error {
    case let error as any NamedOnBus: self = error.errorReply
    case is CancellationError: self.init(.failed, "the call was cancelled")
    default: self.init(.failed, "\(error)")
    }
  }
}
