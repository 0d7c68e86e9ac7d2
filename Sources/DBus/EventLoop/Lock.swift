internal import Glibc

/// A value behind a pthread mutex. `Synchronization.Mutex` would do, but ThreadSanitizer does not see it on
/// this toolchain and reports races that are none.
// The value is only reached with the mutex held.
package final class Lock<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // The mutex is the check. Never without a size: a variable that has none is said to be where the object begins, and
  // ThreadSanitizer takes what is done to it for a change of the object's header, which is read without the mutex.
  @exclusivity(unchecked) private var content: (value: Value, filler: UInt8)

  package init(_ value: sending Value) {
    content = (value, 0)
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&content.value)
  }
}
