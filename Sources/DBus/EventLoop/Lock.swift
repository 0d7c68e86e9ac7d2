internal import Glibc

/// A value behind a pthread mutex. `Synchronization.Mutex` would do, but on this toolchain ThreadSanitizer does not see it and reports false races.
// Every access to the value holds the mutex.
package final class Lock<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  // The mutex makes the access exclusive. The value never has the size zero: such a variable would stand at the beginning of the object, and
  // ThreadSanitizer would take its changes for changes of the object's header, which is read without the mutex.
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

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&content.value)
  }
}

/// A value that is made when it is first asked for.
package final class Later<Value: Sendable>: Sendable {
  private let made = Lock<Value?>(nil)
  private let make: @Sendable () -> Value

  package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

  package var value: Value {
    made.withLock { made in
      let value = made ?? make()
      made = value
      return value
    }
  }
}
