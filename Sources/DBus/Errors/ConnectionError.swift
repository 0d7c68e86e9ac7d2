internal import CDBus
internal import Glibc

/// The reason why a connection, a listener or a loop could not be made.
///
/// ```swift
/// do {
///   _ = try await Connection.open("unix:path=/nowhere")
/// } catch {
///   print(error)
/// }
/// ```
public enum ConnectionError: Error, Sendable, Hashable {
  /// There is no address of the bus.
  case noAddress(String)
  /// Nobody answers at the address, or the address is invalid.
  case unreachable(address: String, ErrorReply)
  /// The peer accepted the connection, and did not greet as a bus does.
  case rejected(CallError)
  /// The loop for the connection has been stopped.
  case loopHasEnded
  /// A system call failed; the number is `errno`.
  case system(String, Int32)
}

extension ConnectionError: CustomStringConvertible {
  /// One sentence that stands by itself.
  public var description: String {
    switch self {
    case .noAddress(let hint): hint
    case .unreachable(let address, let error): "no connection to \(address): \(error.text)"
    case .rejected(let error): "the bus did not let us in: \(error)"
    case .loopHasEnded: "the event loop has been stopped"
    case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code)))"
    }
  }
}

extension ConnectionError {
  /// Takes libdbus's error about an address, and frees it.
  init(_ address: BusAddress, _ error: inout DBusError) {
    let name = error.name.map { ErrorName(unchecked: String(cString: $0)) } ?? .failed
    let text = error.message.map { String(cString: $0) } ?? "no reason given"
    dbus_error_free(&error)
    self = .unreachable(address: address.rawValue, ErrorReply(name, text))
  }
}
