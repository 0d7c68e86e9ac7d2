internal import DBus
internal import Glibc

/// Threads for blocking calls: Swift has as many threads as there are processors, and these must not block.
package enum OwnThread {
  /// Runs `body` on a new thread, and does not wait for it.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    let code = BlockingThread.start(body)
    if code != 0 { throw SystemCallError("pthread_create", code) }
  }
}

/// A call to the system that failed.
///
/// ```swift
/// do {
///   _ = try await Command("true").run()
/// } catch let error as SystemCallError {
///   print(error)  // posix_spawn: Cannot allocate memory
/// }
/// ```
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name of the call, and its arguments if they matter.
  public let call: String
  /// Its `errno`.
  public let code: Int32

  init(_ call: String, _ code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  /// The call and the system's words for the error.
  public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
