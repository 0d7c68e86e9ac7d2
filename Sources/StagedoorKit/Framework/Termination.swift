internal import DBus
@preconcurrency internal import Glibc
internal import Synchronization

/// The signals that ask a process to end, for an application that stops in an orderly way first.
///
/// The library takes only signals that the program does not handle itself, and each only once: a second one ends the process at once.
struct Termination {
  private static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// The number of the signal that came; 0 before one has come.
  private static let came = Atomic<Int32>(0)
  /// How many applications have to stop before the process ends.
  private static let running = Atomic<Int>(0)
  /// Readable once a signal has come, and from then on.
  private static let pipe = try? OwnedFileDescriptor.pipe()
  private static let writeEnd = pipe?.writeEnd.withRawValue { $0 } ?? -1

  /// Each application has a duplicate, because a loop waits for a descriptor only once and may have several applications.
  private let readEnd = try? pipe?.readEnd.withRawValue { try OwnedFileDescriptor(duplicating: $0) }

  /// From now on the signals wait for the application.
  init() {
    // The signal handler must not be the first to initialise these.
    _ = (Self.writeEnd, Self.came.load(ordering: .relaxed))
    Self.running.add(1, ordering: .sequentiallyConsistent)
    for signal in Self.signals { Self.take(signal) }
  }

  private static func take(_ signal: Int32) {
    var present = sigaction()
    guard sigaction(signal, nil, &present) == 0, present.sa_flags & SA_SIGINFO == 0,
      present.__sigaction_handler.sa_handler == nil
    else { return }
    var action = sigaction()
    action.sa_flags = SA_RESTART | Int32(bitPattern: UInt32(SA_RESETHAND))
    action.__sigaction_handler.sa_handler = { number in
      // All of this is safe in a signal handler. If no application runs, or another signal came before, the signal has its usual effect.
      if Termination.running.load(ordering: .sequentiallyConsistent) == 0
        || Termination.came.load(ordering: .sequentiallyConsistent) != 0
      {
        raise(number)
        return
      }
      let error = errno
      Termination.came.store(number, ordering: .sequentiallyConsistent)
      var byte: UInt8 = 0
      write(Termination.writeEnd, &byte, 1)
      errno = error
    }
    sigaction(signal, &action, nil)
  }

  /// Waits for a signal; `nil` if the task is cancelled first. The application has then stopped running.
  func signal(on loop: EventLoop) async -> Int32? {
    if let readEnd { await loop.readable(readEnd.withRawValue { $0 }) }
    let signal = Self.came.load(ordering: .sequentiallyConsistent)
    if !Task.isCancelled, signal != 0 { return signal }
    Self.running.subtract(1, ordering: .sequentiallyConsistent)
    return nil
  }

  /// Ends the process as the signal would, after the last application that the signal stopped.
  func end(with signal: Int32) {
    if Self.running.subtract(1, ordering: .sequentiallyConsistent).newValue > 0 { return }
    fflush(nil)
    kill(getpid(), signal)
    // If this thread does not take the signal, another thread does in a moment.
    _exit(128 + signal)
  }
}
