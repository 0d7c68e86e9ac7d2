internal import CDBus
internal import Glibc

/// The loop that the calling thread runs, if any.
enum CurrentLoop {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no thread-specific key is left")
    return key
  }()

  static var pointer: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    set { pthread_setspecific(key, newValue) }
  }
}

/// Threads beside Swift's own, which are as many as there are processors, and must not block.
package enum BlockingThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread, and does not wait for it. Returns the number of the error, or 0.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
    let context = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context.toOpaque())
    if code == 0 { pthread_detach(thread) } else { context.release() }
    return code
  }
}
