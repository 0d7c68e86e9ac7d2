internal import Glibc

/// Threads for blocking calls: Swift has as many threads as there are processors, and these must not block.
package enum OwnThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread, and does not wait for it.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) {
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
      }, context)
    guard code == 0 else {
      Unmanaged<Body>.fromOpaque(context).release()
      throw SystemCallError("pthread_create", code)
    }
    pthread_detach(thread)
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
