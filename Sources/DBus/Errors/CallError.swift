/// The reason why a call failed.
///
/// ```swift
/// let connection = try await Connection.session()
/// do {
///   let mood: String = try await connection.call(to: "org.example.Greeter", at: "/org/example", "org.example.Greeter", "Mood")
///   print(mood)
/// } catch .replied(let error) where error.name == .serviceUnknown {
///   print("the greeter is not at home")
/// } catch {
///   print(error)
/// }
/// ```
public enum CallError: Error, Sendable, Hashable {
  /// The peer, or the bus, answered with an error.
  case replied(ErrorReply)
  /// No reply came before the deadline. The call may have been carried out.
  case timedOut
  /// The connection ended before the reply came, or had ended already.
  case disconnected
  /// The task that waited was cancelled.
  case cancelled
  /// The arguments do not fit into a message. Nothing was sent.
  case invalidArguments(CodingError)
  /// A reply came, and its values do not have the expected types.
  case unexpectedReply(CodingError)
}

extension CallError: NamedOnBus {
  /// The error in D-Bus's names, for passing it on.
  public var errorReply: ErrorReply {
    switch self {
    case .replied(let error): error
    case .timedOut: ErrorReply(.noReply, "no reply came in time")
    case .disconnected: ErrorReply(.disconnected, "the connection is gone")
    case .cancelled: ErrorReply(.failed, "the call was cancelled")
    case .invalidArguments(let error): error.errorReply
    case .unexpectedReply(let error): ErrorReply(.inconsistentMessage, "the reply does not fit: \(error)")
    }
  }
}

extension CallError: CustomStringConvertible {
  /// One sentence that stands by itself.
  public var description: String { errorReply.description }
}
